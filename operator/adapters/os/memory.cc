#include "adapters/os/memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "adapters/os/files.h"

namespace kro {
namespace {

template <typename T>
bool number(std::string_view text, T& out, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc() && end == text.data() + text.size();
}

std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

// "Rss:                 380 kB"
std::optional<std::size_t> kilobytes(std::string_view line) {
  std::size_t value = 0;
  next_word(line);
  const std::string_view count = next_word(line);
  if (!number(count, value, 10) || next_word(line) != "kB") return std::nullopt;
  return value;
}

// What one mapping of smaps says; `good` until a line speaks against it.
struct Entry {
  CleanMapping mapping;
  bool good = false;
  std::optional<std::size_t> rss, anonymous, swap;

  [[nodiscard]] bool clean() const { return good && rss && anonymous == std::size_t{0} && swap == std::size_t{0}; }
};

// "55ac970fe000-55ac97103000 r-xp 00002000 fe:00 247026     /usr/bin/cat"; nullopt: not the head of a mapping.
std::optional<Entry> head(std::string_view line) {
  Entry out;
  const std::string_view range = next_word(line);
  const std::size_t dash = range.find('-');
  if (dash == std::string_view::npos || !number(range.substr(0, dash), out.mapping.begin, 16) ||
      !number(range.substr(dash + 1), out.mapping.end, 16))
    return std::nullopt;
  const std::string_view rights = next_word(line);
  for (int i = 0; i < 3; ++i) next_word(line);  // offset, device, inode
  const bool read_only = rights.size() == 4 && rights[1] == '-' && rights[3] == 'p';
  out.good = read_only && out.mapping.begin < out.mapping.end && next_word(line).starts_with('/');
  return out;
}

struct Release {
  bool read = false;
  std::uintptr_t page = 4096;
  std::vector<CleanMapping> clean;
  std::size_t bytes = 0;

  void segment(std::uintptr_t begin, std::uintptr_t end) {
    for (const CleanMapping& m : clean) {
      if (m.begin < begin || m.end > end) continue;
      // Needs no check: a refusal (locked memory) leaves everything as it was.
      if (::madvise(reinterpret_cast<void*>(m.begin), m.end - m.begin, MADV_DONTNEED) == 0) bytes += m.resident_bytes;
    }
  }
};

// Called with the loader's lock held, once for each loaded object. The mappings are read in here, not before: only
// under the lock do they stay what they are.
int release_object(dl_phdr_info* object, std::size_t, void* data) noexcept {
  auto& release = *static_cast<Release*>(data);
  if (!release.read) {
    release.read = true;
    if (const auto text = read_file("/proc/self/smaps")) release.clean = clean_mappings(*text);
  }
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0U) continue;
    const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
    const std::uintptr_t end = begin + part.p_memsz;
    release.segment(begin & ~(release.page - 1), (end + release.page - 1) & ~(release.page - 1));
  }
  return 0;
}

}  // namespace

void keep_memory_small() {
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  ::mallopt(M_TRIM_THRESHOLD, 256 * 1024);
}

void trim_memory() { ::malloc_trim(0); }

std::vector<CleanMapping> clean_mappings(std::string_view smaps) {
  std::vector<CleanMapping> out;
  Entry entry;
  const auto end_entry = [&] {
    if (!entry.clean()) return;
    entry.mapping.resident_bytes = *entry.rss * 1024;
    out.push_back(entry.mapping);
  };
  while (!smaps.empty()) {
    const std::size_t length = std::min(smaps.find('\n'), smaps.size());
    const std::string_view line = smaps.substr(0, length);
    smaps.remove_prefix(std::min(length + 1, smaps.size()));
    if (auto next = head(line)) {
      end_entry();
      entry = *next;
    } else if (line.starts_with("Rss:")) {
      entry.rss = kilobytes(line);
    } else if (line.starts_with("Anonymous:")) {
      entry.anonymous = kilobytes(line);
    } else if (line.starts_with("Swap:")) {
      entry.swap = kilobytes(line);
    }
  }
  end_entry();
  return out;
}

std::size_t release_clean_pages() {
  Release release;
  if (const long page = ::sysconf(_SC_PAGESIZE); page > 0) release.page = static_cast<std::uintptr_t>(page);
  ::dl_iterate_phdr(release_object, &release);
  return release.bytes;
}

void ReleaseTimer::busy(MonoTime now) {
  at_ = now + kQuiet;
  if (last_) at_ = std::max(*at_, *last_ + kPeriod);
}

bool ReleaseTimer::due(MonoTime now) {
  if (!at_ || now < *at_) return false;
  last_ = now;
  at_ = now + kPeriod;
  return true;
}

}  // namespace kro
