#include "adapters/zookeeper/c_client.h"

#include <pthread.h>
#include <zookeeper/zookeeper.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "adapters/zookeeper/client_log.h"
#include "base/assert.h"

namespace kro::zk {
namespace {

Code code_of(int rc) {
  switch (rc) {
    case ZOK: return Code::kOk;
    case ZNONODE: return Code::kNoNode;
    case ZNODEEXISTS: return Code::kNodeExists;
    case ZBADVERSION: return Code::kBadVersion;
    case ZNOTEMPTY: return Code::kNotEmpty;
    case ZNOAUTH: return Code::kNoAuth;
    case ZINVALIDACL: return Code::kInvalidAcl;
    case ZBADARGUMENTS: return Code::kBadArguments;
    case ZNOCHILDRENFOREPHEMERALS: return Code::kEphemeralParent;
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT: return Code::kConnectionLoss;  // the latter: the server was silent
    case ZSESSIONEXPIRED: return Code::kExpired;
    case ZINVALIDSTATE: return Code::kDeadHandle;
    case ZAUTHFAILED: return Code::kAuthFailed;
    case ZSESSIONCLOSEDREQUIRESASLAUTH: return Code::kLoginRequired;
    case ZCLOSING: return Code::kClosing;
    case ZSESSIONMOVED:
    case ZNOTREADONLY:
    case ZTHROTTLEDOP: return Code::kNotServed;
    default: return Code::kOther;
  }
}

ZkStat stat_of(const Stat& stat) {
  return {.czxid = stat.czxid,
          .mzxid = stat.mzxid,
          .pzxid = stat.pzxid,
          .ctime_ms = stat.ctime,
          .mtime_ms = stat.mtime,
          .version = stat.version,
          .cversion = stat.cversion,
          .ephemeral_owner = stat.ephemeralOwner,
          .data_length = stat.dataLength,
          .num_children = stat.numChildren};
}

// Contexts are numbers: 24 bits of handle, 40 bits of operation (0 for the watcher). They cannot dangle.
constexpr int kOpBits = 40;

struct Context {
  std::uint32_t handle = 0;
  OpId op = 0;
};

void* pack(std::uint32_t handle, OpId op) {
  KRO_ASSERT(op < (OpId{1} << kOpBits));
  return reinterpret_cast<void*>((static_cast<std::uintptr_t>(handle) << kOpBits) | op);
}

Context unpack(const void* context) {
  const auto bits = reinterpret_cast<std::uintptr_t>(context);
  return {static_cast<std::uint32_t>(bits >> kOpBits), bits & ((OpId{1} << kOpBits) - 1)};
}

// The open handles of the process, by number.
class Registry {
 public:
  std::uint32_t add(std::shared_ptr<CClientEvents> events) {
    const std::lock_guard lock(mutex_);
    KRO_ASSERT(++last_ < (1U << 24));
    handles_.emplace(last_, std::move(events));
    return last_;
  }
  void remove(std::uint32_t handle) {
    const std::lock_guard lock(mutex_);
    handles_.erase(handle);
  }
  std::shared_ptr<CClientEvents> find(std::uint32_t handle) {
    const std::lock_guard lock(mutex_);
    const auto found = handles_.find(handle);
    return found == handles_.end() ? nullptr : found->second;
  }

