#include "adapters/log/json_log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>
#include <exception>
#include <memory>

#include "adapters/log/json_line.h"

namespace kro {
namespace {

spdlog::level::level_enum spdlog_level(log::Level level) {
  switch (level) {
    case log::Level::kDebug: return spdlog::level::debug;
    case log::Level::kInfo: return spdlog::level::info;
    case log::Level::kWarn: return spdlog::level::warn;
    case log::Level::kError: return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

std::optional<log::Level> parse_log_level(std::string_view text) {
  if (text == "debug") return log::Level::kDebug;
  if (text == "info") return log::Level::kInfo;
  if (text == "warn") return log::Level::kWarn;
  if (text == "error") return log::Level::kError;
  return std::nullopt;
}

void install_json_log(log::Level level) {
  // Not in spdlog's registry: nothing else finds it, and no other thread of spdlog is started.
  auto logger = std::make_shared<spdlog::logger>("kro", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
  logger->set_level(spdlog::level::trace);
  logger->flush_on(spdlog::level::trace);
  log::set_level(level);
  log::set_sink([logger](log::Level at, std::string_view message, std::initializer_list<log::Field> fields) {
    try {
      const auto now = std::chrono::floor<milliseconds>(std::chrono::system_clock::now());
      const std::string line = json_line(now, at, message, fields);
      logger->log(spdlog_level(at), spdlog::string_view_t(line.data(), line.size()));
    } catch (const std::exception&) {
      return;  // out of memory: the line is dropped
    }
  });
}

}  // namespace kro
