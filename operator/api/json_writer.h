#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace kro::api {

// Appends compact JSON to a string. The caller keeps the nesting right; commas are set here.
class JsonWriter {
 public:
  JsonWriter& open(char bracket);   // { or [
  JsonWriter& close(char bracket);  // } or ]
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);  // bytes that are not UTF-8 become U+FFFD: the API server refuses them
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  template <std::integral T>
  JsonWriter& value(T number) {
    if constexpr (std::same_as<T, bool>)
      return raw(number ? "true" : "false");
    else
      return raw(std::to_string(number));
  }
  // A member, left out when it is empty.
  JsonWriter& text_member(std::string_view name, std::string_view text) {
    return text.empty() ? *this : key(name).value(text);
  }

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  JsonWriter& raw(std::string_view text);
  void comma();
  std::string out_;
  bool need_comma_ = false;
};

}  // namespace kro::api
