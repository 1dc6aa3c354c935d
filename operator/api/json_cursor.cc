#include "api/json_cursor.h"

#include <charconv>

namespace kro::api {
namespace {

constexpr int kMostDepth = 32;

void append_utf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xc0U | (c >> 6U));
    out += static_cast<char>(0x80U | (c & 0x3fU));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xe0U | (c >> 12U));
    out += static_cast<char>(0x80U | ((c >> 6U) & 0x3fU));
    out += static_cast<char>(0x80U | (c & 0x3fU));
  } else {
    out += static_cast<char>(0xf0U | (c >> 18U));
    out += static_cast<char>(0x80U | ((c >> 12U) & 0x3fU));
    out += static_cast<char>(0x80U | ((c >> 6U) & 0x3fU));
    out += static_cast<char>(0x80U | (c & 0x3fU));
  }
}

}  // namespace

bool JsonCursor::fail(std::string_view what) {
  if (error_.empty()) {
    error_ = what;
    error_ += " at byte ";
    error_ += std::to_string(at_);
  }
  return false;
}

void JsonCursor::space() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
    ++at_;
  }
}

char JsonCursor::peek() {
  space();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonCursor::expect(char c) {
  if (!ok()) return false;
  if (peek() != c) return fail(std::string("expected ") + c);
  ++at_;
  return true;
}

bool JsonCursor::enter(char open) {
  if (!expect(open)) return false;
  if (++depth_ > kMostDepth) return fail("nested too deeply");
  return true;
}

bool JsonCursor::leave(char close, bool first) {
  if (!ok()) return true;
  const char c = peek();
  if (c == close) {
    ++at_;
    --depth_;
    return true;
  }
  if (!first && !expect(',')) return true;
  return false;
}

bool JsonCursor::hex4(std::uint32_t& out) {
  if (text_.size() - at_ < 4) return fail("cut escape");
  const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + at_ + 4, out, 16);
  if (error != std::errc{} || end != text_.data() + at_ + 4) return fail("bad escape");
  at_ += 4;
  return true;
}

bool JsonCursor::escape(std::string& out) {
  if (at_ >= text_.size()) return fail("cut string");
  const char c = text_[at_++];
  switch (c) {
    case 'n': out += '\n'; return true;
    case 't': out += '\t'; return true;
    case 'r': out += '\r'; return true;
    case 'b': out += '\b'; return true;
    case 'f': out += '\f'; return true;
    case '"':
    case '\\':
    case '/': out += c; return true;
    case 'u': break;
    default: return fail("bad escape");
  }
  std::uint32_t unit = 0;
  if (!hex4(unit)) return false;
  if (unit >= 0xd800 && unit < 0xdc00 && text_.substr(at_, 2) == "\\u") {
    at_ += 2;
    std::uint32_t low = 0;
    if (!hex4(low)) return false;
    unit = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((unit - 0xd800) << 10U) + (low - 0xdc00) : 0xfffd;
  } else if (unit >= 0xd800 && unit < 0xe000) {
    unit = 0xfffd;
  }
  append_utf8(out, unit);
  return true;
}

bool JsonCursor::string(std::string& out) {
  out.clear();
  if (!ok()) return false;
  if (peek() != '"') return fail("expected a string");
  ++at_;
  for (;;) {
    std::size_t end = at_;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\\') ++end;
    out.append(text_, at_, end - at_);
    at_ = end;
    if (at_ >= text_.size()) return fail("cut string");
    if (text_[at_++] == '"') return true;
    if (!escape(out)) return false;
  }
}

bool JsonCursor::integer(std::int64_t& out) {
  if (!ok()) return false;
  space();
  const char* const begin = text_.data() + at_;
  const char* const stop = text_.data() + text_.size();
  const auto [end, error] = std::from_chars(begin, stop, out);
  if (error != std::errc{}) return fail("expected an integer");
  if (end != stop && (*end == '.' || *end == 'e' || *end == 'E')) return fail("expected an integer, not a fraction");
  at_ += static_cast<std::size_t>(end - begin);
  return true;
}

bool JsonCursor::literal(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return false;
  at_ += word.size();
  return true;
}

bool JsonCursor::boolean(bool& out) {
  if (!ok()) return false;
  space();
  if (literal("true")) {
    out = true;
    return true;
  }
  if (literal("false")) {
    out = false;
    return true;
  }
  return fail("expected true or false");
}

bool JsonCursor::skip() {
  if (!ok()) return false;
  switch (peek()) {
    case '{': return object([this](std::string_view) { skip(); });
    case '[': return array([this] { skip(); });
    case '"': {
      std::string ignored;
      return string(ignored);
    }
    case 't':
    case 'f':
    case 'n':
      if (literal("true") || literal("false") || literal("null")) return true;
      return fail("unknown word");
    default: break;
  }
  const std::size_t begin = at_;
  while (at_ < text_.size() && std::string_view("+-.eE0123456789").find(text_[at_]) != std::string_view::npos) ++at_;
  return at_ > begin || fail("expected a value");
}

}  // namespace kro::api
