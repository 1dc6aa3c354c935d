#include "fakes/fake_zk_session.h"

#include "ports/zk_rules.h"

namespace kro {
namespace {

Status state_error(ZkState state) {
  switch (state) {
    case ZkState::kConnected: return {};
    case ZkState::kConnecting:
    case ZkState::kSuspended: return fail(ErrorCode::kUnavailable, Retry::kTransient, "connection lost");
    case ZkState::kExpired: return fail(ErrorCode::kGone, Retry::kTransient, "session expired");
    case ZkState::kAuthFailed: return fail(ErrorCode::kUnauthorized, Retry::kPermanent, "credentials refused");
    case ZkState::kClosed: break;
  }
  return fail(ErrorCode::kCancelled, Retry::kTransient, "session closed");
}

}  // namespace

ZkState FakeZkSession::state() const {
  const std::lock_guard lock(server_->mutex_);
  return closed_ ? ZkState::kClosed : server_->client(id_).state;
}

std::int64_t FakeZkSession::session_id() const {
  const std::lock_guard lock(server_->mutex_);
  return closed_ ? last_known_id_ : server_->client(id_).known_id;
}

Result<FakeZk::Client*> FakeZkSession::usable(const Deadline& deadline) const {
  if (deadline.stop.stop_requested()) return fail(ErrorCode::kCancelled, Retry::kTransient, "stopped");
  FakeZk::Client* client = closed_ ? nullptr : &server_->client(id_);
  if (const Status fine = state_error(client == nullptr ? ZkState::kClosed : client->state); !fine)
    return tl::unexpected(fine.error());
  if (server_->now().mono >= deadline.at) return fail(ErrorCode::kTimeout, Retry::kTransient, "deadline passed");
  return client;
}

Status FakeZkSession::wait_connected(const Deadline& deadline) {
  const std::lock_guard lock(server_->mutex_);
  if (closed_) return state_error(ZkState::kClosed);
  const ZkState state = server_->client(id_).state;
  const bool waits = state == ZkState::kConnecting || state == ZkState::kSuspended;
  if (waits && deadline.stop.stop_requested()) return fail(ErrorCode::kCancelled, Retry::kTransient, "stopped");
  return state_error(state);
}

Result<std::vector<std::optional<ZkNode>>> FakeZkSession::get_many(const std::vector<std::string>& paths, bool watch,
                                                                   const Deadline& deadline) {
  for (const std::string& path : paths) {
    if (const Status fine = zk_rules::check_path(path); !fine) return tl::unexpected(fine.error());
  }
  const std::lock_guard lock(server_->mutex_);
  const auto client = usable(deadline);
  if (!client) return tl::unexpected(client.error());
  ++server_->counters_.get_calls;
  server_->counters_.gets += paths.size();
  std::vector<std::optional<ZkNode>> nodes;
  nodes.reserve(paths.size());
  for (const std::string& path : paths) {
    const std::string full = (*client)->full(path);
    const FakeZkTree::Node* node = server_->tree_.find(full);
    if (watch) (node != nullptr ? (*client)->data : (*client)->exists).insert(full);
    nodes.push_back(node != nullptr ? std::optional(ZkNode{node->data, FakeZkTree::stat_of(*node)}) : std::nullopt);
  }
  return nodes;
}

Result<std::optional<ZkNode>> FakeZkSession::get(const std::string& path, bool watch, const Deadline& deadline) {
  auto nodes = get_many({path}, watch, deadline);
  if (!nodes) return tl::unexpected(std::move(nodes.error()));
  return std::move(nodes->front());
}

Result<std::optional<ZkChildren>> FakeZkSession::children(const std::string& path, bool watch,
                                                          const Deadline& deadline) {
  if (const Status fine = zk_rules::check_path(path); !fine) return tl::unexpected(fine.error());
  const std::lock_guard lock(server_->mutex_);
  const auto client = usable(deadline);
  if (!client) return tl::unexpected(client.error());
  ++server_->counters_.children;
  const std::string full = (*client)->full(path);
  const FakeZkTree::Node* node = server_->tree_.find(full);
  if (watch) (node != nullptr ? (*client)->children : (*client)->exists).insert(full);
  if (node == nullptr) return std::nullopt;
  return ZkChildren{{node->children.begin(), node->children.end()}, FakeZkTree::stat_of(*node)};
}

Result<std::vector<ZkOpResult>> FakeZkSession::multi(const std::vector<ZkOp>& ops, const Deadline& deadline) {
  if (const Status fine = zk_rules::check_multi(ops); !fine) return tl::unexpected(fine.error());
  FakeZk::Effects effects;
  Result<std::vector<ZkOpResult>> results;
  {
    const std::lock_guard lock(server_->mutex_);
    if (ops.empty()) return results;
    const auto client = usable(deadline);
    if (!client) return tl::unexpected(client.error());
    effects = server_->effects();
    std::vector<ZkOp> full = ops;
    for (ZkOp& op : full) std::visit([&client](auto& typed) { typed.path = (*client)->full(typed.path); }, op);
    ++server_->counters_.multis;
    results = server_->commit(std::move(full), (*client)->credential, id_, effects);
    if (!results) {
      ++server_->counters_.failed_multis;
      return results;
    }
    server_->counters_.ops += ops.size();
    for (ZkOpResult& result : *results) {
      if (!result.path.empty()) result.path = (*client)->strip(result.path);
    }
  }
  effects.run();
  return results;
}

Status FakeZkSession::sync(const Deadline& deadline) {
  const std::lock_guard lock(server_->mutex_);
  if (const auto client = usable(deadline); !client) return tl::unexpected(client.error());
  ++server_->counters_.syncs;
  return {};
}

std::size_t FakeZkSession::watched_path_bytes() const {
  const std::lock_guard lock(server_->mutex_);
  if (closed_) return 0;
  const FakeZk::Client& client = server_->client(id_);
  std::size_t out = 0;
  for (const auto* kind : {&client.data, &client.exists, &client.children})
    for (const std::string& path : *kind) out += path.size() + 4;
  return out;
}

void FakeZkSession::close() {
  FakeZk::Effects effects;
  {
    const std::lock_guard lock(server_->mutex_);
    if (closed_) return;
    closed_ = true;
    FakeZk::Client& client = server_->client(id_);
    last_known_id_ = client.known_id;
    client.sink = nullptr;
    client.object_gone = true;
    effects = server_->effects();
    const bool connected = client.state == ZkState::kConnected;
    client.state = ZkState::kClosed;
    client.forget_watches();
    if (connected) server_->end(client, effects);
    if (!client.alive) server_->clients_.erase(id_);
  }
  effects.run();
}

Result<std::unique_ptr<ZkSession>> FakeZkConnector::open(const ZkConfig& config, ZkEventSink sink) {
  if (const Status fine = zk_rules::check_config(config); !fine) return tl::unexpected(fine.error());
  const std::int64_t id = server_->open(config, std::move(sink), refuse_);
  return std::make_unique<FakeZkSession>(server_, id);
}

}  // namespace kro
