#include "adapters/log/json_line.h"

#include <algorithm>
#include <cstdio>

namespace kro {
namespace {

std::string_view name_of(log::Level level) {
  switch (level) {
    case log::Level::kDebug: return "debug";
    case log::Level::kInfo: return "info";
    case log::Level::kWarn: return "warn";
    case log::Level::kError: return "error";
  }
  return "info";
}

// Length of the UTF-8 sequence at the head of `text`; 0: none (overlong forms and surrogates are none either).
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80U; };
  const unsigned head = byte(0);
  if (head < 0x80) return 1;
  if (head >= 0xC2 && head <= 0xDF) return follows(1) ? 2 : 0;
  if (head >= 0xE0 && head <= 0xEF) {
    if (!follows(1) || !follows(2)) return 0;
    if (head == 0xE0 && byte(1) < 0xA0) return 0;
    if (head == 0xED && byte(1) >= 0xA0) return 0;
    return 3;
  }
  if (head >= 0xF0 && head <= 0xF4) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (head == 0xF0 && byte(1) < 0x90) return 0;
    if (head == 0xF4 && byte(1) >= 0x90) return 0;
    return 4;
  }
  return 0;
}

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  const auto code = static_cast<unsigned char>(c);
  if (code >= 0x20 && code != 0x7F) {
    out += c;
    return;
  }
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(code));
  out += buffer;
}

void append_text(std::string& out, std::string_view text) {
  out += '"';
  std::size_t taken = 0;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (taken + std::max<std::size_t>(length, 1) > kMostLogFieldBytes) {
      out += "…";
      break;
    }
    if (length == 1) {
      append_escaped(out, text.front());
    } else if (length == 0) {
      out += "\uFFFD";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
    taken += std::max<std::size_t>(length, 1);
  }
  out += '"';
}

// What may stand bare in JSON: true, false, and numbers; "nan" and "inf" may not.
bool bare(std::string_view value) {
  if (value == "true" || value == "false") return true;
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
  });
}

}  // namespace

std::string json_line(WallTime time, log::Level level, std::string_view message,
                      std::initializer_list<log::Field> fields) {
  std::string out;
  out.reserve(160);
  out += "{\"ts\":\"";
  std::string stamp = rfc3339_micro(time);
  if (stamp.size() > 4) stamp.erase(stamp.size() - 4, 3);
  out += stamp;
  out += "\",\"level\":\"";
  out += name_of(level);
  out += "\",\"msg\":";
  append_text(out, message);
  for (const log::Field& field : fields) {
    out += ',';
    append_text(out, field.key);
    out += ':';
    if (!field.quoted && bare(field.value)) {
      out += field.value;
    } else {
      append_text(out, field.value);
    }
  }
  out += '}';
  return out;
}

}  // namespace kro
