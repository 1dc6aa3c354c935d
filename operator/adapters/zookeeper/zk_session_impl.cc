#include "adapters/zookeeper/zk_session_impl.h"

#include <algorithm>
#include <future>
#include <utility>

#include "adapters/zookeeper/zk_connector.h"
#include "base/log.h"
#include "ports/zk_rules.h"

namespace kro::zk {
namespace {

// The library writes a byte to a 64 KiB pipe for each operation and drops the connection when the pipe is full.
constexpr std::size_t kReadWindow = 4096;
constexpr seconds kMostCloseTime = 5s;
constexpr milliseconds kMostDrainTime = 500ms;

std::string quoted(const char* verb, const std::string& path) { return std::string(verb) + " " + path; }

const char* verb_of(const ZkOp& op) {
  if (std::holds_alternative<ZkCreate>(op)) return "create";
  if (std::holds_alternative<ZkSet>(op)) return "set";
  return std::holds_alternative<ZkDelete>(op) ? "delete" : "check";
}

std::vector<ZkOp> with_full_paths(std::vector<ZkOp> ops, const SessionCore& core) {
  for (ZkOp& op : ops) std::visit([&core](auto& typed) { typed.path = core.full(typed.path); }, op);
  return ops;
}

bool blames_one_operation(Code code) {
  switch (code) {
    case Code::kNoNode:
    case Code::kNodeExists:
    case Code::kBadVersion:
    case Code::kNotEmpty:
    case Code::kNoAuth:
    case Code::kInvalidAcl:
    case Code::kBadArguments:
    case Code::kEphemeralParent: return true;
    default: return false;
  }
}

// The first operation that is neither fine nor a victim of another one names the failure of a multi.
Error multi_error(const std::vector<ZkOp>& ops, const OpAnswer& answer) {
  if (blames_one_operation(answer.code)) {
    for (std::size_t i = 0; i < answer.parts.size(); ++i) {
      if (answer.parts[i].code == Code::kOk) continue;
      Error error =
          zk_error(answer.parts[i].code, Stage::kWriteSent, quoted(verb_of(ops[i]), zk_rules::path_of(ops[i])));
      error.op_index = static_cast<int>(i);
      return error;
    }
  }
  return zk_error(answer.code, Stage::kWriteSent, "multi");
}

class ZkConnectorImpl final : public ZkConnector {
 public:
  Result<std::unique_ptr<ZkSession>> open(const ZkConfig& config, ZkEventSink sink) override {
    if (const Status fine = zk_rules::check_config(config); !fine) return tl::unexpected(fine.error());
    auto core = std::make_shared<SessionCore>(config.chroot, std::move(sink));
    std::string reason;
    std::shared_ptr<CClient> client = CClient::open(config, core, reason);
    if (!client) {
      return fail(ErrorCode::kUnavailable, Retry::kTransient,
                  "no ZooKeeper client for " + config.connect + ": " + reason);
    }
    return std::make_unique<ZkSessionImpl>(std::move(core), std::move(client));
  }
};

}  // namespace

ZkSessionImpl::ZkSessionImpl(std::shared_ptr<SessionCore> core, std::shared_ptr<CClient> client)
    : core_(std::move(core)),
      client_(std::move(client)),
      suspension_timer_([watched = core_](const std::stop_token& stop) { watched->time_suspensions(stop); }) {}

ZkSessionImpl::~ZkSessionImpl() { close(); }

Status ZkSessionImpl::may_send(const Deadline& deadline, const std::string& what) const {
  const auto refuse = [&what](ErrorCode code) { return tl::unexpected(zk_error(code, Stage::kNotSent, what)); };
  if (deadline.stop.stop_requested()) return refuse(ErrorCode::kCancelled);
  switch (core_->state()) {
    case ZkState::kConnected: break;
    case ZkState::kConnecting:
    case ZkState::kSuspended: return refuse(ErrorCode::kUnavailable);
    case ZkState::kExpired: return refuse(ErrorCode::kGone);
    case ZkState::kAuthFailed: return refuse(ErrorCode::kUnauthorized);
    case ZkState::kClosed: return refuse(ErrorCode::kCancelled);
  }
  if (std::chrono::steady_clock::now() >= deadline.at) return refuse(ErrorCode::kTimeout);
  return {};
}

Result<std::vector<OpAnswer>> ZkSessionImpl::read_window(const std::string& what, const std::vector<std::string>& paths,
                                                         std::size_t begin, std::size_t end, const Deadline& deadline,
                                                         const Start& start) {
  const auto call = std::make_shared<PendingCall>(end - begin);
  {
    const std::shared_lock lock(client_mutex_);
    if (const Status fine = may_send(deadline, what); !fine) return tl::unexpected(fine.error());
    if (!client_) return tl::unexpected(zk_error(ErrorCode::kCancelled, Stage::kNotSent, what));
    for (std::size_t i = begin; i < end; ++i) {
      const OpId id = core_->ops().open(call, i - begin);
      const Code code = start(*client_, paths[i], id);
      if (code == Code::kOk) continue;
      core_->ops().take(id);
      return tl::unexpected(zk_error(code, Stage::kReadSent, what));
    }
  }
  core_->abort_if_ended(*call);
  auto answers = call->wait(deadline);
  if (!answers) return tl::unexpected(zk_error(answers.error(), Stage::kReadSent, what));
  for (std::size_t i = 0; i < answers->size(); ++i) {
    const Code code = (*answers)[i].code;
    if (code == Code::kOk || code == Code::kNoNode) continue;
    return tl::unexpected(zk_error(code, Stage::kReadSent, quoted(what.c_str(), core_->strip(paths[begin + i]))));
  }
  return std::move(*answers);
}

Result<std::vector<OpAnswer>> ZkSessionImpl::read(const std::string& what, const std::vector<std::string>& paths,
                                                  const Deadline& deadline, const Start& start) {
  std::vector<OpAnswer> all;
  all.reserve(paths.size());
  for (std::size_t begin = 0; begin < paths.size(); begin += kReadWindow) {
    const std::size_t end = std::min(paths.size(), begin + kReadWindow);
    auto window = read_window(what, paths, begin, end, deadline, start);
    if (!window) return window;
    std::move(window->begin(), window->end(), std::back_inserter(all));
  }
  return all;
}

Status ZkSessionImpl::reserve_watches(const std::vector<std::string>& paths, WatchBudget::Kind kind) {
  for (const std::string& path : paths) {
    if (Status fits = core_->budget().arm(path, kind); !fits) return fits;
  }
  return {};
}

Result<std::vector<bool>> ZkSessionImpl::watch_creation(const std::vector<std::string>& paths,
                                                        const Deadline& deadline) {
  const auto answers = read("exists", paths, deadline, [](CClient& client, const std::string& path, OpId id) {
    return client.start_exists(path, true, id);
  });
  if (!answers) return tl::unexpected(answers.error());
  std::vector<bool> absent;
  absent.reserve(answers->size());
  for (const OpAnswer& answer : *answers) absent.push_back(answer.code == Code::kNoNode);
  return absent;
}

Result<std::vector<std::optional<ZkNode>>> ZkSessionImpl::get_many(const std::vector<std::string>& paths, bool watch,
                                                                   const Deadline& deadline) {
  std::vector<std::string> open_paths;
  std::vector<std::size_t> open_indices;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (const Status fine = zk_rules::check_path(paths[i]); !fine) return tl::unexpected(fine.error());
    open_paths.push_back(core_->full(paths[i]));
    open_indices.push_back(i);
  }
  if (const Status fine = may_send(deadline, "get"); !fine) return tl::unexpected(fine.error());
  if (watch) {
    if (const Status fits = reserve_watches(open_paths, WatchBudget::kNode); !fits) return tl::unexpected(fits.error());
  }
  std::vector<std::optional<ZkNode>> nodes(paths.size());
  // A get arms nothing on a node that is absent: those are asked for by exists, and read again if they have come.
  while (!open_paths.empty()) {
    auto answers = read("get", open_paths, deadline, [watch](CClient& client, const std::string& path, OpId id) {
      return client.start_get(path, watch, id);
    });
    if (!answers) return tl::unexpected(answers.error());
    std::vector<std::string> absent_paths;
    std::vector<std::size_t> absent_indices;
    for (std::size_t i = 0; i < answers->size(); ++i) {
      OpAnswer& answer = (*answers)[i];
      if (answer.code == Code::kOk) {
        nodes[open_indices[i]] = ZkNode{std::move(answer.data), answer.stat};
      } else if (watch) {
        absent_paths.push_back(open_paths[i]);
        absent_indices.push_back(open_indices[i]);
      }
    }
    open_paths.clear();
    open_indices.clear();
    if (absent_paths.empty()) break;
    const auto absent = watch_creation(absent_paths, deadline);
    if (!absent) return tl::unexpected(absent.error());
    for (std::size_t i = 0; i < absent_paths.size(); ++i) {
      if ((*absent)[i]) continue;
      open_paths.push_back(absent_paths[i]);
      open_indices.push_back(absent_indices[i]);
    }
  }
  return nodes;
}

