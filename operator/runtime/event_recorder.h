#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include "ports/clock.h"
#include "ports/kube_api.h"
#include "runtime/event_recorder_queue.h"

namespace kro {

// Writes Events (events.k8s.io/v1) from a thread of its own. Best effort: record() never blocks for the API, and
// what cannot be written is dropped and counted (EventRecorderQueue has the rules).
class EventRecorder {
 public:
  EventRecorder(KubeApi& api, const Clock& clock, EventReporter reporter);
  // Drops what is pending; see stop().
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // From any thread.
  void record(const EventNote& note);
  // Finishes the write in hand, writes what else is due, and ends the thread; gives up at the deadline. Once, from
  // the owner.
  void stop(const Deadline& deadline);
  [[nodiscard]] std::int64_t dropped() const;

 private:
  void run(const std::stop_token& stop);
  // Writes one; false: nothing is due.
  bool write_one(const Deadline& deadline);

  KubeApi& api_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  EventRecorderQueue queue_;
  bool ended_ = false;        // the thread has left its loop
  std::stop_source give_up_;  // ends the call in hand too
  std::jthread thread_;       // last: it uses everything above
};

}  // namespace kro
