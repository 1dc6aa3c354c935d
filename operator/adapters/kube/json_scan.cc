#include "adapters/kube/json_scan.h"

namespace kro::json_scan {
namespace {

constexpr std::size_t kEnd = std::string_view::npos;

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r')) ++at;
  return at;
}

// `at` is the opening quote; the result is the position after the closing one.
std::size_t skip_string(std::string_view text, std::size_t at) {
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return kEnd;
}

std::size_t skip_nested(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    switch (text[at]) {
      case '"':
        at = skip_string(text, at);
        if (at == kEnd) return kEnd;
        continue;
      case '{':
      case '[': ++depth; break;
      case '}':
      case ']':
        if (--depth == 0) return at + 1;
        break;
      default: break;
    }
    ++at;
  }
  return kEnd;
}

}  // namespace

std::size_t skip_value(std::string_view text, std::size_t at) {
  at = skip_space(text, at);
  if (at >= text.size()) return kEnd;
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] == '{' || text[at] == '[') return skip_nested(text, at);
  const std::size_t end = text.find_first_of(",}] \n\t\r", at);
  if (end == at) return kEnd;
  return end == kEnd ? text.size() : end;
}

std::optional<std::string_view> member(std::string_view text, std::string_view key) {
  std::size_t at = skip_space(text, 0);
  if (at >= text.size() || text[at] != '{') return std::nullopt;
  at = skip_space(text, at + 1);
  while (at < text.size() && text[at] == '"') {
    const std::size_t key_end = skip_string(text, at);
    if (key_end == kEnd) return std::nullopt;
    const std::string_view name = text.substr(at + 1, key_end - at - 2);
    at = skip_space(text, key_end);
    if (at >= text.size() || text[at] != ':') return std::nullopt;
    const std::size_t begin = skip_space(text, at + 1);
    const std::size_t end = skip_value(text, begin);
    if (end == kEnd) return std::nullopt;
    if (name == key) return text.substr(begin, end - begin);
    at = skip_space(text, end);
    if (at >= text.size() || text[at] != ',') return std::nullopt;
    at = skip_space(text, at + 1);
  }
  return std::nullopt;
}

std::optional<std::string_view> plain_string(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return std::nullopt;
  const std::string_view content = value.substr(1, value.size() - 2);
  if (content.find_first_of("\"\\") != kEnd) return std::nullopt;
  return content;
}

}  // namespace kro::json_scan
