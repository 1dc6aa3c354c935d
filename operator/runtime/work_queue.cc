#include "runtime/work_queue.h"

#include <algorithm>

namespace kro {

WorkQueue::WorkQueue(const Clock& clock, BackoffPolicy policy, WorkQueueObserver* observer)
    : clock_(clock), core_(policy, observer) {}

void WorkQueue::add(const std::string& key, WorkPriority priority) {
  {
    const std::scoped_lock lock(mutex_);
    core_.add(key, priority, clock_.now().mono);
  }
  changed_.notify_one();
}

void WorkQueue::add_after(const std::string& key, WorkPriority priority, milliseconds delay) {
  {
    const std::scoped_lock lock(mutex_);
    core_.add_after(key, priority, clock_.now().mono + delay);
  }
  changed_.notify_one();
}

milliseconds WorkQueue::retry(const std::string& key, WorkPriority priority) {
  milliseconds pause{0};
  {
    const std::scoped_lock lock(mutex_);
    pause = core_.retry(key, priority, clock_.now().mono);
  }
  changed_.notify_one();
  return pause;
}

void WorkQueue::forget(const std::string& key) {
  const std::scoped_lock lock(mutex_);
  core_.forget(key);
}

void WorkQueue::done(const std::string& key) {
  {
    const std::scoped_lock lock(mutex_);
    core_.done(key, clock_.now().mono);
  }
  changed_.notify_one();
}

std::optional<WorkItem> WorkQueue::get() {
  const std::scoped_lock lock(mutex_);
  return core_.get(clock_.now().mono);
}

std::optional<WorkItem> WorkQueue::wait(std::stop_token stop, milliseconds most) {
  std::unique_lock lock(mutex_);
  const MonoTime last = clock_.now().mono + most;
  while (!stop.stop_requested()) {
    const MonoTime now = clock_.now().mono;
    if (auto item = core_.get(now)) return item;
    if (now >= last) return std::nullopt;
    const MonoTime until = std::min(last, core_.next_due().value_or(last));
    // Woken for a new key, a nearer due time, or nothing: all are looked at above.
    changed_.wait_for(lock, stop, until - now,
                      [&, due = core_.next_due()] { return core_.has_ready() || core_.next_due() != due; });
  }
  return std::nullopt;
}

std::size_t WorkQueue::waiting() const {
  const std::scoped_lock lock(mutex_);
  return core_.waiting();
}

std::optional<MonoTime> WorkQueue::next_due() const {
  const std::scoped_lock lock(mutex_);
  return core_.next_due();
}

WorkQueueCore::Load WorkQueue::load() const {
  const std::scoped_lock lock(mutex_);
  return core_.load(clock_.now().mono);
}

}  // namespace kro
