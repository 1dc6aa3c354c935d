#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kro {

using std::chrono::milliseconds;
using std::chrono::seconds;
using namespace std::chrono_literals;

// Wall-clock time, for people and for other processes (status, results).
using WallTime = std::chrono::sys_time<milliseconds>;
// Monotonic time, for intervals and deadlines of this process.
using MonoTime = std::chrono::steady_clock::time_point;

// Both clocks, read once and handed down: nothing below `runtime` reads a clock itself.
struct Now {
  WallTime wall{};
  MonoTime mono{};
};

// "2026-12-01T06:00:00Z" (whole seconds, UTC): conditions and results.
std::string rfc3339(WallTime time);
// "2026-12-01T06:00:00.123000Z": what the API server demands of Leases and Events (exactly six decimals).
std::string rfc3339_micro(WallTime time);
// Accepts what either function writes, any fraction, "Z" or a numeric offset. nullopt: not a time.
std::optional<WallTime> parse_rfc3339(std::string_view text);

// "90s", "30m", "1h30m" (Go's duration text, whole h/m/s parts only). nullopt: not a duration.
std::optional<seconds> parse_duration(std::string_view text);

inline std::int64_t epoch_ms(WallTime time) { return time.time_since_epoch().count(); }
inline WallTime from_epoch_ms(std::int64_t ms) { return WallTime(milliseconds(ms)); }

}  // namespace kro
