#pragma once

#include "ports/clock.h"

namespace kro {

// The clocks of the machine. Thread safe.
class SystemClock : public Clock {
 public:
  [[nodiscard]] Now now() const override;
};

}  // namespace kro
