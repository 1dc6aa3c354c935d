#include "runtime/work_queue_core.h"

#include <algorithm>

#include "base/assert.h"

namespace kro {
namespace {

milliseconds span(MonoTime from, MonoTime to) {
  return std::max(milliseconds::zero(), std::chrono::duration_cast<milliseconds>(to - from));
}

}  // namespace

void WorkQueueCore::add(const std::string& key, WorkPriority priority, MonoTime now) {
  const auto delayed = delayed_.find(key);
  if (delayed != delayed_.end()) {
    priority = std::min(priority, delayed->second.priority);
    drop_delay(key);
  }
  const auto running = processing_.find(key);
  if (running != processing_.end()) {
    if (!running->second.again && observer_ != nullptr) observer_->on_add();
    running->second.again = std::min(priority, running->second.again.value_or(priority));
    return;
  }
  enqueue(key, priority, now);
}

void WorkQueueCore::enqueue(const std::string& key, WorkPriority priority, MonoTime now) {
  const auto [at, fresh] = dirty_queued_.try_emplace(key, Queued{priority, now});
  if (!fresh) {
    if (priority >= at->second.priority) return;
    std::erase(order_[static_cast<std::size_t>(at->second.priority)], key);
    at->second.priority = priority;
  }
  order_[static_cast<std::size_t>(priority)].push_back(key);
  if (fresh && observer_ != nullptr) {
    observer_->on_add();
    observer_->on_depth(waiting());
  }
}

void WorkQueueCore::add_after(const std::string& key, WorkPriority priority, MonoTime when) {
  const auto delayed = delayed_.find(key);
  if (delayed != delayed_.end()) {
    priority = std::min(priority, delayed->second.priority);
    when = std::min(when, delayed->second.when);
    drop_delay(key);
  }
  delayed_.emplace(key, Delayed{when, priority});
  due_.emplace(when, key);
}

milliseconds WorkQueueCore::retry(const std::string& key, WorkPriority priority, MonoTime now) {
  const milliseconds pause = backoff_.failed(key);
  if (observer_ != nullptr) observer_->on_retry();
  add_after(key, priority, now + pause);
  return pause;
}

void WorkQueueCore::drop_delay(const std::string& key) {
  const auto at = delayed_.find(key);
  due_.erase({at->second.when, key});
  delayed_.erase(at);
}

void WorkQueueCore::take_due(MonoTime now) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const std::string key = due_.begin()->second;
    add(key, delayed_.at(key).priority, now);  // takes the delay away
  }
}

std::optional<WorkItem> WorkQueueCore::get(MonoTime now) {
  take_due(now);
  for (std::size_t i = 0; i < kWorkPriorities; ++i) {
    auto& order = order_[i];
    if (order.empty()) continue;
    std::string key = std::move(order.front());
    order.pop_front();
    const auto at = dirty_queued_.find(key);
    KRO_ASSERT(at != dirty_queued_.end());
    const milliseconds waited = span(at->second.since, now);
    dirty_queued_.erase(at);
    processing_.emplace(key, Running{now, std::nullopt});
    if (observer_ != nullptr) {
      observer_->on_start(waited);
      observer_->on_depth(waiting());
    }
    return WorkItem{std::move(key), static_cast<WorkPriority>(i)};
  }
  return std::nullopt;
}

void WorkQueueCore::done(const std::string& key, MonoTime now) {
  const auto at = processing_.find(key);
  KRO_ASSERT(at != processing_.end());
  const Running running = at->second;
  processing_.erase(at);
  if (observer_ != nullptr) observer_->on_done(span(running.since, now));
  if (!running.again) return;
  dirty_queued_.emplace(key, Queued{*running.again, now});
  order_[static_cast<std::size_t>(*running.again)].push_back(key);
  if (observer_ != nullptr) observer_->on_depth(waiting());
}

std::optional<MonoTime> WorkQueueCore::next_due() const {
  if (due_.empty()) return std::nullopt;
  return due_.begin()->first;
}

WorkQueueCore::Load WorkQueueCore::load(MonoTime now) const {
  Load out;
  for (const auto& [key, running] : processing_) {
    const double age = static_cast<double>(span(running.since, now).count()) / 1000.0;
    out.unfinished_seconds += age;
    out.longest_seconds = std::max(out.longest_seconds, age);
  }
  return out;
}

}  // namespace kro
