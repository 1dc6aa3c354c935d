#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/time.h"

namespace kro {

// What is longer is cut, with "…" at the end: a foreign text must not flood the log.
constexpr std::size_t kMostLogFieldBytes = 1024;

// {"ts":"2026-12-01T06:00:00.123Z","level":"info","msg":"…",<fields>} without a newline.
//
// Whatever the texts hold, the line is one valid JSON object: control characters are escaped and bytes that are no
// UTF-8 become U+FFFD. Numbers that are not finite are written as text.
std::string json_line(WallTime time, log::Level level, std::string_view message,
                      std::initializer_list<log::Field> fields);

}  // namespace kro
