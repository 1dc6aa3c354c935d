#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/zookeeper/op_table.h"
#include "adapters/zookeeper/session_fsm.h"

namespace kro::zk {

// What the library tells. Called on its threads: copy and return.
class CClientEvents {
 public:
  virtual ~CClientEvents() = default;
  virtual void session_event(Signal signal, std::int64_t session_id, milliseconds negotiated) noexcept = 0;
  virtual void watch_event(ZkEvent::Type type, std::string_view path) noexcept = 0;
  virtual void completed(OpId id, OpAnswer answer) noexcept = 0;
  // For a multi: hands the slot back so that its arena can be read.
  virtual std::optional<OpSlot> take(OpId id) noexcept = 0;
};

// The ZooKeeper C client behind types of ours; the only place that includes its header.
//
// Paths are the server's (the chroot is ours, the library's handling of it has a history). A start_* call returns
// kOk when the library has taken the operation: then completed() or, after close(), nothing follows. Ownership:
// what a completion gets is valid only inside it; what start_* gets is copied before it returns, but for the arena
// of a multi; watcher contexts are numbers; close() frees the handle.
class CClient {
 public:
  // nullptr and a reason when no handle can be made.
  static std::unique_ptr<CClient> open(const ZkConfig& config, std::shared_ptr<CClientEvents> events,
                                       std::string& reason);
  virtual ~CClient() = default;

  virtual Code start_get(const std::string& path, bool watch, OpId id) = 0;
  virtual Code start_exists(const std::string& path, bool watch, OpId id) = 0;
  virtual Code start_children(const std::string& path, bool watch, OpId id) = 0;
  virtual Code start_sync(const std::string& path, OpId id) = 0;

  // `ops` with the server's paths; lives in the op's slot.
  [[nodiscard]] virtual std::unique_ptr<OpArena> make_arena(std::vector<ZkOp> ops) const = 0;
  virtual Code start_multi(OpArena& arena, OpId id) = 0;

  // Blocks for up to about 5 s (flush and the server's answer), longer if the library hangs. Not from a callback.
  // Afterwards the library calls nothing any more.
  virtual void close() noexcept = 0;
};

}  // namespace kro::zk
