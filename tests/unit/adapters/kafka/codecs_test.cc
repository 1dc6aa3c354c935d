#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

// The body of a whole frame; checks its length and correlation id on the way.
std::string body_of(const Api& api, std::int16_t version, std::string_view hex, std::int32_t correlation) {
  const std::string frame = from_hex(hex);
  const auto answer = decode_frame(api, version, std::string_view(frame).substr(4));
  EXPECT_TRUE(answer);
  EXPECT_EQ(answer->correlation, correlation);
  return std::string(answer->body);
}

std::string alter_frame(std::int16_t version, std::int32_t correlation, const AlterRequest& request, bool allow) {
  return to_hex(encode_frame(kAlterReassignments, version, correlation, "c1",
                             encode_alter_reassignments(version, request, 60'000, allow)));
}

TEST(AlterReassignments, RequestsAreTheGoldenVectors) {
  const AlterRequest set = {{{"t", 0}, ReplicaList{1, 2}}};
  const AlterRequest cancel = {{{"t", 0}, std::nullopt}};
  EXPECT_EQ(alter_frame(0, 7, set, true),
            "00000025002d00000000000700026331000000ea600202740200000000030000000100000002000000");
  EXPECT_EQ(alter_frame(0, 9, cancel, true), "0000001d002d00000000000900026331000000ea60020274020000000000000000");
  EXPECT_EQ(alter_frame(1, 10, set, false),
            "00000026002d00010000000a00026331000000ea60000202740200000000030000000100000002000000");
}

TEST(AlterReassignments, PartitionsOfOneTopicShareOneEntry) {
  const std::string body = encode_alter_reassignments(
      0, {{{"a", 0}, ReplicaList{1}}, {{"a", 2}, std::nullopt}, {{"b", 1}, ReplicaList{2}}}, 1);
  EXPECT_EQ(body, from_hex("00000001 03 02 61 03 00000000 02 00000001 00 00000002 00 00 00"
                           "02 62 02 00000001 02 00000002 00 00 00"));
}

// An empty list destroys data on Kafka 2.3 and 2.4 and poisons the topic later: it must be impossible to send.
TEST(AlterReassignmentsDeathTest, AListThatCannotBeATargetIsNeverEncoded) {
  for (const ReplicaList& list : {ReplicaList{}, ReplicaList{2, 2}, ReplicaList{-1, 2}})
    EXPECT_DEATH((void)encode_alter_reassignments(0, {{{"t", 0}, list}}, 1), "replica_list_problem");
}

TEST(AlterReassignments, ReadsWhatRealControllersAnswered) {
  for (const auto& [hex, version, correlation] :
       {std::tuple{answers::kAlterDone, 0, 7}, {answers::kAlterDoneKraft, 0, 1}, {answers::kAlterDoneV1, 1, 1}}) {
    const auto v = static_cast<std::int16_t>(version);
    const auto response = decode_alter_reassignments(v, body_of(kAlterReassignments, v, hex, correlation));
    ASSERT_TRUE(response) << hex;
    EXPECT_EQ(response->error, 0);
    ASSERT_EQ(response->answers.size(), 1U);
    EXPECT_EQ(response->answers.at({"t", 0}).code, 0);
  }
}

TEST(AlterReassignments, ReadsRefusals) {
  const auto other = decode_alter_reassignments(0, body_of(kAlterReassignments, 0, answers::kAlterNotController, 7));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->error, kafka_error::kNotController);
  EXPECT_EQ(other->message, "This is not the correct controller for this cluster.");
  EXPECT_TRUE(other->answers.empty());

  const auto nothing = decode_alter_reassignments(0, body_of(kAlterReassignments, 0, answers::kCancelNothing, 9));
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->error, 0);
  EXPECT_EQ(nothing->answers.at({"t", 0}).code, kafka_error::kNoReassignmentInProgress);
  EXPECT_EQ(nothing->answers.at({"t", 0}).message, "No partition reassignment is in progress.");

  const auto none = decode_alter_reassignments(0, body_of(kAlterReassignments, 0, answers::kAlterNoTopics, 1));
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->answers.empty());
}

