#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kro {

// A numeric address to listen at.
struct ListenAddress {
  std::string host;  // "::", "127.0.0.1"; without brackets
  std::uint16_t port = 0;
  bool v6 = false;
  // "[::]:8080"
  [[nodiscard]] std::string text() const;
};

// "[::]:8080", "0.0.0.0:8080", "127.0.0.1:0", ":8080" (all addresses). Names are refused: what they resolve to is not
// what is meant here. Errors say what the form is.
Result<ListenAddress> parse_listen_address(std::string_view text);

}  // namespace kro