 private:
  std::mutex mutex_;
  std::uint32_t last_ = 0;
  std::unordered_map<std::uint32_t, std::shared_ptr<CClientEvents>> handles_;
};

Registry& registry() {
  static Registry& instance = *new Registry();  // never destroyed: a hung close may outlive main
  return instance;
}

void complete(const void* context, OpAnswer answer) noexcept {
  const Context number = unpack(context);
  if (const auto events = registry().find(number.handle)) events->completed(number.op, std::move(answer));
}

void on_data(int rc, const char* value, int length, const Stat* stat, const void* context) noexcept {
  OpAnswer answer;
  answer.code = code_of(rc);
  if (rc == ZOK && value != nullptr && length > 0) answer.data.assign(value, static_cast<std::size_t>(length));
  if (rc == ZOK && stat != nullptr) answer.stat = stat_of(*stat);
  complete(context, std::move(answer));
}

void on_stat(int rc, const Stat* stat, const void* context) noexcept { on_data(rc, nullptr, 0, stat, context); }

void on_children(int rc, const String_vector* names, const Stat* stat, const void* context) noexcept {
  OpAnswer answer;
  answer.code = code_of(rc);
  if (rc == ZOK && names != nullptr) {
    answer.names.reserve(static_cast<std::size_t>(names->count));
    for (int i = 0; i < names->count; ++i) answer.names.emplace_back(names->data[i]);
  }
  if (rc == ZOK && stat != nullptr) answer.stat = stat_of(*stat);
  complete(context, std::move(answer));
}

void on_string(int rc, const char* /*value*/, const void* context) noexcept {
  on_data(rc, nullptr, 0, nullptr, context);
}

struct MultiArena final : OpArena {
  std::vector<ZkOp> source;
  std::vector<zoo_op_t> ops;
  std::vector<zoo_op_result_t> results;
  std::vector<Stat> stats;
  std::vector<std::vector<char>> paths;  // for creates, room for the sequence
};

void on_multi(int rc, const void* context) noexcept {
  const Context number = unpack(context);
  const auto events = registry().find(number.handle);
  if (!events) return;
  std::optional<OpSlot> slot = events->take(number.op);
  if (!slot) return;
  const auto& arena = static_cast<const MultiArena&>(*slot->arena);
  OpAnswer answer;
  answer.code = code_of(rc);
  answer.parts.resize(arena.source.size());
  for (std::size_t i = 0; i < arena.source.size(); ++i) {
    // 0 stands before the operation that failed, ZRUNTIMEINCONSISTENCY after it.
    const int err = arena.results[i].err;
    answer.parts[i].code = err == ZRUNTIMEINCONSISTENCY ? Code::kOk : code_of(err);
    if (rc != ZOK) continue;
    if (std::holds_alternative<ZkCreate>(arena.source[i])) answer.parts[i].result.path = arena.paths[i].data();
    if (std::holds_alternative<ZkSet>(arena.source[i])) answer.parts[i].result.stat = stat_of(arena.stats[i]);
  }
  slot->call->answer(slot->index, std::move(answer));
}

// One function and one context for all watches of a handle: the library calls a watcher once a (function, context)
// pair, and keeps every pair it has not seen for ever.
void on_watch(zhandle_t* zh, int type, int state, const char* path, void* context) noexcept {
  const auto events = registry().find(unpack(context).handle);
  if (!events) return;
  if (type == ZOO_SESSION_EVENT) {
    Signal signal = Signal::kDown;
    if (state == ZOO_CONNECTED_STATE) signal = Signal::kUp;
    if (state == ZOO_EXPIRED_SESSION_STATE) signal = Signal::kExpired;
    if (state == ZOO_AUTH_FAILED_STATE) signal = Signal::kRefused;
    events->session_event(signal, zoo_client_id(zh)->client_id, milliseconds(zoo_recv_timeout(zh)));
  } else if (type == ZOO_CREATED_EVENT) {
    events->watch_event(ZkEvent::Type::kCreated, path);
  } else if (type == ZOO_DELETED_EVENT) {
    events->watch_event(ZkEvent::Type::kDeleted, path);
  } else if (type == ZOO_CHANGED_EVENT) {
    events->watch_event(ZkEvent::Type::kChanged, path);
  } else if (type == ZOO_CHILD_EVENT) {
    events->watch_event(ZkEvent::Type::kChildren, path);
  }
}

// One level for the process. Below warnings the library's log calls read freed memory (ZOOKEEPER-4809, -4810).
void set_log_level() {
  static std::once_flag once;
  std::call_once(once, [] { zoo_set_debug_level(ZOO_LOG_LEVEL_WARN); });
}

class CClientImpl final : public CClient {
 public:
  CClientImpl(const ZkConfig& config, std::shared_ptr<CClientEvents> events)
      : number_(registry().add(std::move(events))),
        entries_{{{ZOO_PERM_ALL, ZOO_AUTH_IDS}, {ZOO_PERM_READ, ZOO_ANYONE_ID_UNSAFE}}} {
    if (config.auth) acl_ = {static_cast<std::int32_t>(entries_.size()), entries_.data()};
  }
  CClientImpl(const CClientImpl&) = delete;
  CClientImpl& operator=(const CClientImpl&) = delete;
  ~CClientImpl() override { close(); }

