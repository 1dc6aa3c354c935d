#include "app/operator_wiring.h"

#include <random>

#include "adapters/os/files.h"
#include "base/log.h"

namespace kro {
namespace {

double random01() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  return text;
}

// Read anew for every session, so that rotated Secrets take effect.
class CredentialConnector final : public ZkConnector {
 public:
  CredentialConnector(ZkConnector& inner, std::optional<ZooKeeperAuthConfig> auth)
      : inner_(inner), auth_(std::move(auth)) {}
  Result<std::unique_ptr<ZkSession>> open(const ZkConfig& config, ZkEventSink sink) override {
    ZkConfig with = config;
    if (auth_) {
      const auto user = read_file(auth_->username_file);
      if (!user) return tl::unexpected(user.error());
      const auto password = read_file(auth_->password_file);
      if (!password) return tl::unexpected(password.error());
      with.auth = ZkAuth{auth_->scheme, trimmed(*user) + ":" + trimmed(*password)};
    }
    return inner_.open(with, std::move(sink));
  }

 private:
  ZkConnector& inner_;
  std::optional<ZooKeeperAuthConfig> auth_;
};

decide::Policy policy_of(const OperatorConfig& config, const ClusterConfig* cluster) {
  decide::Policy out;
  out.operator_id = config.operator_id;
  out.cluster_known = cluster != nullptr;
  if (cluster == nullptr) return out;
  out.allowed_namespaces = cluster->allowed_namespaces;
  out.allowed_topics = cluster->allowed_topics;
  return out;
}

// The same but for what is allowed.
bool same_shape(const OperatorConfig& a, const OperatorConfig& b) {
  if (a.operator_id != b.operator_id || a.watch_namespaces != b.watch_namespaces ||
      a.clusters.size() != b.clusters.size())
    return false;
  for (std::size_t i = 0; i < a.clusters.size(); ++i)
    if (a.clusters[i].name != b.clusters[i].name || !(a.clusters[i].zookeeper == b.clusters[i].zookeeper)) return false;
  return true;
}

}  // namespace

OperatorEngine::OperatorEngine(const OperatorConfig& config, OperatorParts parts)
    : config_(config), parts_(std::move(parts)) {
  start_worker("", nullptr);
  for (const ClusterConfig& cluster : config_.clusters) start_worker(cluster.name, &cluster);
  parts_.reassignment_work.set_workers(static_cast<int>(workers_.size()));
  parts_.cancel_work.set_workers(static_cast<int>(workers_.size()));
  const std::vector<std::string> everywhere = {""};
  const auto& namespaces = config_.watch_namespaces.empty() ? everywhere : config_.watch_namespaces;
  unlisted_->store(static_cast<int>(2 * namespaces.size()));
  for (const std::string& ns : namespaces) {
    start_reflector(reconcile::Kind::kCancel, ns);
    start_reflector(reconcile::Kind::kReassignment, ns);
  }
}

OperatorEngine::~OperatorEngine() {
  for (const auto& reflector : reflectors_) reflector->request_stop();
  for (const auto& [name, worker] : workers_) worker->request_stop();
  reflectors_.clear();
  routers_.clear();
  workers_.clear();
}

void OperatorEngine::start_worker(const std::string& name, const ClusterConfig* cluster) {
  reconcile::ClusterDeps deps{
      parts_.kube,
      parts_.clock,
      parts_.metrics,
      parts_.reassignment_work,
      parts_.cancel_work,
      [this](const std::string& key, StatusWrite write) { parts_.statuses.submit(key, std::move(write)); },
      [this](const EventNote& note) { parts_.events.record(note); },
      parts_.on_deposed,
      parts_.attention_for};
  reconcile::ClusterSettings settings;
  settings.identity = {config_.operator_id, parts_.owner, name};
  settings.policy = policy_of(config_, cluster);
  settings.watch_namespaces = config_.watch_namespaces;
  ZkConnector* connector = nullptr;
  if (cluster != nullptr) {
    settings.zookeeper.connect = cluster->zookeeper.connect;
    settings.zookeeper.chroot = cluster->zookeeper.chroot;
    settings.zookeeper.session_timeout = cluster->zookeeper.session_timeout;
    connectors_.push_back(std::make_unique<CredentialConnector>(parts_.zookeeper, cluster->zookeeper.auth));
    connector = connectors_.back().get();
    parts_.metrics.register_cluster(name);
  }
  auto reconciler = std::make_unique<reconcile::ClusterReconciler>(std::move(settings), std::move(deps), connector);
  auto worker = std::make_unique<reconcile::ClusterWorker>(
      std::move(reconciler), parts_.clock,
      parts_.lifecycle.worker(name.empty() ? "unknown clusters" : "cluster " + name));
  inboxes_[name] = &worker->inbox();
  workers_[name] = std::move(worker);
}

void OperatorEngine::start_reflector(reconcile::Kind kind, const std::string& ns) {
  auto listed = [left = unlisted_, on_listed = parts_.on_listed, once = std::make_shared<std::atomic<bool>>(false)] {
    if (!once->exchange(true)) left->fetch_sub(1);
    on_listed();
  };
  routers_.push_back(std::make_unique<reconcile::Router>(kind, ns, inboxes_, std::move(listed)));
  ReflectorConfig config{reconcile::resource_of(kind), ns};
  auto health = [kind, was = std::make_shared<std::string>()](const ReflectorHealth& now) {
    if (now.problem == *was) return;
    *was = now.problem;
    if (now.problem.empty()) return log::info("the API server is watched", {{"kind", reconcile::kind_name(kind)}});
    log::warn("the API server cannot be watched", {{"kind", reconcile::kind_name(kind)}, {"error", now.problem}});
  };
  reflectors_.push_back(std::make_unique<ReflectorThread>(std::make_unique<Reflector>(
      parts_.kube, std::move(config), *routers_.back(), parts_.clock, random01, std::move(health))));
}

bool OperatorEngine::adopt(const OperatorConfig& config) {
  if (!same_shape(config_, config)) return false;
  config_ = config;
  for (const ClusterConfig& cluster : config_.clusters)
    inboxes_.at(cluster.name)->post(reconcile::PolicyChanged{policy_of(config_, &cluster)});
  return true;
}

void OperatorEngine::set_leading(bool leads) {
  for (const auto& [name, inbox] : inboxes_) inbox->post(reconcile::Leadership{leads});
}

bool OperatorEngine::listed() const { return unlisted_->load() <= 0; }

}  // namespace kro
