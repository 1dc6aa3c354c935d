#pragma once

#include <cstddef>

// Sizes of the request tree (znodes.md 3.2, 4.1, 6): all of them well under ZooKeeper's 1 MiB packet.
namespace kro::tree {

inline constexpr std::size_t kMostPartitionsPerRequest = 5000;
inline constexpr std::size_t kMostRequestBytes = 128 * 1024;
inline constexpr std::size_t kMostProblems = 50;
inline constexpr std::size_t kMostForeign = 1000;
inline constexpr std::size_t kMostEarlierTargets = 8;

}  // namespace kro::tree
