// Answers cut at every byte and changed at random must end as an error or as some value: never read out of bounds,
// never allocate more than a small multiple of what came (the sanitizers of the dev build watch).

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "adapters/kafka/alter_reassignments_codec.h"
#include "adapters/kafka/api_versions_codec.h"
#include "adapters/kafka/describe_configs_codec.h"
#include "adapters/kafka/describe_log_dirs_codec.h"
#include "adapters/kafka/frame_codec.h"
#include "adapters/kafka/list_reassignments_codec.h"
#include "adapters/kafka/metadata_codec.h"
#include "unit/adapters/kafka/answers.h"
#include "unit/adapters/kafka/hex.h"

namespace kro::kafka {
namespace {

struct Case {
  const Api* api;
  std::int16_t version;
  std::string_view hex;
  std::function<bool(std::int16_t, std::string_view)> decodes;
};

template <class Message>
auto by(Result<Message> (*decode)(std::int16_t, std::string_view)) {
  return [decode](std::int16_t version, std::string_view body) { return decode(version, body).has_value(); };
}

std::vector<Case> cases() {
  const auto list = [](std::int16_t, std::string_view body) { return decode_list_reassignments(body).has_value(); };
  return {
      {&kAlterReassignments, 0, answers::kAlterDone, by(decode_alter_reassignments)},
      {&kAlterReassignments, 0, answers::kAlterNotController, by(decode_alter_reassignments)},
      {&kAlterReassignments, 0, answers::kCancelNothing, by(decode_alter_reassignments)},
      {&kAlterReassignments, 1, answers::kAlterDoneV1, by(decode_alter_reassignments)},
      {&kListReassignments, 0, answers::kListOne, list},
      {&kApiVersions, 3, answers::kApiVersions, by(decode_api_versions)},
      {&kApiVersions, 0, answers::kApiVersionsTooNew, by(decode_api_versions)},
      {&kMetadata, 12, answers::kMetadataV12, by(decode_metadata)},
      {&kMetadata, 4, answers::kMetadataV4, by(decode_metadata)},
      {&kMetadata, 8, answers::kMetadataV8, by(decode_metadata)},
      {&kMetadata, 9, answers::kMetadataNoTopics, by(decode_metadata)},
      {&kDescribeConfigs, 4, answers::kConfigsV4, by(decode_describe_configs)},
      {&kDescribeConfigs, 1, answers::kConfigsV1, by(decode_describe_configs)},
      {&kDescribeLogDirs, 4, answers::kLogDirsV4, by(decode_describe_log_dirs)},
      {&kDescribeLogDirs, 1, answers::kLogDirsV1, by(decode_describe_log_dirs)},
  };
}

// On the heap and of exact size, so that one byte too far is seen.
bool decodes(const Case& one, std::string_view payload) {
  const std::vector<char> exact(payload.begin(), payload.end());
  const auto answer = decode_frame(*one.api, one.version, {exact.data(), exact.size()});
  return answer && one.decodes(one.version, answer->body);
}

TEST(HostileBytes, TheWholeAnswersDecode) {
  for (const Case& one : cases()) EXPECT_TRUE(decodes(one, from_hex(one.hex).substr(4))) << one.hex;
}

TEST(HostileBytes, AnAnswerCutAnywhereIsRefused) {
  for (const Case& one : cases()) {
    const std::string payload = from_hex(one.hex).substr(4);
    for (std::size_t length = 0; length < payload.size(); ++length)
      EXPECT_FALSE(decodes(one, std::string_view(payload).substr(0, length)))
          << one.api->name << " v" << one.version << " cut after " << length << " bytes";
  }
}

TEST(HostileBytes, AByteTooManyIsRefused) {
  for (const Case& one : cases())
    EXPECT_FALSE(decodes(one, from_hex(one.hex).substr(4) + '\0')) << one.api->name << " v" << one.version;
}

TEST(HostileBytes, RandomChangesNeverCrash) {
  std::mt19937 random(20260101);
  int refused = 0;
  for (const Case& one : cases()) {
    const std::string good = from_hex(one.hex).substr(4);
    for (int round = 0; round < 3000; ++round) {
      std::string bytes = good;
      const auto changes = 1 + random() % 4;
      for (unsigned i = 0; i < changes; ++i) {
        const std::size_t at = random() % bytes.size();
        switch (random() % 4) {
          case 0: bytes[at] = static_cast<char>(random()); break;
          case 1: bytes[at] = static_cast<char>(0xff); break;
          case 2: bytes.insert(at, 1, static_cast<char>(random())); break;
          default: bytes.erase(at, 1 + random() % 3); break;
        }
        if (bytes.empty()) bytes = "x";
      }
      refused += decodes(one, bytes) ? 0 : 1;
    }
  }
  EXPECT_GT(refused, 10'000) << "the changes do not reach the decoders";
}

}  // namespace
}  // namespace kro::kafka
