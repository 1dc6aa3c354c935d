#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kro::kafka {

// Blanks are skipped, so that a vector can be cut into its parts.
inline std::string from_hex(std::string_view text) {
  const auto digit = [](char c) {
    const auto at = std::string_view("0123456789abcdef").find(c);
    if (at == std::string_view::npos) throw std::invalid_argument("not hex");
    return static_cast<unsigned>(at);
  };
  std::string digits;
  for (const char c : text)
    if (c != ' ') digits += c;
  std::string out;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    out += static_cast<char>(digit(digits[i]) * 16 + digit(digits[i + 1]));
  return out;
}

inline std::string to_hex(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 0x0f];
  }
  return out;
}

}  // namespace kro::kafka
