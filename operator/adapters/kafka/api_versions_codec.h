#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "adapters/kafka/api.h"

namespace kro::kafka {

// ApiVersions, key 18 (ApiVersionsRequest.json, ApiVersionsResponse.json).
//
// Request v0: empty. v3: software_name, software_version (both compact, neither empty: 42 otherwise), tags.
// Response v0: error i16, array of {key i16, oldest i16, newest i16}. v3: error i16, compact array of {key, oldest,
// newest, tags}, throttle_ms i32, tags.
//
// A broker that does not know the version answers 35 in the form of v0 (measured: 3.9.1 with one entry, 2.3.1 with an
// empty list); so whoever sees 35 asks again with v0.
struct ApiVersionsAnswer {
  std::int16_t error = 0;
  VersionRanges ranges;
};
std::string encode_api_versions(std::int16_t version);
Result<ApiVersionsAnswer> decode_api_versions(std::int16_t version, std::string_view body);

// What the ranges say about the broker: "<2.4", or a lower bound such as ">=3.9".
std::string guess_kafka_version(const VersionRanges& ranges);

}  // namespace kro::kafka
