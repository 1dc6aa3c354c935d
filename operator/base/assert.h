#pragma once

namespace kro {

// Ends the process with file, line and `what` on stderr. For broken invariants only: never for bad input.
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);

}  // namespace kro

// In force in release builds too.
#define KRO_ASSERT(expression) \
  (static_cast<bool>(expression) ? static_cast<void>(0) : ::kro::assertion_failed(#expression, __FILE__, __LINE__))
