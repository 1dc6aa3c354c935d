#include "base/log.h"

#include <atomic>

namespace kro::log {
namespace {

Sink& sink() {
  static Sink instance;
  return instance;
}
std::atomic<Level> g_level{Level::kInfo};

}  // namespace

void set_sink(Sink s) { sink() = std::move(s); }
void set_level(Level level) { g_level.store(level, std::memory_order_relaxed); }
bool enabled(Level level) { return level >= g_level.load(std::memory_order_relaxed); }

void write(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!enabled(level) || !sink()) return;
  sink()(level, message, fields);
}

}  // namespace kro::log
