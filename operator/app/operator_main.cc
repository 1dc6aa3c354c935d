#include <atomic>
#include <iostream>
#include <mutex>
#include <random>
#include <thread>

#include "adapters/kube/kube_client.h"
#include "adapters/log/json_log.h"
#include "adapters/metrics/ops_server.h"
#include "adapters/os/files.h"
#include "adapters/os/memory.h"
#include "adapters/os/process_figures.h"
#include "adapters/os/stop_signals.h"
#include "adapters/os/system_clock.h"
#include "adapters/zookeeper/zk_connector.h"
#include "app/operator_wiring.h"
#include "app/options.h"
#include "app/options_version.h"
#include "base/log.h"
#include "runtime/leader_election.h"
#include "runtime/step_thread.h"

namespace kro {
namespace {

constexpr auto kConfigPeriod = 2s;
constexpr auto kStopWithin = 4s;
constexpr std::string_view kLeaseName = "kafka-reassignment-operator";

int usage_error(const std::string& text) {
  std::cerr << text << "\n";
  return 2;
}

std::string random_bytes() {
  std::random_device device;
  std::string out;
  while (out.size() < 16) out += static_cast<char>(device() & 0xffU);
  return out;
}

double random01() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

// Who may write, told to whichever engine is there.
class Leading {
 public:
  void set(bool leads) {
    const std::scoped_lock lock(mutex_);
    leads_ = leads;
    if (engine_ != nullptr) engine_->set_leading(leads);
  }
  void attach(OperatorEngine* engine) {
    const std::scoped_lock lock(mutex_);
    engine_ = engine;
    if (engine_ != nullptr && leads_) engine_->set_leading(true);
  }

 private:
  std::mutex mutex_;
  bool leads_ = false;
  OperatorEngine* engine_ = nullptr;
};

// Takes and renews the Lease on a thread of its own; gives it up when a worker found that another one writes.
class Election {
 public:
  Election(KubeApi& kube, const Clock& clock, const std::string& ns, Metrics& metrics, Leading& leading)
      : clock_(clock),
        election_(kube, clock,
                  LeaderElectionConfig{ns, std::string(kLeaseName), leader_identity(hostname(), random_bytes())},
                  LeaderCallbacks{[&metrics, &leading] {
                                    show(metrics, 1);
                                    leading.set(true);
                                  },
                                  [&metrics, &leading](const std::string& why) {
                                    log::warn("leadership lost", {{"why", why}});
                                    show(metrics, 0);
                                    leading.set(false);
                                  }},
                  random01),
        thread_("election", [this](const std::stop_token& stop) { return step(stop); }) {
    show(metrics, 0);
  }
  void deposed() { deposed_ = true; }
  void stop(const Deadline& deadline) {
    thread_.request_stop();
    thread_.join();
    election_.release(deadline);
  }

 private:
  static void show(Metrics& metrics, double value) {
    metrics.set("leader_election_master_status", {{"name", std::string(kLeaseName)}}, value);
  }
  milliseconds step(const std::stop_token& stop) {
    if (deposed_.exchange(false)) {
      election_.release(clock_.in(2s, stop));
      return 5s;
    }
    return election_.step(stop);
  }

  const Clock& clock_;
  std::atomic<bool> deposed_{false};
  LeaderElection election_;
  StepThread thread_;
};

// The uid of our namespace, which says whose a ledger is. Empty where it may not be read, or nobody answers in time.
std::string namespace_uid(KubeApi& kube, const Clock& clock, const std::string& ns) {
  const auto object = kube.get({"", "v1", "namespaces"}, {"", ns}, clock.in(3s));
  if (!object || !*object) {
    log::warn(
        "the uid of the operator's namespace is not known, so a ledger of another operator with the same id "
        "cannot be told from ours",
        {{"namespace", ns}, {"error", object ? "no such namespace" : object.error().text()}});
    return {};
  }
  const auto at = (*object)->find("\"uid\":\"");
  if (at == std::string::npos) return {};
  const auto from = at + 7;
  return (*object)->substr(from, (*object)->find('"', from) - from);
}

// Re-reads the configuration when it changed; a bad file keeps the old one.
class ConfigFile {
 public:
  ConfigFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
  std::optional<OperatorConfig> changed(Metrics& metrics) {
    const auto text = read_file(path_);
    if (!text || *text == text_) return std::nullopt;
    text_ = *text;
    auto config = parse_operator_config(text_, path_);
    metrics.set("kafka_reassignment_config_last_reload_successful", {}, config ? 1 : 0);
    if (!config) {
      log::error("the configuration is bad, the old one stays in force", {{"error", config.error().text()}});
      return std::nullopt;
    }
    log::info("the configuration was read again", {{"file", path_}});
    return std::move(*config);
  }

