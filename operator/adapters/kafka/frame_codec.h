#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/kafka/api.h"
#include "base/result.h"

namespace kro::kafka {

// Frame = int32 length, header, body. Source: https://kafka.apache.org/protocol, RequestHeader.json and
// ResponseHeader.json of Kafka 3.9.
//
// Request header v1: api_key i16, api_version i16, correlation_id i32, client_id as *classic* nullable string, in v2
// (for flexible versions) followed by tagged fields. Response header v0: correlation_id; v1: the same and tagged
// fields. Answers to ApiVersions have header v0 in every version.
std::string encode_frame(const Api& api, std::int16_t version, std::int32_t correlation, std::string_view client_id,
                         std::string_view body);

struct Answer {
  std::int32_t correlation = 0;
  std::string_view body;  // points into what was decoded
};
// `payload` is a frame without its length.
Result<Answer> decode_frame(const Api& api, std::int16_t version, std::string_view payload);

}  // namespace kro::kafka
