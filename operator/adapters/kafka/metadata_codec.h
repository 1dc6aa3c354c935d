#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/kafka/api.h"
#include "ports/kafka_admin.h"

namespace kro::kafka {

// Metadata, key 3, versions 4…12 (MetadataRequest.json, MetadataResponse.json); flexible from v9.
//
// Request: topics, nullable array of {[v10+: topic_id uuid], name string (nullable from v10), tags}; allow_auto_topic_
// creation bool; [v8…10: include_cluster_authorized_operations bool]; [v8+: include_topic_authorized_operations bool].
// Response: throttle_ms i32; brokers {node i32, host, port i32, rack nullable, tags}; cluster_id nullable; controller
// i32; topics {error i16, name (nullable from v12), [v10+: id uuid], internal bool, partitions {error i16, index i32,
// leader i32, [v7+: leader_epoch i32], replicas, isr, [v5+: offline], tags}, [v8+: authorized_operations i32], tags};
// [v8…10: authorized_operations i32]; tags.
//
// Never creates a topic. `topics` nullopt: all.
std::string encode_metadata(std::int16_t version, const std::optional<std::vector<std::string>>& topics);
Result<KafkaMetadata> decode_metadata(std::int16_t version, std::string_view body);

}  // namespace kro::kafka
