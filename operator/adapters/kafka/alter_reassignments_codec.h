#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/kafka/api.h"
#include "ports/kafka_admin.h"

namespace kro::kafka {

// AlterPartitionReassignments, key 45, versions 0 (Kafka 2.4+, KIP-455) and 1 (4.1+, KIP-860); always flexible.
//
// Request: timeout_ms i32; [v1: allow_replication_factor_change bool]; topics {name, partitions {index i32, replicas
// nullable array of i32 (null: cancel), tags}, tags}; tags.
// Response: throttle_ms i32; [v1: allow_replication_factor_change bool, before the error]; error i16; message nullable;
// responses {name, partitions {index i32, error i16, message nullable, tags}, tags}; tags. On success a ZooKeeper-mode
// broker sends an empty message, KRaft null: nothing may depend on it. Topics come back in any order.
//
// A list that cannot be a target (empty, duplicate, negative id) is asserted, never sent: an empty one destroys data
// on Kafka 2.3 and 2.4 and poisons the topic's znode on later ones. v1 is sent with "allow".
struct AlterResponse {
  std::int16_t error = 0;
  std::string message;
  AlterAnswers answers;
};
std::string encode_alter_reassignments(std::int16_t version, const AlterRequest& request, std::int32_t timeout_ms,
                                       bool allow_replication_factor_change = true);
Result<AlterResponse> decode_alter_reassignments(std::int16_t version, std::string_view body);

}  // namespace kro::kafka