  // False with errno.
  bool connect(const ZkConfig& config) {
    set_log_level();
    // Threads inherit the mask: signals are for main, and a library thread must not be interrupted by them.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    handle_ = zookeeper_init2(config.connect.c_str(), on_watch, static_cast<int>(config.session_timeout.count()),
                              nullptr, context(0), 0, write_client_log);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    if (handle_ == nullptr) return false;
    // By default names are resolved about once a reply; -1: only to connect.
    zoo_set_servers_resolution_delay(handle_, -1);
    if (!config.auth) return true;
    const std::string& secret = config.auth->credential;
    return zoo_add_auth(handle_, config.auth->scheme.c_str(), secret.data(), static_cast<int>(secret.size()), nullptr,
                        nullptr) == ZOK;
  }

  Code start_get(const std::string& path, bool watch, OpId id) override {
    return code_of(zoo_awget(handle_, path.c_str(), watcher(watch), context(0), on_data, context(id)));
  }
  Code start_exists(const std::string& path, bool watch, OpId id) override {
    return code_of(zoo_awexists(handle_, path.c_str(), watcher(watch), context(0), on_stat, context(id)));
  }
  Code start_children(const std::string& path, bool watch, OpId id) override {
    return code_of(zoo_awget_children2(handle_, path.c_str(), watcher(watch), context(0), on_children, context(id)));
  }
  Code start_sync(const std::string& path, OpId id) override {
    return code_of(zoo_async(handle_, path.c_str(), on_string, context(id)));
  }

  [[nodiscard]] std::unique_ptr<OpArena> make_arena(std::vector<ZkOp> ops) const override {
    auto arena = std::make_unique<MultiArena>();
    const std::size_t count = ops.size();
    arena->source = std::move(ops);
    arena->ops.resize(count);
    arena->results.resize(count);
    arena->stats.resize(count);
    arena->paths.resize(count);
    for (std::size_t i = 0; i < count; ++i) fill(*arena, i);
    return arena;
  }
  Code start_multi(OpArena& arena, OpId id) override {
    auto& multi = static_cast<MultiArena&>(arena);
    return code_of(zoo_amulti(handle_, static_cast<int>(multi.ops.size()), multi.ops.data(), multi.results.data(),
                              on_multi, context(id)));
  }

  void close() noexcept override {
    if (handle_ != nullptr) zookeeper_close(std::exchange(handle_, nullptr));
    registry().remove(number_);
  }

 private:
  [[nodiscard]] void* context(OpId id) const { return pack(number_, id); }
  static watcher_fn watcher(bool watch) { return watch ? &on_watch : nullptr; }

  void fill(MultiArena& arena, std::size_t i) const {
    constexpr std::size_t kSequenceRoom = 16;  // "-2147483648" and the end
    zoo_op_t* op = &arena.ops[i];
    const ZkOp& source = arena.source[i];
    if (const auto* create = std::get_if<ZkCreate>(&source)) {
      arena.paths[i].resize(create->path.size() + kSequenceRoom);
      int flags = ZOO_PERSISTENT;
      if (create->mode == ZkMode::kEphemeral) flags = ZOO_EPHEMERAL;
      if (create->mode == ZkMode::kPersistentSequential) flags = ZOO_PERSISTENT_SEQUENTIAL;
      zoo_create_op_init(op, create->path.c_str(), create->data.data(), static_cast<int>(create->data.size()), &acl_,
                         flags, arena.paths[i].data(), static_cast<int>(arena.paths[i].size()));
    } else if (const auto* set = std::get_if<ZkSet>(&source)) {
      zoo_set_op_init(op, set->path.c_str(), set->data.data(), static_cast<int>(set->data.size()), set->version,
                      &arena.stats[i]);
    } else if (const auto* remove = std::get_if<ZkDelete>(&source)) {
      zoo_delete_op_init(op, remove->path.c_str(), remove->version);
    } else if (const auto* check = std::get_if<ZkCheck>(&source)) {
      zoo_check_op_init(op, check->path.c_str(), check->version);
    }
  }

  const std::uint32_t number_;
  zhandle_t* handle_ = nullptr;
  std::array<ACL, 2> entries_;  // with credentials both ZkAcl values mean creator-all and world-read
  ACL_vector acl_ = ZOO_OPEN_ACL_UNSAFE;
};

}  // namespace

std::unique_ptr<CClient> CClient::open(const ZkConfig& config, std::shared_ptr<CClientEvents> events,
                                       std::string& reason) {
  auto client = std::make_unique<CClientImpl>(config, std::move(events));
  if (client->connect(config)) return client;
  reason = std::strerror(errno);
  return nullptr;
}

}  // namespace kro::zk
