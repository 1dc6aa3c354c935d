#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace kro {

// Keeps what the allocator holds back small: two arenas instead of eight a core, and large blocks go back to the
// system at once. Call first in main, before threads start.
void keep_memory_small();

// Gives free memory back to the system, after something large was let go. May take milliseconds.
void trim_memory();

// A mapping of this process that holds nothing but pages of a file, as the file has them.
struct CleanMapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::size_t resident_bytes = 0;
  bool operator==(const CleanMapping&) const = default;
};

// The mappings in the text of /proc/PID/smaps that are private, backed by a file, not writable, and without one page
// of their own, neither in memory nor swapped out. A mapping whose figures are missing or not understood is left out.
std::vector<CleanMapping> clean_mappings(std::string_view smaps);

// Takes the pages of code and constants that only start-up needed out of this process; those in use come back by
// themselves. Returns the bytes that were resident in what was given back; 0 when the system does not tell.
//
// Safe: only parts of loaded libraries and of the executable that are mapped without write permission and have not one
// page that differs from the file (no relocation, RELRO page or breakpoint), so the kernel can restore each page from
// the file. The loader's lock is held meanwhile, so that no library can be unloaded and its addresses given to others.
// Costs: up to some milliseconds on the calling thread, and afterwards a minor fault for each 64 KiB that is used again
// (a read of the file if the kernel has let go of it in the meantime). Any thread.
std::size_t release_clean_pages();

// When to call release_clean_pages(): some seconds after the last of several listings, and from then on every five
// minutes, as what ran in between (a watch that is opened again, a request) has touched pages again. Not thread safe.
class ReleaseTimer {
 public:
  static constexpr seconds kQuiet{5};
  static constexpr seconds kPeriod{300};

  // Something large was done: the next release is due when it has been quiet, but no sooner than kPeriod after the
  // last one.
  void busy(MonoTime now);
  // Whether to release now; says so once. Never before the first busy().
  bool due(MonoTime now);

 private:
  std::optional<MonoTime> at_;
  std::optional<MonoTime> last_;
};

}  // namespace kro
