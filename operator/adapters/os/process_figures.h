#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/metrics.h"

namespace kro {

// What /proc says about this process.
struct ProcessFigures {
  double cpu_seconds = 0;
  double start_time_seconds = 0;  // since the epoch
  std::int64_t virtual_bytes = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t threads = 0;
  std::int64_t open_fds = 0;
  std::int64_t max_fds = 0;
};

// kProtocol when /proc has another form than Linux writes, kNotFound where there is none.
Result<ProcessFigures> read_process_figures();

// The fields of /proc/self/stat, which `stat` holds; the rest of the figures stays 0. `boot_seconds` is btime of
// /proc/stat.
Result<ProcessFigures> parse_process_stat(std::string_view stat, double boot_seconds, double ticks_per_second,
                                          std::int64_t page_bytes);

// Sets process_* of the usual names; what cannot be read keeps its last value.
void report_process(Metrics& metrics);

}  // namespace kro
