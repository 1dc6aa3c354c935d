#pragma once

#include "ports/clock.h"

namespace kro {

// A clock that stands still until a test moves it. One thread.
class ManualClock final : public Clock {
 public:
  // 2026-12-01T06:00:00Z, and a monotonic time that is not its zero.
  ManualClock() {
    now_.wall = WallTime(std::chrono::sys_days(std::chrono::year(2026) / 12 / 1)) + std::chrono::hours(6);
    now_.mono = MonoTime(std::chrono::hours(1));
  }

  [[nodiscard]] Now now() const override { return now_; }
  void advance(milliseconds span) {
    now_.wall += span;
    now_.mono += span;
  }
  // Somebody set the machine's clock: only the wall time jumps.
  void jump_wall(milliseconds span) { now_.wall += span; }

 private:
  Now now_;
};

}  // namespace kro
