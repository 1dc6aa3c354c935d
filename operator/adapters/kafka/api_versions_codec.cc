#include "adapters/kafka/api_versions_codec.h"

namespace kro::kafka {

namespace {

constexpr std::int16_t kUnsupportedVersion = 35;
constexpr std::int16_t kSaslAuthenticate = 36;

std::int16_t newest(const VersionRanges& ranges, std::int16_t key) {
  const auto range = ranges.find(key);
  return range == ranges.end() ? std::int16_t{-1} : range->second.newest;
}

}  // namespace

std::string encode_api_versions(std::int16_t version) {
  Writer out(kApiVersions.encoding(version));
  if (version >= 3) {
    out.string("kafka-reassignment-operator");
    out.string("1");
    out.tags();
  }
  return out.take();
}

Result<ApiVersionsAnswer> decode_api_versions(std::int16_t version, std::string_view body) {
  ApiVersionsAnswer answer;
  answer.error = Reader(body, Encoding::kClassic).i16();
  Reader in(body, answer.error == kUnsupportedVersion ? Encoding::kClassic : kApiVersions.encoding(version));
  (void)in.i16();
  for (std::size_t left = in.array(6); left > 0; --left) {
    const std::int16_t key = in.i16();
    VersionRange range;
    range.oldest = in.i16();
    range.newest = in.i16();
    in.tags();
    answer.ranges[key] = range;
  }
  if (version >= 1 && answer.error != kUnsupportedVersion) (void)in.i32();
  in.tags();
  if (auto ok = in.finish("an ApiVersions answer"); !ok) return tl::unexpected(ok.error());
  return answer;
}

std::string guess_kafka_version(const VersionRanges& ranges) {
  if (newest(ranges, kListReassignments.key) < 0 || newest(ranges, kAlterReassignments.key) < 0) return "<2.4";
  if (newest(ranges, kAlterReassignments.key) >= 1) return ">=4.1";
  if (newest(ranges, kMetadata.key) >= 13) return ">=4.0";
  if (newest(ranges, kApiVersions.key) >= 4) return ">=3.9";
  if (newest(ranges, kDescribeLogDirs.key) >= 4) return ">=3.3";
  if (newest(ranges, kMetadata.key) >= 10) return ">=2.8";
  if (newest(ranges, kDescribeLogDirs.key) >= 2) return ">=2.6";
  if (newest(ranges, kSaslAuthenticate) >= 2) return ">=2.5";
  return ">=2.4";
}

}  // namespace kro::kafka
