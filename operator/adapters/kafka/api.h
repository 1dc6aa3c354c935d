#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "adapters/kafka/wire.h"

namespace kro::kafka {

// One API that we speak: the versions that our codecs know (Kafka's message definitions, *Request.json).
struct Api {
  std::int16_t key;
  std::int16_t oldest;
  std::int16_t newest;
  std::int16_t first_flexible;
  std::string_view name;  // as Kafka spells it: metric label and error text

  [[nodiscard]] constexpr Encoding encoding(std::int16_t version) const {
    return version >= first_flexible ? Encoding::kFlexible : Encoding::kClassic;
  }
};

inline constexpr Api kMetadata{3, 4, 12, 9, "Metadata"};
inline constexpr Api kApiVersions{18, 0, 3, 3, "ApiVersions"};
inline constexpr Api kDescribeConfigs{32, 1, 4, 4, "DescribeConfigs"};
inline constexpr Api kDescribeLogDirs{35, 1, 4, 2, "DescribeLogDirs"};
inline constexpr Api kAlterReassignments{45, 0, 1, 0, "AlterPartitionReassignments"};
inline constexpr Api kListReassignments{46, 0, 0, 0, "ListPartitionReassignments"};

struct VersionRange {
  std::int16_t oldest = 0;
  std::int16_t newest = -1;
  auto operator<=>(const VersionRange&) const = default;
};
// API key → what a broker serves.
using VersionRanges = std::map<std::int16_t, VersionRange>;

// The newest version that both sides know; nullopt: none.
inline std::optional<std::int16_t> common_version(const Api& api, const VersionRanges& ranges) {
  const auto range = ranges.find(api.key);
  if (range == ranges.end()) return std::nullopt;
  const std::int16_t version = std::min(api.newest, range->second.newest);
  if (version < std::max(api.oldest, range->second.oldest)) return std::nullopt;
  return version;
}

}  // namespace kro::kafka
