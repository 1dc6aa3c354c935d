#include "adapters/zookeeper/op_table.h"

#include "base/assert.h"

namespace kro::zk {

void PendingCall::answer(std::size_t index, OpAnswer answer) noexcept {
  const std::lock_guard lock(mutex_);
  if (aborted_) return;
  KRO_ASSERT(open_ > 0 && index < answers_.size());
  answers_[index] = std::move(answer);
  if (--open_ == 0) changed_.notify_all();
}

void PendingCall::abort(ErrorCode why) noexcept {
  const std::lock_guard lock(mutex_);
  if (aborted_ || open_ == 0) return;
  aborted_ = why;
  changed_.notify_all();
}

tl::expected<std::vector<OpAnswer>, ErrorCode> PendingCall::wait(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.stop, deadline.at, [this] { return open_ == 0 || aborted_.has_value(); });
  if (open_ == 0) return std::move(answers_);
  // From here on no answer may touch the vector: the caller has been told.
  if (!aborted_) aborted_ = deadline.stop.stop_requested() ? ErrorCode::kCancelled : ErrorCode::kTimeout;
  return tl::unexpected<ErrorCode>(*aborted_);
}

OpId OpTable::open(std::shared_ptr<PendingCall> call, std::size_t index, std::unique_ptr<OpArena> arena) {
  const std::lock_guard lock(mutex_);
  const OpId id = ++last_;
  slots_.emplace(id, OpSlot{std::move(call), index, std::move(arena)});
  return id;
}

std::optional<OpSlot> OpTable::take(OpId id) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(id);
  if (found == slots_.end()) return std::nullopt;
  OpSlot slot = std::move(found->second);
  slots_.erase(found);
  if (slots_.empty()) emptied_.notify_all();
  return slot;
}

void OpTable::abort_all(ErrorCode why) noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, slot] : slots_) slot.call->abort(why);
}

bool OpTable::wait_empty(milliseconds most) const {
  std::unique_lock lock(mutex_);
  return emptied_.wait_for(lock, most, [this] { return slots_.empty(); });
}

void OpTable::clear() noexcept {
  const std::lock_guard lock(mutex_);
  slots_.clear();
}

std::size_t OpTable::size() const {
  const std::lock_guard lock(mutex_);
  return slots_.size();
}

}  // namespace kro::zk
