#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace kro::log {

enum class Level { kDebug, kInfo, kWarn, kError };

// One key and value of a structured log line. Keys are snake_case and literal; values are never parsed back.
struct Field {
  std::string_view key;
  std::string value;
  bool quoted = true;  // false: a number or boolean, written bare

  Field(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  Field(std::string_view k, std::string_view v) : key(k), value(v) {}
  Field(std::string_view k, const char* v) : key(k), value(v) {}
  Field(std::string_view k, bool v) : key(k), value(v ? "true" : "false"), quoted(false) {}
  template <class N>
  requires(std::is_arithmetic_v<N> && !std::is_same_v<N, bool>) Field(std::string_view k, N v)
      : key(k), value(std::to_string(v)), quoted(false) {}
};

using Sink = std::function<void(Level, std::string_view message, std::initializer_list<Field> fields)>;

// Installs where log lines go (adapters/log does, once, from main, before threads start). Without a sink lines are
// dropped.
void set_sink(Sink sink);
void set_level(Level level);
bool enabled(Level level);

// Thread safe as far as the sink is. Never put secrets, plans or whole objects in a field.
void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view m, std::initializer_list<Field> f = {}) { write(Level::kDebug, m, f); }
inline void info(std::string_view m, std::initializer_list<Field> f = {}) { write(Level::kInfo, m, f); }
inline void warn(std::string_view m, std::initializer_list<Field> f = {}) { write(Level::kWarn, m, f); }
inline void error(std::string_view m, std::initializer_list<Field> f = {}) { write(Level::kError, m, f); }

}  // namespace kro::log
