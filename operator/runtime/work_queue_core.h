#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "runtime/backoff.h"

namespace kro {

// What goes first: cancels, then what must reach the tree, then what is only told.
enum class WorkPriority { kCancel, kTree, kTell };
constexpr std::size_t kWorkPriorities = 3;

struct WorkItem {
  std::string key;
  WorkPriority priority = WorkPriority::kTell;
};

// What a queue tells about itself. Called under the queue's lock: must be quick, and must not call the queue.
class WorkQueueObserver {
 public:
  virtual ~WorkQueueObserver() = default;
  virtual void on_depth(std::size_t waiting) = 0;
  virtual void on_add() = 0;
  virtual void on_retry() = 0;
  virtual void on_start(milliseconds waited) = 0;
  virtual void on_done(milliseconds worked) = 0;
};

// A queue of keys, not of events: however often a key is added, it is worked on once, by one worker at a time.
//
//               add                     get                        done
//   (nothing) ───────▶ queued, dirty ────────▶ processing ──────────────────▶ (nothing)
//       │ add_after        ▲  ▲                    │ add: dirty again
//       ▼                  │  │                    ▼          done
//    delayed ── due ───────┘  └───────── processing, dirty ────────
//
// * A key that is added while it is worked on is queued again when that ends: nothing that happened meanwhile is lost.
// * Adding with a higher priority moves a waiting key up; it never moves down.
// * add() takes a delay away: the work that follows looks again, and says itself when it wants to look next.
//   add_after() keeps the earlier of two times.
// * Within a priority the order is that of the adds. A lower priority waits as long as a higher one has work.
//
// Pure but for the observer: no clock, no lock. One thread.
class WorkQueueCore {
 public:
  explicit WorkQueueCore(BackoffPolicy policy = {}, WorkQueueObserver* observer = nullptr)
      : backoff_(policy), observer_(observer) {}

  void add(const std::string& key, WorkPriority priority, MonoTime now);
  void add_after(const std::string& key, WorkPriority priority, MonoTime when);
  // After a failure: comes back after the key's next pause, which is returned.
  milliseconds retry(const std::string& key, WorkPriority priority, MonoTime now);
  // After a success: the next failure counts as the first.
  void forget(const std::string& key) { backoff_.forget(key); }

  // The next key, now being processed; nullopt: nothing is due. Every key got must be given to done().
  std::optional<WorkItem> get(MonoTime now);
  void done(const std::string& key, MonoTime now);

  // When get() has to be asked again though nobody adds anything; nullopt: never.
  [[nodiscard]] std::optional<MonoTime> next_due() const;
  [[nodiscard]] bool has_ready() const { return waiting() != 0; }
  [[nodiscard]] std::size_t waiting() const { return dirty_queued_.size(); }
  [[nodiscard]] std::size_t processing() const { return processing_.size(); }
  [[nodiscard]] int failures(const std::string& key) const { return backoff_.failures(key); }

  // Seconds of unfinished work: of all workers together, and of the longest.
  struct Load {
    double unfinished_seconds = 0;
    double longest_seconds = 0;
  };
  [[nodiscard]] Load load(MonoTime now) const;

 private:
  struct Queued {
    WorkPriority priority;
    MonoTime since;
  };
  struct Running {
    MonoTime since;
    std::optional<WorkPriority> again;  // was added meanwhile
  };
  struct Delayed {
    MonoTime when;
    WorkPriority priority;
  };
  void enqueue(const std::string& key, WorkPriority priority, MonoTime now);
  void take_due(MonoTime now);
  void drop_delay(const std::string& key);

  KeyedBackoff backoff_;
  WorkQueueObserver* observer_;
  std::map<std::string, Queued> dirty_queued_;
  std::array<std::deque<std::string>, kWorkPriorities> order_;
  std::map<std::string, Running> processing_;
  std::map<std::string, Delayed> delayed_;
  std::set<std::pair<MonoTime, std::string>> due_;
};

}  // namespace kro
