#pragma once

#include <string_view>

#include "base/log.h"

namespace kro::zk {

struct ClientLogLine {
  log::Level level = log::Level::kWarn;
  std::string_view text;
};

// "2026-12-01 06:00:00,123:42(0x7f):ZOO_WARN@handle@17: text" → level and text. What it does not know is kWarn, whole.
ClientLogLine parse_client_log(std::string_view line);

// The library's log callback. It writes about 200 lines a second while servers refuse, so at most 20 lines pass in
// 10 s; the next one that passes says how many did not.
void write_client_log(const char* message) noexcept;

}  // namespace kro::zk
