#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kro {

// Cuts a byte stream into lines at '\n', wherever the pieces were cut.
//
// Lines that lie whole in one piece are handed out as views of it, so that the usual event is never copied. Memory
// is bounded by `longest`. One thread.
class LineSplitter {
 public:
  enum class Outcome { kGoOn, kStopped, kTooLong };

  explicit LineSplitter(std::size_t longest) : longest_(longest) {}

  // Calls on_line(line) -> bool for each line that ends in `bytes`, without its end; false stops. Empty lines are
  // left out. kTooLong: a line passed `longest`; the splitter is of no more use.
  template <class OnLine>
  Outcome feed(std::string_view bytes, OnLine&& on_line) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos) return keep(bytes);
      std::string_view line = bytes.substr(0, end);
      bytes.remove_prefix(end + 1);
      if (!rest_.empty()) {
        if (keep(line) == Outcome::kTooLong) return Outcome::kTooLong;
        line = rest_;
      }
      if (line.size() > longest_) return Outcome::kTooLong;
      const bool go_on = line.empty() || on_line(line);
      forget();
      if (!go_on) return Outcome::kStopped;
    }
    return Outcome::kGoOn;
  }

  // True when the stream stopped inside a line.
  [[nodiscard]] bool has_rest() const { return !rest_.empty(); }

 private:
  Outcome keep(std::string_view bytes) {
    if (rest_.size() + bytes.size() > longest_) return Outcome::kTooLong;
    rest_.append(bytes);
    return Outcome::kGoOn;
  }
  // One huge object must not cost its size for ever.
  void forget() {
    rest_.clear();
    if (rest_.capacity() > kKeptCapacity) std::string().swap(rest_);
  }

  static constexpr std::size_t kKeptCapacity = 64 * 1024;
  std::size_t longest_;
  std::string rest_;
};

}  // namespace kro
