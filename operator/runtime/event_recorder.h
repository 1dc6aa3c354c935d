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
  // Writes what is due until nothing is or the deadline passes, then ends the thread. Once, from the owner.
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
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace kro
