#include "adapters/os/system_clock.h"

namespace kro {

Now SystemClock::now() const {
  return {std::chrono::floor<milliseconds>(std::chrono::system_clock::now()), std::chrono::steady_clock::now()};
}

}  // namespace kro
