#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace kro::json_scan {

// Finds spans in JSON text without building anything.
//
// A watch delivers objects of up to 1.3 MB as one line, of which the adapter needs three short strings; whoever
// wants the object parses its span. The text is trusted to be JSON as far as it is skipped: unbalanced text is
// noticed, a wrong literal inside a skipped value is not. No recursion, no allocation, no failure but nullopt.

// Position after the value that starts at `at` (white space before it is skipped); npos: the text ends inside it.
std::size_t skip_value(std::string_view text, std::size_t at);

// The raw text of member `key` of the object in `text`, whatever the order of members. A key that is written with
// escapes is not found. nullopt: no such member, not an object, or unbalanced before it.
std::optional<std::string_view> member(std::string_view text, std::string_view key);

// The content of a JSON string that has no escapes. nullopt: another value, or one with escapes.
std::optional<std::string_view> plain_string(std::string_view value);

}  // namespace kro::json_scan
