#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kro {

// SHA-256 (FIPS 180-4), fed in pieces, so that a large plan is hashed without a copy of its text.
//
// Our own because a digest is wanted below the adapters, where no third-party library may be used; it names plans
// and is no secret, so timing does not matter.
class Sha256 {
 public:
  void update(std::string_view bytes);
  // Lower-case hex of everything fed so far; the object is spent afterwards.
  [[nodiscard]] std::string hex_digest();

 private:
  void block(const std::uint8_t* bytes);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::size_t pending_size_ = 0;
  std::uint64_t total_ = 0;
};

std::string sha256_hex(std::string_view bytes);

}  // namespace kro
