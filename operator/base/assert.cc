#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace kro {

void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, expression);
  std::abort();
}

}  // namespace kro
