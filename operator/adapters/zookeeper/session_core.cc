#include "adapters/zookeeper/session_core.h"

#include "adapters/zookeeper/zk_errors.h"
#include "base/log.h"

namespace kro::zk {

std::string SessionCore::strip(std::string_view path) const {
  if (path.substr(0, chroot_.size()) != chroot_) return std::string(path);
  path.remove_prefix(chroot_.size());
  return path.empty() ? "/" : std::string(path);
}

void SessionCore::session_event(Signal what, std::int64_t session_id, milliseconds negotiated) noexcept {
  if (what == Signal::kUp) {
    const std::lock_guard lock(mutex_);
    session_id_ = session_id;
    negotiated_ = negotiated;
  }
  signal(what);
}

void SessionCore::watch_event(ZkEvent::Type type, std::string_view path) noexcept {
  budget_.fired(path, type);
  const std::lock_guard lock(sink_mutex_);
  if (sink_) sink_({type, strip(path), ZkState::kConnecting});
}

void SessionCore::completed(OpId id, OpAnswer answer) noexcept {
  // The library goes on connecting and being thrown out for ever; a new session would fare no better.
  if (answer.code == Code::kLoginRequired) signal(Signal::kRefused);
  if (std::optional<OpSlot> slot = ops_.take(id)) slot->call->answer(slot->index, std::move(answer));
}

ZkState SessionCore::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::int64_t SessionCore::session_id() const {
  const std::lock_guard lock(mutex_);
  return session_id_;
}

Status SessionCore::wait_connected(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  const auto settled = [this] { return state_ != ZkState::kConnecting && state_ != ZkState::kSuspended; };
  changed_.wait_until(lock, deadline.stop, deadline.at, settled);
  const std::string what = "connect to ZooKeeper";
  switch (state_) {
    case ZkState::kConnected: return {};
    case ZkState::kExpired: return tl::unexpected(zk_error(ErrorCode::kGone, Stage::kNotSent, what));
    case ZkState::kAuthFailed: return tl::unexpected(zk_error(ErrorCode::kUnauthorized, Stage::kNotSent, what));
    case ZkState::kClosed: return tl::unexpected(zk_error(ErrorCode::kCancelled, Stage::kNotSent, what));
    case ZkState::kConnecting:
    case ZkState::kSuspended: break;
  }
  if (deadline.stop.stop_requested()) return tl::unexpected(zk_error(ErrorCode::kCancelled, Stage::kNotSent, what));
  return pass_on(zk_error(ErrorCode::kUnavailable, Stage::kNotSent, "not connected before the deadline"), what);
}

void SessionCore::signal(Signal what) noexcept {
  const std::lock_guard sink_lock(sink_mutex_);
  ZkState now = ZkState::kConnecting;
  {
    const std::lock_guard lock(mutex_);
    now = next_state(state_, what);
    if (now == state_) return;
    state_ = now;
    if (now == ZkState::kSuspended) suspended_since_ = std::chrono::steady_clock::now();
    changed_.notify_all();
  }
  if (now == ZkState::kClosed) {
    ops_.abort_all(ErrorCode::kCancelled);
    sink_ = nullptr;
    return;
  }
  if (now == ZkState::kExpired) ops_.abort_all(ErrorCode::kGone);
  if (now == ZkState::kAuthFailed) ops_.abort_all(ErrorCode::kUnauthorized);
  if (sink_) sink_({ZkEvent::Type::kState, {}, now});
}

void SessionCore::abort_if_ended(PendingCall& call) const noexcept {
  const ZkState now = state();
  if (now == ZkState::kExpired) call.abort(ErrorCode::kGone);
  if (now == ZkState::kAuthFailed) call.abort(ErrorCode::kUnauthorized);
  if (now == ZkState::kClosed) call.abort(ErrorCode::kCancelled);
}

void SessionCore::time_suspensions(const std::stop_token& stop) noexcept {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!changed_.wait(lock, stop, [this] { return state_ == ZkState::kSuspended; })) return;
    const MonoTime since = suspended_since_;
    const milliseconds span = negotiated_ * 4 / 3;
    const auto over = [this, since] { return state_ != ZkState::kSuspended || suspended_since_ != since; };
    if (changed_.wait_until(lock, stop, since + span, over) || stop.stop_requested()) continue;
    lock.unlock();
    log::warn("zookeeper session suspended for too long: taken for expired", {{"suspended_ms", span.count()}});
    signal(Signal::kOverdue);
    lock.lock();
  }
}

}  // namespace kro::zk
