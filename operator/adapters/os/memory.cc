#include "adapters/os/memory.h"

#include <malloc.h>

namespace kro {

void keep_memory_small() {
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  ::mallopt(M_TRIM_THRESHOLD, 256 * 1024);
}

void trim_memory() { ::malloc_trim(0); }

}  // namespace kro
