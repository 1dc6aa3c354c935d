#include "base/time.h"

#include <array>
#include <cstdio>

namespace kro {
namespace {

struct Civil {
  int year;
  unsigned month, day;
  int hour, minute, second, ms;
};

Civil civil(WallTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day ymd(day);
  auto rest = time - day;
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(rest);
  rest -= hours;
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(rest);
  rest -= minutes;
  const auto secs = std::chrono::duration_cast<seconds>(rest);
  rest -= secs;
  return {static_cast<int>(ymd.year()),    static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()),
          static_cast<int>(hours.count()), static_cast<int>(minutes.count()),  static_cast<int>(secs.count()),
          static_cast<int>(rest.count())};
}

// Reads exactly `width` digits at the head of `text` and takes them away; -1: not digits.
int take_digits(std::string_view& text, std::size_t width) {
  if (text.size() < width) return -1;
  int value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    const char c = text[i];
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(width);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string rfc3339(WallTime time) {
  const Civil c = civil(time);
  std::array<char, 64> out{};
  const int n = std::snprintf(out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ", c.year, c.month, c.day, c.hour,
                              c.minute, c.second);
  return {out.data(), static_cast<std::size_t>(n)};
}

std::string rfc3339_micro(WallTime time) {
  const Civil c = civil(time);
  std::array<char, 64> out{};
  const int n = std::snprintf(out.data(), out.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03d000Z", c.year, c.month, c.day,
                              c.hour, c.minute, c.second, c.ms);
  return {out.data(), static_cast<std::size_t>(n)};
}

std::optional<WallTime> parse_rfc3339(std::string_view text) {
  const int year = take_digits(text, 4);
  if (year < 0 || !take(text, '-')) return std::nullopt;
  const int month = take_digits(text, 2);
  if (month < 0 || !take(text, '-')) return std::nullopt;
  const int day = take_digits(text, 2);
  if (day < 0 || !(take(text, 'T') || take(text, 't') || take(text, ' '))) return std::nullopt;
  const int hour = take_digits(text, 2);
  if (hour < 0 || !take(text, ':')) return std::nullopt;
  const int minute = take_digits(text, 2);
  if (minute < 0 || !take(text, ':')) return std::nullopt;
  const int second = take_digits(text, 2);
  if (second < 0) return std::nullopt;

  int ms = 0;
  if (take(text, '.')) {
    int scale = 100;
    bool any = false;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
      ms += (text.front() - '0') * scale;
      scale /= 10;
      any = true;
      text.remove_prefix(1);
    }
    if (!any) return std::nullopt;
  }

  std::chrono::minutes offset{0};
  if (!take(text, 'Z') && !take(text, 'z')) {
    const bool minus = take(text, '-');
    if (!minus && !take(text, '+')) return std::nullopt;
    const int oh = take_digits(text, 2);
    if (oh < 0 || oh > 23 || !take(text, ':')) return std::nullopt;
    const int om = take_digits(text, 2);
    if (om < 0 || om > 59) return std::nullopt;
    offset = std::chrono::minutes((minus ? -1 : 1) * (oh * 60 + om));
  }
  if (!text.empty() || hour > 23 || minute > 59 || second > 60) return std::nullopt;

  const std::chrono::year_month_day ymd{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                        std::chrono::day(static_cast<unsigned>(day))};
  if (!ymd.ok()) return std::nullopt;
  return WallTime(std::chrono::sys_days(ymd)) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         seconds(second) + milliseconds(ms) - offset;
}

std::optional<seconds> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  while (!text.empty()) {
    std::int64_t value = 0;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
      if (digits == 9) return std::nullopt;
      value = value * 10 + (text[digits] - '0');
      ++digits;
    }
    if (digits == 0 || digits == text.size()) return std::nullopt;
    switch (text[digits]) {
      case 'h': total += value * 3600; break;
      case 'm': total += value * 60; break;
      case 's': total += value; break;
      default: return std::nullopt;
    }
    text.remove_prefix(digits + 1);
  }
  return seconds(total);
}

}  // namespace kro
