#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "ports/clock.h"
#include "runtime/work_queue_core.h"

namespace kro {

// WorkQueueCore for several threads: those that add, and workers that wait. Thread safe.
class WorkQueue {
 public:
  explicit WorkQueue(const Clock& clock, BackoffPolicy policy = {}, WorkQueueObserver* observer = nullptr);

  void add(const std::string& key, WorkPriority priority);
  void add_after(const std::string& key, WorkPriority priority, milliseconds delay);
  milliseconds retry(const std::string& key, WorkPriority priority);
  void forget(const std::string& key);
  void done(const std::string& key);

  // Without waiting.
  std::optional<WorkItem> get();
  // Waits until a key is due; nullopt: `stop` was requested, or `most` passed (so that a worker can tell that it
  // lives).
  std::optional<WorkItem> wait(std::stop_token stop, milliseconds most);

  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::optional<MonoTime> next_due() const;
  [[nodiscard]] WorkQueueCore::Load load() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  WorkQueueCore core_;
};

}  // namespace kro
