#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/topic_partition.h"

// Reading JSON that others wrote: an object with "version":1, no duplicate key anywhere, at most 16 levels, integers
// only, wrong type or missing key refuses the whole document (znodes.md 2). Private to tree/*.cc.
namespace kro::tree {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

// kInvalid with "what, where". Checks "version":1.
Result<Json> parse_strict(std::string_view text);

Result<std::int64_t> read_integer(const Json& value, std::string_view where,
                                  std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                                  std::int64_t most = std::numeric_limits<std::int64_t>::max());
Result<bool> read_bool(const Json& value, std::string_view where);
Result<std::string> read_string(const Json& value, std::string_view where);
// [1,2,3]: a list that may be a target (not empty, no duplicates, ids 0…2^31-1).
Result<ReplicaList> read_replicas(const Json& value, std::string_view where);
// [1,2,3] without these demands (ISR, lists that Kafka reports).
Result<std::vector<std::int32_t>> read_ids(const Json& value, std::string_view where);
// "0", "17": no sign, no leading zeros.
Result<PartitionId> read_partition_key(const std::string& key, std::string_view where);
Result<Assignments> read_assignments(const Json& value, std::string_view where);
Result<PartitionSets> read_partition_sets(const Json& value, std::string_view where);

OrderedJson to_json(const Assignments& assignments);
OrderedJson to_json(const PartitionSets& sets);

}  // namespace kro::tree

// Reads an optional key of object `j` into `target` through `reader`; returns the error from the calling function.
#define KRO_READ_IF(j, key, target, reader, ...)                                \
  if (const auto it_##target = (j).find(key); it_##target != (j).end()) {       \
    auto value_##target = reader(*it_##target, key __VA_OPT__(, ) __VA_ARGS__); \
    if (!value_##target) return tl::unexpected(value_##target.error());         \
    out.target = std::move(*value_##target);                                    \
  }
