#pragma once

#include <optional>
#include <string_view>

#include "base/log.h"

namespace kro {

// "debug", "info", "warn", "error"; nullopt: no level.
std::optional<log::Level> parse_log_level(std::string_view text);

// Sends every log line as one line of JSON to stderr, each with one write as soon as it is logged, so that nothing
// is lost when the process dies. Call once, from main, before threads start; safe from any thread afterwards. A line
// that cannot be written is dropped: logging never fails and never blocks on anything but stderr.
void install_json_log(log::Level level);

}  // namespace kro
