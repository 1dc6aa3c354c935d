#pragma once

#include <stop_token>

#include "base/time.h"

namespace kro {

// A point after which a blocking call gives up, and a token that makes it give up at once.
struct Deadline {
  MonoTime at{};
  std::stop_token stop{};
};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Now now() const = 0;

  [[nodiscard]] Deadline in(milliseconds span, std::stop_token stop = {}) const {
    return {now().mono + span, std::move(stop)};
  }
};

}  // namespace kro