Result<std::optional<ZkNode>> ZkSessionImpl::get(const std::string& path, bool watch, const Deadline& deadline) {
  auto nodes = get_many({path}, watch, deadline);
  if (!nodes) return tl::unexpected(std::move(nodes.error()));
  return std::move(nodes->front());
}

Result<std::optional<ZkChildren>> ZkSessionImpl::children(const std::string& path, bool watch,
                                                          const Deadline& deadline) {
  if (const Status fine = zk_rules::check_path(path); !fine) return tl::unexpected(fine.error());
  const std::vector<std::string> paths = {core_->full(path)};
  if (const Status fine = may_send(deadline, "children"); !fine) return tl::unexpected(fine.error());
  if (watch) {
    if (const Status fits = reserve_watches(paths, WatchBudget::kChildren); !fits) return tl::unexpected(fits.error());
  }
  for (;;) {
    auto answers = read("children", paths, deadline, [watch](CClient& client, const std::string& full, OpId id) {
      return client.start_children(full, watch, id);
    });
    if (!answers) return tl::unexpected(answers.error());
    OpAnswer& answer = answers->front();
    if (answer.code == Code::kOk) return ZkChildren{std::move(answer.names), answer.stat};
    if (!watch) return std::nullopt;
    if (const Status fits = reserve_watches(paths, WatchBudget::kNode); !fits) return tl::unexpected(fits.error());
    const auto absent = watch_creation(paths, deadline);
    if (!absent) return tl::unexpected(absent.error());
    if (absent->front()) return std::nullopt;
  }
}

