#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/kafka/api.h"
#include "ports/kafka_admin.h"

namespace kro::kafka {

// ListPartitionReassignments, key 46, version 0 (KIP-455); flexible.
//
// Request: timeout_ms i32; topics nullable array (null: everything that runs, the only form that we send); tags.
// Response: throttle_ms i32; error i16; message nullable; topics {name, partitions {index i32, replicas, adding,
// removing (arrays of i32), tags}, tags}; tags. Partitions that do not move are absent.
struct ListResponse {
  std::int16_t error = 0;
  std::string message;
  OngoingReassignments rows;
};
std::string encode_list_reassignments(std::int32_t timeout_ms);
Result<ListResponse> decode_list_reassignments(std::string_view body);

}  // namespace kro::kafka
