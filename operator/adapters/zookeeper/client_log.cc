#include "adapters/zookeeper/client_log.h"

#include <chrono>
#include <mutex>
#include <string>
#include <utility>

namespace kro::zk {

ClientLogLine parse_client_log(std::string_view line) {
  const std::size_t level = line.find(":ZOO_");
  const std::size_t at = level == std::string_view::npos ? level : line.find('@', level);
  const std::size_t text = at == std::string_view::npos ? at : line.find(": ", at);
  if (text == std::string_view::npos) return {log::Level::kWarn, line};
  const std::string_view name = line.substr(level + 5, at - level - 5);
  ClientLogLine parsed{log::Level::kWarn, line.substr(text + 2)};
  if (name == "ERROR") parsed.level = log::Level::kError;
  if (name == "INFO") parsed.level = log::Level::kInfo;
  if (name == "DEBUG") parsed.level = log::Level::kDebug;
  return parsed;
}

void write_client_log(const char* message) noexcept {
  using Clock = std::chrono::steady_clock;
  static std::mutex mutex;
  static Clock::time_point window{};
  static int written = 0;
  static int dropped = 0;
  int missing = 0;
  {
    const std::lock_guard lock(mutex);
    const auto now = Clock::now();
    if (now - window >= std::chrono::seconds(10)) {
      window = now;
      written = 0;
    }
    if (++written > 20) {
      ++dropped;
      return;
    }
    missing = std::exchange(dropped, 0);
  }
  // The library calls everything an error that it tries again by itself.
  const ClientLogLine line = parse_client_log(message);
  const log::Level level = line.level == log::Level::kError ? log::Level::kWarn : line.level;
  log::write(level, "zookeeper client", {{"text", line.text}, {"lines_dropped", missing}});
}

}  // namespace kro::zk
