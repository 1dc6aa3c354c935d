#include "execute/controller_wake.h"

#include "tree/paths.h"

namespace kro::execute {

void ControllerWake::on_event(const ZkEvent& event) {
  {
    const std::lock_guard lock(mutex_);
    if (event.type == ZkEvent::Type::kState) flags_.state = true;
    if (event.path == tree::kRequests) flags_.inbox = true;
    if (event.path == tree::kLock) flags_.lock = true;
    if (event.path == tree::kController) flags_.leader = true;
    if (!flags_.any()) return;
  }
  changed_.notify_all();
}

void ControllerWake::mark_all() {
  {
    const std::lock_guard lock(mutex_);
    flags_ = {true, true, true, true};
  }
  changed_.notify_all();
}

ControllerWake::Flags ControllerWake::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(flags_, {});
}

bool ControllerWake::pending() const {
  const std::lock_guard lock(mutex_);
  return flags_.any();
}

void ControllerWake::wait(MonoTime until, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, until, [&] { return flags_.any(); });
}

void ControllerWake::pause(MonoTime until, const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, stop, until, [] { return false; });
}

}  // namespace kro::execute
