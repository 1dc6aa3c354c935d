#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/kafka/api.h"
#include "ports/kafka_admin.h"

namespace kro::kafka {

// DescribeLogDirs, key 35, versions 1…4 (DescribeLogDirsRequest.json, DescribeLogDirsResponse.json); flexible from v2.
//
// Request: topics, nullable array of {name, partitions array of i32, tags}; tags.
// Response: throttle_ms i32; [v3+: error i16]; dirs {error i16, path, topics {name, partitions {index i32, size i64,
// offset_lag i64, is_future bool, tags}, tags}, [v4+: total_bytes i64, usable_bytes i64], tags}; tags.
struct LogDirsAnswer {
  std::int16_t error = 0;  // the answer's own, else that of the first directory that has one
  LogDirSizes sizes;       // without the future replicas of a move between two directories
};
std::string encode_describe_log_dirs(std::int16_t version, const std::vector<TopicPartition>& partitions);
Result<LogDirsAnswer> decode_describe_log_dirs(std::int16_t version, std::string_view body);

}  // namespace kro::kafka
