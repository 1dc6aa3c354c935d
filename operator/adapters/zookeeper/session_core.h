#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "adapters/zookeeper/c_client.h"
#include "adapters/zookeeper/watch_budget.h"

namespace kro::zk {

// What the library's threads may touch of a session: it outlives the session if the library hangs in close.
class SessionCore final : public CClientEvents {
 public:
  SessionCore(std::string chroot, ZkEventSink sink) : chroot_(std::move(chroot)), sink_(std::move(sink)) {}

  void session_event(Signal signal, std::int64_t session_id, milliseconds negotiated) noexcept override;
  void watch_event(ZkEvent::Type type, std::string_view path) noexcept override;
  void completed(OpId id, OpAnswer answer) noexcept override;
  std::optional<OpSlot> take(OpId id) noexcept override { return ops_.take(id); }

  [[nodiscard]] ZkState state() const;
  [[nodiscard]] std::int64_t session_id() const;
  Status wait_connected(const Deadline& deadline);

  // Moves the state, tells the sink when it changed (not of a close: who closes knows), and wakes what waits for
  // answers that will not come.
  void signal(Signal signal) noexcept;
  // For a call that was started while the session may have ended: signal() may have come too early for it.
  void abort_if_ended(PendingCall& call) const noexcept;
  // The body of the thread that declares a session expired that is suspended for too long: the library finds out
  // only when it is connected again, which may be never.
  void time_suspensions(const std::stop_token& stop) noexcept;

  OpTable& ops() { return ops_; }
  WatchBudget& budget() { return budget_; }
  [[nodiscard]] std::string full(const std::string& path) const { return path == "/" ? root() : chroot_ + path; }
  [[nodiscard]] std::string root() const { return chroot_.empty() ? "/" : chroot_; }
  [[nodiscard]] std::string strip(std::string_view path) const;

 private:
  const std::string chroot_;
  // Held while the sink runs: events come one after the other, and none after the close.
  std::mutex sink_mutex_;
  ZkEventSink sink_;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  ZkState state_ = ZkState::kConnecting;
  MonoTime suspended_since_{};
  std::int64_t session_id_ = 0;
  milliseconds negotiated_{};

  OpTable ops_;
  WatchBudget budget_;
};

}  // namespace kro::zk