 private:
  std::string path_;
  std::string text_;
};

class Process {
 public:
  Process(OperatorOptions options, OperatorConfig config, std::string config_text, KubeConnection connection)
      : options_(std::move(options)),
        config_(std::move(config)),
        file_(options_.config_file, std::move(config_text)),
        own_namespace_(options_.lease_namespace.empty() ? connection.default_namespace : options_.lease_namespace),
        metrics_({false, std::string(program_version()), std::string(program_revision()), "",
                  [this](Metrics& to) { report(to); }}),
        kube_(make_kube_client(
            std::move(connection),
            [this](std::string_view method, std::string_view code, std::string_view host) {
              metrics_.add("rest_client_requests_total",
                           {{"code", std::string(code)}, {"method", std::string(method)}, {"host", std::string(host)}});
            })),
        zookeeper_(make_zk_connector()) {}

  int run(StopSignals& signals) {
    const auto ready = lifecycle_.readiness("caches filled");
    auto server = OpsServer::start(options_.listen, routes());
    if (!server) {
      std::cerr << server.error().text() << "\n";
      return 1;
    }
    log::info("started", {{"version", program_version()},
                          {"revision", program_revision()},
                          {"operator_id", config_.operator_id},
                          {"port", (*server)->port()}});
    metrics_.set("kafka_reassignment_config_last_reload_successful", {}, 1);
    owner_ = namespace_uid(*kube_, clock_, own_namespace_);
    statuses_ = std::make_unique<StatusWriter>(*kube_, clock_);
    events_ =
        std::make_unique<EventRecorder>(*kube_, clock_, EventReporter{"kafka-reassignment.io/operator", hostname()});
    start_engine();
    if (options_.leader_elect)
      election_ = std::make_unique<Election>(*kube_, clock_, own_namespace_, metrics_, leading_);
    else
      leading_.set(true);
    std::jthread housekeeping([&](const std::stop_token& stop) { keep_house(stop, *ready); });
    const auto signal = signals.wait(lifecycle_.stop_token());
    if (signal) lifecycle_.request_stop("signal " + std::to_string(*signal));
    log::info("stopping", {{"why", lifecycle_.why()}});
    housekeeping.request_stop();
    housekeeping.join();
    stop();
    return lifecycle_.exit_code();
  }

 private:
  OpsServer::Routes routes() {
    return {[this] { return metrics_.render(); }, PrometheusMetrics::kContentType,
            [this] {
              const auto health = lifecycle_.livez();
              return OpsServer::Health{health.good, health.text};
            },
            [this] {
              const auto health = lifecycle_.readyz();
              return OpsServer::Health{health.good, health.text};
            }};
  }

  // At the head of every scrape, on a thread of the ops server: a worker that hangs shows.
  void report(Metrics& to) {
    report_process(to);
    reassignment_work_.report();
    cancel_work_.report();
  }

  void start_engine() {
    engine_ = std::make_unique<OperatorEngine>(
        config_, OperatorParts{*kube_, *zookeeper_, clock_, metrics_, reassignment_work_, cancel_work_, lifecycle_,
                               *statuses_, *events_,
                               [this] {
                                 if (election_) election_->deposed();
                               },
                               [this] { listed_again_ = true; }, owner_, options_.attention_for});
    leading_.attach(engine_.get());
  }