TEST(ListReassignments, RequestIsTheGoldenVector) {
  EXPECT_EQ(to_hex(encode_frame(kListReassignments, 0, 8, "c1", encode_list_reassignments(60'000))),
            "00000013002e00000000000800026331000000ea600000");
}

TEST(ListReassignments, ReadsWhatARealControllerAnswered) {
  const auto response = decode_list_reassignments(body_of(kListReassignments, 0, answers::kListOne, 8));
  ASSERT_TRUE(response);
  EXPECT_EQ(response->error, 0);
  ASSERT_EQ(response->rows.size(), 1U);
  const OngoingReassignment& row = response->rows.at({"e7", 0});
  EXPECT_EQ(row.replicas, (ReplicaList{1, 2}));
  EXPECT_EQ(row.adding, (ReplicaList{1}));
  EXPECT_TRUE(row.removing.empty());

  // 41 has the same body as API 45's.
  const auto other = decode_list_reassignments(body_of(kListReassignments, 0, answers::kAlterNotController, 7));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->error, kafka_error::kNotController);
}

TEST(ApiVersions, RequestsAreTheMeasuredOnes) {
  EXPECT_EQ(to_hex(encode_frame(kApiVersions, 0, 77, "c1", encode_api_versions(0))),
            "0000000c001200000000004d00026331");
  const std::string v3 = encode_frame(kApiVersions, 3, 77, "c1", encode_api_versions(3));
  EXPECT_THAT(to_hex(v3), HasSubstr("001200030000004d0002633100"));
  EXPECT_THAT(v3, HasSubstr("kafka-reassignment-operator"));
}

TEST(ApiVersions, ReadsARealBrokersRanges) {
  const auto answer = decode_api_versions(3, body_of(kApiVersions, 3, answers::kApiVersions, 77));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error, 0);
  EXPECT_EQ(answer->ranges.size(), 62U);
  EXPECT_EQ(answer->ranges.at(45), (VersionRange{0, 0}));
  EXPECT_EQ(answer->ranges.at(3), (VersionRange{0, 12}));
  EXPECT_EQ(answer->ranges.at(18), (VersionRange{0, 4}));
  EXPECT_EQ(guess_kafka_version(answer->ranges), ">=3.9");
  EXPECT_EQ(common_version(kMetadata, answer->ranges), 12);
  EXPECT_EQ(common_version(kAlterReassignments, answer->ranges), 0);
}

// It comes in the form of v0 whatever was asked.
TEST(ApiVersions, ReadsUnsupportedVersionInItsOldForm) {
  for (const auto& [version, hex] : {std::pair{9, answers::kApiVersionsTooNew}, {3, answers::kApiVersionsOldBroker}}) {
    const auto v = static_cast<std::int16_t>(version);
    const auto answer = decode_api_versions(v, body_of(kApiVersions, v, hex, 77));
    ASSERT_TRUE(answer) << version;
    EXPECT_EQ(answer->error, 35);
  }
}

TEST(ApiVersions, GuessesTheVersionByWhatIsServed) {
  VersionRanges ranges = {{3, {0, 8}}, {18, {0, 2}}, {32, {0, 2}}, {35, {0, 1}}, {36, {0, 1}}};
  EXPECT_EQ(guess_kafka_version(ranges), "<2.4");
  EXPECT_EQ(common_version(kAlterReassignments, ranges), std::nullopt);
  ranges[45] = ranges[46] = {0, 0};
  ranges[3] = {0, 9};
  EXPECT_EQ(guess_kafka_version(ranges), ">=2.4");
  ranges[36] = {0, 2};
  EXPECT_EQ(guess_kafka_version(ranges), ">=2.5");
  ranges[35] = {0, 2};
  EXPECT_EQ(guess_kafka_version(ranges), ">=2.6");
  ranges[3] = {0, 11};
  EXPECT_EQ(guess_kafka_version(ranges), ">=2.8");
  ranges[35] = {0, 4};
  EXPECT_EQ(guess_kafka_version(ranges), ">=3.3");
  ranges[18] = {0, 4};
  EXPECT_EQ(guess_kafka_version(ranges), ">=3.9");
  ranges[3] = {0, 13};
  EXPECT_EQ(guess_kafka_version(ranges), ">=4.0");
  ranges[45] = {0, 1};
  EXPECT_EQ(guess_kafka_version(ranges), ">=4.1");
}

TEST(ApiVersions, ARangeThatIsTooNewForUsHasNoCommonVersion) {
  EXPECT_EQ(common_version(kMetadata, {{3, {13, 14}}}), std::nullopt);
  EXPECT_EQ(common_version(kMetadata, {{3, {0, 3}}}), std::nullopt);
  EXPECT_EQ(common_version(kMetadata, {{3, {0, -1}}}), std::nullopt);
}

void expect_topic_t(const KafkaMetadata& seen) {
  const auto tp0 = seen.find({"t", 0});
  const auto tp1 = seen.find({"t", 1});
  ASSERT_NE(tp0, nullptr);
  ASSERT_NE(tp1, nullptr);
  EXPECT_EQ(tp0->replicas, (ReplicaList{1, 2}));
  EXPECT_EQ(tp1->isr, (ReplicaList{2, 3}));
  EXPECT_EQ(tp0->leader, 1);
  EXPECT_EQ(tp1->leader, 2);
  EXPECT_EQ(seen.brokers.size(), 3U);
  EXPECT_EQ(seen.brokers.at(1).host, "127.0.0.1");
  EXPECT_EQ(seen.brokers.at(1).port, 27191);
  EXPECT_EQ(seen.controller_id, 2);
  EXPECT_EQ(seen.cluster_id, "Jk0MJKVCTaK_6atl2vl76g");
}

TEST(Metadata, ReadsWhatARealBrokerAnsweredInEachEncoding) {
  const auto v12 = decode_metadata(12, body_of(kMetadata, 12, answers::kMetadataV12, 5));
  ASSERT_TRUE(v12);
  expect_topic_t(*v12);
  EXPECT_EQ(v12->topics.at("t").id, "33d053e7-bebc-4d69-be2f-39d957e8dff0");
  EXPECT_EQ(v12->topics.at("nope").error, kafka_error::kUnknownTopicOrPartition);
  EXPECT_TRUE(v12->topics.at("nope").partitions.empty());

  const auto v4 = decode_metadata(4, body_of(kMetadata, 4, answers::kMetadataV4, 5));
  ASSERT_TRUE(v4);
  expect_topic_t(*v4);
  EXPECT_EQ(v4->topics.at("t").id, "");
  EXPECT_EQ(v4->topics.at("nope").error, kafka_error::kUnknownTopicOrPartition);

  const auto v8 = decode_metadata(8, body_of(kMetadata, 8, answers::kMetadataV8, 5));
  ASSERT_TRUE(v8);
  expect_topic_t(*v8);

  const auto v9 = decode_metadata(9, body_of(kMetadata, 9, answers::kMetadataNoTopics, 1));
  ASSERT_TRUE(v9);
  EXPECT_EQ(v9->controller_id, 2);
}

TEST(Metadata, RequestsNeverCreateTopicsAndFollowTheVersion) {
  const std::vector<std::string> t = {"t"};
  EXPECT_EQ(to_hex(encode_metadata(4, t)), "0000000100017400");
  EXPECT_EQ(to_hex(encode_metadata(8, t)), "00000001000174000000");
  EXPECT_EQ(to_hex(encode_metadata(9, t)), "0202740000000000");
  EXPECT_EQ(to_hex(encode_metadata(12, t)),
            "02000000000000000000000000000000000274000000"
            "00");
  EXPECT_EQ(to_hex(encode_metadata(4, std::nullopt)), "ffffffff00");
  EXPECT_EQ(to_hex(encode_metadata(12, std::nullopt)), "00000000");
  EXPECT_EQ(to_hex(encode_metadata(12, std::vector<std::string>())), "01000000");
}

TEST(DescribeConfigs, ReadsWhatARealBrokerAnsweredInEachEncoding) {
  const auto v4 = decode_describe_configs(4, body_of(kDescribeConfigs, 4, answers::kConfigsV4, 6));
  ASSERT_TRUE(v4);
  EXPECT_THAT(v4->at("t").values, ElementsAre(Pair("min.insync.replicas", "2")));
  EXPECT_EQ(v4->at("nope").error, kafka_error::kUnknownTopicOrPartition);

  const auto v1 = decode_describe_configs(1, body_of(kDescribeConfigs, 1, answers::kConfigsV1, 6));
  ASSERT_TRUE(v1);
  EXPECT_THAT(v1->at("t").values, ElementsAre(Pair("min.insync.replicas", "2")));
}

TEST(DescribeConfigs, RequestsNameTheTopicAndItsKeys) {
  EXPECT_EQ(encode_describe_topic_configs(1, {"t"}, {"k"}), from_hex("00000001 02 0001 74 00000001 0001 6b 00"));
  EXPECT_EQ(encode_describe_topic_configs(3, {"t"}, {"k"}), from_hex("00000001 02 0001 74 00000001 0001 6b 00 00"));
  EXPECT_EQ(encode_describe_topic_configs(4, {"t"}, {"k"}), from_hex("02 02 02 74 02 02 6b 00 00 00 00"));
}

TEST(DescribeLogDirs, ReadsWhatARealBrokerAnsweredInEachEncoding) {
  for (const auto& [version, hex] : {std::pair{4, answers::kLogDirsV4}, {1, answers::kLogDirsV1}}) {
    const auto v = static_cast<std::int16_t>(version);
    const auto answer = decode_describe_log_dirs(v, body_of(kDescribeLogDirs, v, hex, 7));
    ASSERT_TRUE(answer) << version;
    EXPECT_EQ(answer->error, 0);
    EXPECT_THAT(answer->sizes, ElementsAre(Pair(TopicPartition{"t", 0}, 0)));
  }
}

TEST(DescribeLogDirs, AFutureReplicaIsNoReplicaAndAFailedDirectoryIsTold) {
  // v2: dir 1 fails with 56; dir 2 has t-0 (1,000 bytes) and a future t-1.
  const std::string body = from_hex(
      "00000000 03"
      "0038 02 61 01 00"
      "0000 02 62 02 02 74 03 00000000 00000000000003e8 0000000000000000 00 00"
      "00000001 00000000000003e8 0000000000000000 01 00 00 00 00");
  const auto answer = decode_describe_log_dirs(2, body);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error, 56);
  EXPECT_THAT(answer->sizes, ElementsAre(Pair(TopicPartition{"t", 0}, 1000)));
}

TEST(DescribeLogDirs, RequestsGroupPartitionsByTopic) {
  EXPECT_EQ(encode_describe_log_dirs(1, {{"b", 3}, {"a", 1}, {"b", 0}}),
            from_hex("00000002 0001 61 00000001 00000001 0001 62 00000002 00000003 00000000"));
  EXPECT_EQ(encode_describe_log_dirs(4, {{"a", 1}}), from_hex("02 02 61 02 00000001 00 00"));
}

}  // namespace
}  // namespace kro::kafka
