#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kro::api {

// Reads JSON text front to back without building a tree, so that an object of a thousand partitions costs
// microseconds and no memory but the fields that are kept (a DOM costs ten times the text).
//
// The first error sticks: every later call returns false and ok() is false. At most 32 levels deep. Duplicate keys
// are the caller's business. Reading is lenient where the API server has validated already (it reads what the server
// sends), but never past the end of the text.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  [[nodiscard]] bool ok() const { return error_.empty(); }
  [[nodiscard]] const std::string& error() const { return error_; }
  // The first character of the next value: { [ " t f n - 0..9; 0 at the end.
  [[nodiscard]] char peek();

  // Calls on_key(std::string_view) for each member; it must consume the value (skip() does).
  template <class OnKey>
  bool object(OnKey&& on_key) {
    if (!enter('{')) return false;
    std::string key;  // its own: on_key may read nested objects
    for (bool first = true; !leave('}', first); first = false) {
      if (!string(key) || !expect(':')) return false;
      on_key(std::string_view(key));
      if (!ok()) return false;
    }
    return ok();
  }
  // Calls on_item() for each element; it must consume it.
  template <class OnItem>
  bool array(OnItem&& on_item) {
    if (!enter('[')) return false;
    for (bool first = true; !leave(']', first); first = false) {
      on_item();
      if (!ok()) return false;
    }
    return ok();
  }

  bool string(std::string& out);
  bool integer(std::int64_t& out);
  bool boolean(bool& out);
  bool skip();
  // Records what is wrong, unless something was already. Always false.
  bool fail(std::string_view what);

 private:
  void space();
  bool enter(char open);
  bool leave(char close, bool first);  // true: the end, or an error
  bool expect(char c);
  bool literal(std::string_view word);
  bool escape(std::string& out);
  bool hex4(std::uint32_t& out);

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::string error_;
};

}  // namespace kro::api