  void keep_house(const std::stop_token& stop, Readiness& ready) {
    std::mutex mutex;
    std::condition_variable_any wake;
    MonoTime look_at = clock_.now().mono;
    int trims = 0;
    ReleaseTimer release;
    while (!stop.stop_requested()) {
      ready.set(engine_->listed());
      if (listed_again_.exchange(false)) {
        trims = 3;  // a listing leaves large free blocks behind
        release.busy(clock_.now().mono);
      }
      if (trims > 0 && engine_->listed()) {
        trim_memory();
        --trims;
      }
      if (engine_->listed() && release.due(clock_.now().mono)) {
        trim_memory();
        const std::size_t bytes = release_clean_pages();
        log::debug("gave back pages of code that start-up needed", {{"bytes", bytes}});
      }
      if (clock_.now().mono >= look_at) {
        look_at = clock_.now().mono + kConfigPeriod;
        if (auto config = file_.changed(metrics_)) adopt(std::move(*config));
      }
      std::unique_lock lock(mutex);
      wake.wait_for(lock, stop, 200ms, [] { return false; });
    }
  }

  void adopt(OperatorConfig config) {
    const OperatorConfig before = std::exchange(config_, std::move(config));
    if (engine_->adopt(config_)) return;
    log::info("clusters or namespaces changed: everything is read anew");
    leading_.attach(nullptr);
    engine_.reset();
    for (const ClusterConfig& was : before.clusters) {
      bool still = false;
      for (const ClusterConfig& is : config_.clusters) still = still || is.name == was.name;
      if (!still) metrics_.forget_cluster(was.name);
    }
    start_engine();
  }

  void stop() {
    const Deadline deadline = clock_.in(kStopWithin);
    leading_.attach(nullptr);
    engine_.reset();
    statuses_->stop(clock_.in(1s));
    events_->stop(clock_.in(500ms));
    if (election_) election_->stop(deadline);
  }

  OperatorOptions options_;
  OperatorConfig config_;
  ConfigFile file_;
  std::string own_namespace_;
  std::string owner_;
  SystemClock clock_;
  PrometheusMetrics metrics_;
  WorkFigures reassignment_work_{metrics_, clock_, "kafkareassignment"};
  WorkFigures cancel_work_{metrics_, clock_, "kafkareassignmentcancel"};
  Lifecycle lifecycle_{clock_};
  std::unique_ptr<KubeApi> kube_;
  std::unique_ptr<ZkConnector> zookeeper_;
  std::unique_ptr<StatusWriter> statuses_;
  std::unique_ptr<EventRecorder> events_;
  Leading leading_;
  std::unique_ptr<Election> election_;
  std::unique_ptr<OperatorEngine> engine_;
  std::atomic<bool> listed_again_{false};
};

int operator_main(int argc, char** argv) {
  keep_memory_small();
  StopSignals signals;
  auto parsed = parse_operator_options(argc, argv);
  if (!parsed.options) {
    (parsed.exit_code == 0 ? std::cout : std::cerr) << parsed.text << (parsed.text.ends_with('\n') ? "" : "\n");
    return parsed.exit_code;
  }
  OperatorOptions& options = *parsed.options;
  const auto text = read_file(options.config_file);
  if (!text) return usage_error(text.error().text());
  auto config = parse_operator_config(*text, options.config_file);
  if (!config) return usage_error(config.error().text());
  auto connection = options.kubeconfig.empty() ? in_cluster() : load_kubeconfig(options.kubeconfig);
  if (!connection) return usage_error(connection.error().text());
  connection->version = std::string(program_version());
  install_json_log(options.log_level);
  init_kube_threads(2);
  Process process(std::move(options), std::move(*config), *text, std::move(*connection));
  return process.run(signals);
}

}  // namespace
}  // namespace kro

int main(int argc, char** argv) { return kro::operator_main(argc, argv); }
