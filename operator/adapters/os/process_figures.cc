#include "adapters/os/process_figures.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <vector>

#include "adapters/os/files.h"

namespace kro {
namespace {

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t begin = text.find_first_not_of(" \n", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    at = end;
  }
  return out;
}

std::int64_t count_open_fds() {
  DIR* dir = ::opendir("/proc/self/fd");
  if (dir == nullptr) return 0;
  std::int64_t n = 0;
  while (::readdir(dir) != nullptr) ++n;
  ::closedir(dir);
  return n - 3;  // ".", ".." and the folder itself
}

Result<double> boot_seconds() {
  const auto text = read_file("/proc/stat");
  if (!text) return tl::unexpected<Error>(text.error());
  const std::string_view key = "\nbtime ";
  const std::size_t at = text->find(key);
  if (at != std::string::npos) {
    const std::size_t begin = at + key.size();
    if (const auto value = number(std::string_view(*text).substr(begin, text->find('\n', begin) - begin)))
      return *value;
  }
  return fail(ErrorCode::kProtocol, Retry::kPermanent, "/proc/stat has no btime");
}

}  // namespace

Result<ProcessFigures> parse_process_stat(std::string_view stat, double boot, double ticks_per_second,
                                          std::int64_t page_bytes) {
  // The second field, the name in brackets, may hold anything, brackets and spaces too: count from its end.
  const std::size_t name_end = stat.rfind(')');
  const auto malformed = [] {
    return fail(ErrorCode::kProtocol, Retry::kPermanent, "/proc/self/stat has an unknown form");
  };
  if (name_end == std::string_view::npos) return malformed();
  const auto fields = split(stat.substr(name_end + 1));
  constexpr std::size_t kUtime = 11, kStime = 12, kThreads = 17, kStart = 19, kVsize = 20, kRss = 21;
  if (fields.size() <= kRss) return malformed();
  const auto utime = number(fields[kUtime]), stime = number(fields[kStime]), threads = number(fields[kThreads]),
             start = number(fields[kStart]), vsize = number(fields[kVsize]), rss = number(fields[kRss]);
  if (!utime || !stime || !threads || !start || !vsize || !rss) return malformed();
  ProcessFigures out;
  out.cpu_seconds = (*utime + *stime) / ticks_per_second;
  out.start_time_seconds = boot + *start / ticks_per_second;
  out.virtual_bytes = static_cast<std::int64_t>(*vsize);
  out.resident_bytes = static_cast<std::int64_t>(*rss) * page_bytes;
  out.threads = static_cast<std::int64_t>(*threads);
  return out;
}

Result<ProcessFigures> read_process_figures() {
  const auto stat = read_file("/proc/self/stat");
  if (!stat) return tl::unexpected<Error>(stat.error());
  static const Result<double> boot = boot_seconds();
  if (!boot) return tl::unexpected<Error>(boot.error());
  auto out = parse_process_stat(*stat, *boot, static_cast<double>(::sysconf(_SC_CLK_TCK)), ::sysconf(_SC_PAGESIZE));
  if (!out) return out;
  out->open_fds = count_open_fds();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) out->max_fds = static_cast<std::int64_t>(limit.rlim_cur);
  return out;
}

void report_process(Metrics& metrics) {
  const auto figures = read_process_figures();
  if (!figures) return;
  metrics.set("process_cpu_seconds_total", {}, figures->cpu_seconds);
  metrics.set("process_start_time_seconds", {}, figures->start_time_seconds);
  metrics.set("process_virtual_memory_bytes", {}, static_cast<double>(figures->virtual_bytes));
  metrics.set("process_resident_memory_bytes", {}, static_cast<double>(figures->resident_bytes));
  metrics.set("process_threads", {}, static_cast<double>(figures->threads));
  metrics.set("process_open_fds", {}, static_cast<double>(figures->open_fds));
  metrics.set("process_max_fds", {}, static_cast<double>(figures->max_fds));
}

}  // namespace kro
