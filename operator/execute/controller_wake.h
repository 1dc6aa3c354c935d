#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "ports/zk_session.h"

namespace kro::execute {

// What the session's events said since the controller looked last. The event sink sets flags on a thread of the
// session; the controller's thread takes them, or waits for the next.
class ControllerWake {
 public:
  struct Flags {
    bool inbox = false;
    bool lock = false;
    bool leader = false;
    bool state = false;
    [[nodiscard]] bool any() const { return inbox || lock || leader || state; }
  };

  // Never blocks for long, never calls the session.
  void on_event(const ZkEvent& event);
  // Everything is to be read again: a new session, or a model that is not trusted.
  void mark_all();
  Flags take();
  // Whether take() would return any.
  [[nodiscard]] bool pending() const;
  // Until a flag is set, `until`, or a stop.
  void wait(MonoTime until, const std::stop_token& stop);
  // Until `until`, or a stop, whatever flags are set: a back-off.
  void pause(MonoTime until, const std::stop_token& stop);

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Flags flags_;
};

}  // namespace kro::execute
