#include "reconcile/dirty_keys.h"

#include <algorithm>

namespace kro::reconcile {

void DirtyKeys::mark(const std::string& key) {
  const auto [at, fresh] = marked_.try_emplace(key);
  if (!fresh) return;
  at->second = clock_.now().mono;
  figures_.added();
  figures_.waiting(1);
}

void DirtyKeys::done(const std::string& key) {
  if (marked_.erase(key) > 0) figures_.waiting(-1);
}

void DirtyKeys::again(const std::string& key) {
  const auto at = marked_.find(key);
  if (at == marked_.end()) return;
  const auto pause = pauses_.find(key);
  at->second = std::max(clock_.now().mono, pause == pauses_.end() ? MonoTime::min() : pause->second);
  figures_.added();
}

void DirtyKeys::failed(const std::string& key, MonoTime now) {
  pauses_[key] = now + backoff_.failed(key);
  figures_.retried();
}

void DirtyKeys::succeeded(const std::string& key) {
  if (pauses_.erase(key) > 0) backoff_.forget(key);
}

void DirtyKeys::forget(const std::string& key) {
  done(key);
  succeeded(key);
}

void DirtyKeys::clear() {
  figures_.waiting(-static_cast<long>(marked_.size()));
  marked_.clear();
}

std::vector<std::string> DirtyKeys::due(MonoTime now) const {
  std::vector<std::string> out;
  out.reserve(marked_.size());
  for (const auto& [key, since] : marked_)
    if (!paused(key, now)) out.push_back(key);
  return out;
}

bool DirtyKeys::any_due(MonoTime now) const {
  return std::any_of(marked_.begin(), marked_.end(), [&](const auto& entry) { return !paused(entry.first, now); });
}

bool DirtyKeys::paused(const std::string& key, MonoTime now) const {
  if (pauses_.empty()) return false;
  const auto at = pauses_.find(key);
  return at != pauses_.end() && at->second > now;
}

MonoTime DirtyKeys::next_due(MonoTime now) const {
  MonoTime out = MonoTime::max();
  for (const auto& [key, until] : pauses_)
    if (until > now) out = std::min(out, until);
  return out;
}

milliseconds DirtyKeys::waited(const std::string& key, MonoTime now) const {
  const auto at = marked_.find(key);
  if (at == marked_.end() || at->second > now) return milliseconds::zero();
  return std::chrono::duration_cast<milliseconds>(now - at->second);
}

}  // namespace kro::reconcile
