#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/kafka/api.h"

namespace kro::kafka {

// DescribeConfigs, key 32, versions 1…4 (DescribeConfigsRequest.json, DescribeConfigsResponse.json); flexible from v4.
//
// Request: resources {type i8 (2 topic), name, keys nullable array of string, tags}; include_synonyms bool;
// [v3+: include_documentation bool]; tags.
// Response: throttle_ms i32; results {error i16, message nullable, type i8, name, configs {name, value nullable,
// read_only bool, source i8, sensitive bool, synonyms {name, value nullable, source i8, tags}, [v3+: type i8,
// documentation nullable], tags}, tags}; tags.
struct TopicConfigAnswer {
  std::int16_t error = 0;
  std::string message;
  std::map<std::string, std::string> values;  // keys with a null value are left out
};
using TopicConfigAnswers = std::map<std::string, TopicConfigAnswer>;

std::string encode_describe_topic_configs(std::int16_t version, const std::vector<std::string>& topics,
                                          const std::vector<std::string>& keys);
Result<TopicConfigAnswers> decode_describe_configs(std::int16_t version, std::string_view body);

}  // namespace kro::kafka