Result<OpAnswer> ZkSessionImpl::send_multi(const std::vector<ZkOp>& ops, const Deadline& deadline) {
  const auto call = std::make_shared<PendingCall>(1);
  {
    const std::shared_lock lock(client_mutex_);
    if (const Status fine = may_send(deadline, "multi"); !fine) return tl::unexpected(fine.error());
    if (!client_) return tl::unexpected(zk_error(ErrorCode::kCancelled, Stage::kNotSent, "multi"));
    std::unique_ptr<OpArena> owned = client_->make_arena(with_full_paths(ops, *core_));
    OpArena& arena = *owned;
    const OpId id = core_->ops().open(call, 0, std::move(owned));
    const Code code = client_->start_multi(arena, id);
    if (code != Code::kOk) {
      core_->ops().take(id);
      return tl::unexpected(zk_error(code, Stage::kNotSent, "multi"));
    }
  }
  core_->abort_if_ended(*call);
  auto answers = call->wait(deadline);
  if (!answers) return tl::unexpected(zk_error(answers.error(), Stage::kWriteSent, "multi"));
  return std::move(answers->front());
}

Result<std::vector<ZkOpResult>> ZkSessionImpl::multi(const std::vector<ZkOp>& ops, const Deadline& deadline) {
  if (const Status fine = zk_rules::check_multi(ops); !fine) return tl::unexpected(fine.error());
  if (ops.empty()) return std::vector<ZkOpResult>{};
  auto answer = send_multi(ops, deadline);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  if (answer->code != Code::kOk) return tl::unexpected(multi_error(ops, *answer));
  std::vector<ZkOpResult> results;
  results.reserve(ops.size());
  for (OpAnswer::Part& part : answer->parts) {
    if (!part.result.path.empty()) part.result.path = core_->strip(part.result.path);
    results.push_back(std::move(part.result));
  }
  return results;
}

Status ZkSessionImpl::sync(const Deadline& deadline) {
  const auto answers = read("sync", {core_->root()}, deadline, [](CClient& client, const std::string& path, OpId id) {
    return client.start_sync(path, id);
  });
  if (!answers) return tl::unexpected(answers.error());
  return {};
}

std::size_t ZkSessionImpl::watched_path_bytes() const { return core_->budget().bytes(); }

void ZkSessionImpl::close() {
  core_->signal(Signal::kClose);
  std::shared_ptr<CClient> client;
  {
    const std::unique_lock lock(client_mutex_);
    client = std::exchange(client_, nullptr);
  }
  if (!client) return;
  suspension_timer_.request_stop();
  std::promise<void> closed;
  std::future<void> done = closed.get_future();
  // The library may take its time, or hang: then its thread is left behind with all that it may touch.
  std::thread closer([client, core = core_, promise = std::move(closed)]() mutable {
    // Completions that the library drops at close are memory that it leaks: it gets a moment to finish them.
    core->ops().wait_empty(kMostDrainTime);
    client->close();
    core->ops().clear();
    promise.set_value();
  });
  if (done.wait_for(kMostCloseTime) == std::future_status::ready) {
    closer.join();
  } else {
    log::warn("the zookeeper client did not end in time and is left behind", {});
    closer.detach();
  }
}

}  // namespace kro::zk

namespace kro {

std::unique_ptr<ZkConnector> make_zk_connector() { return std::make_unique<zk::ZkConnectorImpl>(); }

}  // namespace kro
