// What every KafkaAdmin must do, put to the fake and, where KRO_BOOTSTRAP names brokers, to real ones.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "contract/kafka/kafka_world.h"

namespace kro {
namespace {

using testing::AnyOf;
using testing::IsEmpty;
using testing::UnorderedElementsAreArray;

constexpr BrokerId kNoSuchBroker = 9999;

using Factory = std::function<std::unique_ptr<KafkaWorld>()>;

class KafkaAdminContract : public testing::TestWithParam<std::pair<std::string, Factory>> {
 protected:
  KafkaAdminContract() : world_(GetParam().second()), admin_(world_->admin()), b_(world_->brokers()) {}

  // Broker ids in the tests are 1, 2 and 3; on a real cluster they stand for its first three.
  [[nodiscard]] ReplicaList on(ReplicaList list) const {
    for (BrokerId& id : list) id = b_[static_cast<std::size_t>(id) - 1];
    return list;
  }
  std::string topic(const ReplicaList& replicas, const std::map<std::string, std::string>& configs = {}) {
    return world_->create_topic({on(replicas)}, configs);
  }
  KafkaMetadata metadata(const std::string& name) {
    auto seen = admin_.metadata({{name}}, KafkaWorld::soon());
    EXPECT_TRUE(seen) << seen.error().text();
    return seen.value_or(KafkaMetadata{});
  }
  KafkaPartition partition(const TopicPartition& tp) {
    const KafkaMetadata seen = metadata(tp.topic);
    const KafkaPartition* found = seen.find(tp);
    EXPECT_NE(found, nullptr) << tp.text();
    return found == nullptr ? KafkaPartition{} : *found;
  }
  OngoingReassignments running() {
    auto rows = admin_.list_reassignments(KafkaWorld::soon());
    EXPECT_TRUE(rows) << rows.error().text();
    return rows.value_or(OngoingReassignments{});
  }
  bool runs(const TopicPartition& tp) { return running().contains(tp); }
  AlterAnswers alter(const AlterRequest& request) {
    auto answers = admin_.alter_reassignments(request, 10s, KafkaWorld::soon());
    EXPECT_TRUE(answers) << answers.error().text();
    return answers.value_or(AlterAnswers{});
  }
  // The code of one partition.
  int move(const TopicPartition& tp, const ReplicaList& to) { return alter({{tp, to}})[tp].code; }
  int cancel(const TopicPartition& tp) { return alter({{tp, std::nullopt}})[tp].code; }
  bool ends_at(const TopicPartition& tp, const ReplicaList& list) {
    return world_->until([&] { return !runs(tp) && partition(tp).replicas == list; });
  }
  // A partition that moves and cannot finish.
  TopicPartition held_topic(const ReplicaList& replicas) {
    const TopicPartition tp{topic(replicas), 0};
    world_->fill(tp, kEnoughToHold);
    world_->hold(tp.topic);
    return tp;
  }

  std::unique_ptr<KafkaWorld> world_;
  KafkaAdmin& admin_;
  std::vector<BrokerId> b_;
};

TEST_P(KafkaAdminContract, MetadataTellsBrokersControllerAndReplicas) {
  const std::string name = world_->create_topic({on({1, 2}), on({3, 1})}, {});
  const KafkaMetadata seen = metadata(name);
  EXPECT_FALSE(seen.cluster_id.empty());
  EXPECT_GE(seen.brokers.size(), 3U);
  EXPECT_TRUE(seen.brokers.contains(seen.controller_id));
  const KafkaTopic& found = seen.topics.at(name);
  EXPECT_EQ(found.error, 0);
  EXPECT_FALSE(found.internal);
  EXPECT_EQ(found.id.size(), 36U);
  ASSERT_EQ(found.partitions.size(), 2U);
  EXPECT_EQ(found.partitions.at(0).replicas, on({1, 2}));
  EXPECT_EQ(found.partitions.at(1).replicas, on({3, 1}));
  EXPECT_EQ(found.partitions.at(1).leader, b_[2]);
  EXPECT_THAT(found.partitions.at(1).isr, UnorderedElementsAreArray(on({3, 1})));
  EXPECT_FALSE(admin_.kafka_version().empty());
}

TEST_P(KafkaAdminContract, MetadataOfAllTopicsAndOfNone) {
  const std::string name = topic({1, 2});
  const auto all = admin_.metadata(std::nullopt, KafkaWorld::soon());
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->topics.contains(name));
  const auto none = admin_.metadata(std::vector<std::string>(), KafkaWorld::soon());
  ASSERT_TRUE(none);
  EXPECT_THAT(none->topics, IsEmpty());
  EXPECT_GE(none->brokers.size(), 3U);
}

TEST_P(KafkaAdminContract, AnUnknownTopicComesBackWithError3) {
  const KafkaMetadata seen = metadata("no-such-topic");
  EXPECT_EQ(seen.topics.at("no-such-topic").error, kafka_error::kUnknownTopicOrPartition);
  EXPECT_THAT(seen.topics.at("no-such-topic").partitions, IsEmpty());
}

TEST_P(KafkaAdminContract, ATopicCreatedAgainHasAnotherId) {
  const std::string name = topic({1, 2});
  const std::string before = metadata(name).topics.at(name).id;
  world_->delete_topic(name);
  EXPECT_EQ(metadata(name).topics.at(name).error, kafka_error::kUnknownTopicOrPartition);
  world_->recreate_topic(name, {on({1, 2})});
  EXPECT_NE(metadata(name).topics.at(name).id, before);
}

TEST_P(KafkaAdminContract, AMoveEndsAtItsTarget) {
  const TopicPartition tp{topic({1, 2}), 0};
  EXPECT_FALSE(runs(tp));
  EXPECT_EQ(move(tp, on({2, 3})), 0);
  ASSERT_TRUE(ends_at(tp, on({2, 3})));
  EXPECT_TRUE(world_->until([&] {
    const KafkaPartition now = partition(tp);
    return now.leader == b_[1] && now.isr.size() == 2 && permutation(now.isr, on({2, 3}));
  }));
}

TEST_P(KafkaAdminContract, ALeaderThatStaysInTheTargetKeepsLeading) {
  const TopicPartition tp{topic({1, 2}), 0};
  EXPECT_EQ(move(tp, on({3, 1})), 0);
  ASSERT_TRUE(ends_at(tp, on({3, 1})));
  EXPECT_EQ(partition(tp).leader, b_[0]);
}

TEST_P(KafkaAdminContract, TheReplicationFactorGrowsAndShrinks) {
  const TopicPartition tp{topic({1}), 0};
  EXPECT_EQ(move(tp, on({1, 2, 3})), 0);
  ASSERT_TRUE(ends_at(tp, on({1, 2, 3})));
  EXPECT_EQ(move(tp, on({3})), 0);
  ASSERT_TRUE(ends_at(tp, on({3})));
  EXPECT_TRUE(world_->until([&] { return partition(tp).leader == b_[2] && partition(tp).isr == on({3}); }));
}

TEST_P(KafkaAdminContract, ANewOrderOfTheSameReplicasIsDoneWhenAnswered) {
  const TopicPartition tp{topic({1, 2}), 0};
  EXPECT_EQ(move(tp, on({2, 1})), 0);
  EXPECT_FALSE(runs(tp));
  ASSERT_TRUE(ends_at(tp, on({2, 1})));
  EXPECT_EQ(partition(tp).leader, b_[0]);
  EXPECT_EQ(move(tp, on({2, 1})), 0) << "the list that is there already";
  EXPECT_FALSE(runs(tp));
}

TEST_P(KafkaAdminContract, InFlightTheListsAreTargetThenRemoved) {
  const TopicPartition tp = held_topic({1, 2});
  EXPECT_EQ(move(tp, on({2, 3})), 0);
  const OngoingReassignments rows = running();
  ASSERT_TRUE(rows.contains(tp));
  EXPECT_EQ(rows.at(tp).replicas, on({2, 3, 1}));
  EXPECT_EQ(rows.at(tp).adding, on({3}));
  EXPECT_EQ(rows.at(tp).removing, on({1}));
  EXPECT_EQ(rows.at(tp).target(), on({2, 3}));
  EXPECT_EQ(rows.at(tp).origin(), on({2, 1}));
  EXPECT_TRUE(world_->until([&] { return partition(tp).replicas == on({2, 3, 1}); }));
  EXPECT_THAT(partition(tp).isr, UnorderedElementsAreArray(on({1, 2})));
  EXPECT_EQ(partition(tp).leader, b_[0]);

  EXPECT_EQ(move(tp, on({2, 3})), 0) << "the same target again";
  EXPECT_TRUE(runs(tp));
  world_->release(tp.topic);
  EXPECT_TRUE(ends_at(tp, on({2, 3})));
}

// Measured on 3.9.1: the order is lost exactly when the kept originals stand in another order in the target.
TEST_P(KafkaAdminContract, NullGivesTheReplicasWithoutTheAddingOnes) {
  const TopicPartition tp = held_topic({1, 2});
  const std::vector<std::pair<ReplicaList, ReplicaList>> table = {
      {{2, 3}, {2, 1}}, {{3, 2}, {2, 1}},    {{3, 1}, {1, 2}},    {{1, 3}, {1, 2}},
      {{3}, {1, 2}},    {{3, 1, 2}, {1, 2}}, {{3, 2, 1}, {2, 1}}, {{1, 2, 3}, {1, 2}}};
  for (const auto& [target, after] : table) {
    EXPECT_EQ(move(tp, on(target)), 0) << to_text(target);
    EXPECT_TRUE(runs(tp)) << to_text(target);
    EXPECT_EQ(cancel(tp), 0) << to_text(target);
    EXPECT_FALSE(runs(tp)) << to_text(target);
    EXPECT_TRUE(ends_at(tp, on(after))) << to_text(target);
    // The saved list brings the order back at once.
    EXPECT_EQ(move(tp, on({1, 2})), 0);
    EXPECT_TRUE(ends_at(tp, on({1, 2}))) << to_text(target);
  }
}

TEST_P(KafkaAdminContract, AChangeInFlightKeepsTheOriginAndStopsTheOthersAtOnce) {
  const TopicPartition tp = held_topic({1, 2});
  EXPECT_EQ(move(tp, on({2, 3})), 0);
  EXPECT_EQ(move(tp, on({1, 3})), 0);
  OngoingReassignments rows = running();
  ASSERT_TRUE(rows.contains(tp));
  EXPECT_EQ(rows.at(tp).replicas, on({1, 3, 2}));
  EXPECT_EQ(rows.at(tp).adding, on({3}));
  EXPECT_EQ(rows.at(tp).removing, on({2}));

  EXPECT_EQ(move(tp, on({2, 1})), 0);
  EXPECT_FALSE(runs(tp)) << "3 is in neither and stops, and nothing is left to wait for";
  EXPECT_TRUE(ends_at(tp, on({2, 1})));
}

TEST_P(KafkaAdminContract, ASmallerTargetInFlightDropsTheLeaderAtOnce) {
  const TopicPartition tp = held_topic({1, 2});
  EXPECT_EQ(move(tp, on({3})), 0);
  EXPECT_EQ(move(tp, on({2})), 0);
  EXPECT_FALSE(runs(tp));
  ASSERT_TRUE(ends_at(tp, on({2})));
  EXPECT_TRUE(world_->until([&] { return partition(tp).leader == b_[1] && partition(tp).isr == on({2}); }));
}

TEST_P(KafkaAdminContract, NullIsRefusedWith85WhenNothingRuns) {
  const TopicPartition tp{topic({1, 2}), 0};
  EXPECT_EQ(cancel(tp), kafka_error::kNoReassignmentInProgress);
  // ZooKeeper mode says 85, KRaft 3.
  EXPECT_THAT(cancel({"no-such-topic", 0}),
              AnyOf(kafka_error::kNoReassignmentInProgress, kafka_error::kUnknownTopicOrPartition));
  EXPECT_EQ(partition(tp).replicas, on({1, 2}));
}

TEST_P(KafkaAdminContract, WhatDoesNotExistIsRefusedWith3) {
  const std::string name = topic({1, 2});
  EXPECT_EQ(move({"no-such-topic", 0}, on({1, 2})), kafka_error::kUnknownTopicOrPartition);
  EXPECT_EQ(move({name, 7}, on({1, 2})), kafka_error::kUnknownTopicOrPartition);
}

TEST_P(KafkaAdminContract, ABrokerThatIsNotAliveIsRefusedWith39) {
  const TopicPartition tp{topic({1, 2}), 0};
  EXPECT_EQ(move(tp, {b_[0], kNoSuchBroker}), kafka_error::kInvalidReplicaAssignment);
  // ZooKeeper mode looks at the brokers first, KRaft at the topic.
  EXPECT_THAT(move({"no-such-topic", 0}, {kNoSuchBroker}),
              AnyOf(kafka_error::kInvalidReplicaAssignment, kafka_error::kUnknownTopicOrPartition));
  EXPECT_EQ(partition(tp).replicas, on({1, 2}));
  EXPECT_FALSE(runs(tp));
}

TEST_P(KafkaAdminContract, EachPartitionHasItsOwnAnswer) {
  const std::string name = world_->create_topic({on({1, 2}), on({1, 2}), on({1, 2})}, {});
  const auto answers = alter({{{name, 0}, on({2, 3})},
                              {{name, 1}, ReplicaList{kNoSuchBroker}},
                              {{name, 2}, std::nullopt},
                              {{"no-such-topic", 0}, on({1})}});
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers.at({name, 0}).code, 0);
  EXPECT_EQ(answers.at({name, 1}).code, kafka_error::kInvalidReplicaAssignment);
  EXPECT_FALSE(answers.at({name, 1}).message.empty());
  EXPECT_EQ(answers.at({name, 2}).code, kafka_error::kNoReassignmentInProgress);
  EXPECT_EQ(answers.at({"no-such-topic", 0}).code, kafka_error::kUnknownTopicOrPartition);
  EXPECT_TRUE(ends_at({name, 0}, on({2, 3})));
}

TEST_P(KafkaAdminContract, ManyPartitionsInOneCall) {
  const std::string name = world_->create_topic(std::vector<ReplicaList>(40, on({1, 2})), {});
  AlterRequest request;
  for (PartitionId i = 0; i < 40; ++i) request[{name, i}] = on({2, 3});
  for (const auto& [tp, answer] : alter(request)) EXPECT_EQ(answer.code, 0) << tp.text();
  EXPECT_TRUE(world_->until([&] {
    const KafkaMetadata seen = metadata(name);
    for (const auto& [index, p] : seen.topics.at(name).partitions)
      if (p.replicas != on({2, 3})) return false;
    return true;
  }));
}

// Kafka 3.9 in ZooKeeper mode does not wait for the reassignment to end.
TEST_P(KafkaAdminContract, ATopicDeletedInFlightIsGoneAtOnce) {
  const TopicPartition tp = held_topic({1, 2});
  EXPECT_EQ(move(tp, on({2, 3})), 0);
  EXPECT_TRUE(runs(tp));
  world_->delete_topic(tp.topic);
  EXPECT_TRUE(world_->until([&] { return !runs(tp); }));
  EXPECT_EQ(metadata(tp.topic).topics.at(tp.topic).error, kafka_error::kUnknownTopicOrPartition);
}

TEST_P(KafkaAdminContract, ConfigsOfTheNamedKeysOnly) {
  const std::string set = topic({1, 2}, {{"min.insync.replicas", "2"}, {"retention.ms", "1234567"}});
  const std::string unset = topic({1, 2});
  const auto read = admin_.topic_configs({set, unset, "no-such-topic"}, {"min.insync.replicas"}, KafkaWorld::soon());
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, (TopicConfigs{{set, {{"min.insync.replicas", "2"}}}, {unset, {{"min.insync.replicas", "1"}}}}));
  const auto nothing = admin_.topic_configs({}, {"min.insync.replicas"}, KafkaWorld::soon());
  ASSERT_TRUE(nothing);
  EXPECT_THAT(*nothing, IsEmpty());
}

TEST_P(KafkaAdminContract, LogDirSizesOfTheReplicasThatABrokerHolds) {
  const std::string name = world_->create_topic({on({1, 2}), on({2, 3})}, {});
  world_->fill({name, 0}, 1'000'000);
  const std::vector<TopicPartition> asked = {{name, 0}, {name, 1}, {"no-such-topic", 0}};
  const auto one = admin_.log_dir_sizes(b_[0], asked, KafkaWorld::soon());
  const auto two = admin_.log_dir_sizes(b_[1], asked, KafkaWorld::soon());
  ASSERT_TRUE(one) << one.error().text();
  ASSERT_TRUE(two) << two.error().text();
  ASSERT_EQ(one->size(), 1U);
  EXPECT_GE(one->at({name, 0}), 1'000'000);
  ASSERT_EQ(two->size(), 2U);
  EXPECT_EQ(two->at({name, 1}), 0);
}

TEST_P(KafkaAdminContract, LogDirSizesOfABrokerThatIsNotThere) {
  const auto sizes = admin_.log_dir_sizes(kNoSuchBroker, {{"t", 0}}, KafkaWorld::soon());
  ASSERT_FALSE(sizes);
  EXPECT_EQ(sizes.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(sizes.error().retry, Retry::kTransient);
}

TEST_P(KafkaAdminContract, ACallThatIsStoppedBeforehandChangesNothing) {
  const TopicPartition tp{topic({1, 2}), 0};
  std::stop_source stop;
  stop.request_stop();
  const auto read = admin_.list_reassignments(KafkaWorld::soon(stop.get_token()));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCancelled);
  const auto changed = admin_.alter_reassignments({{tp, on({2, 1})}}, 10s, KafkaWorld::soon(stop.get_token()));
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(changed.error().retry, Retry::kTransient);
  EXPECT_EQ(partition(tp).replicas, on({1, 2}));
  EXPECT_THAT(admin_.late_answers(), IsEmpty());
}

TEST_P(KafkaAdminContract, AnEmptyListIsAsserted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a client may own a thread for looking up names
  const TopicPartition tp{topic({1, 2}), 0};
  EXPECT_DEATH((void)admin_.alter_reassignments({{tp, ReplicaList{}}}, 10s, KafkaWorld::soon()),
               "replica_list_problem");
  EXPECT_DEATH((void)admin_.alter_reassignments({{tp, ReplicaList{1, 1}}}, 10s, KafkaWorld::soon()),
               "replica_list_problem");
}

std::vector<std::pair<std::string, Factory>> worlds() {
  std::vector<std::pair<std::string, Factory>> out = {{"fake", make_fake_world}};
  if (const char* bootstrap = std::getenv("KRO_BOOTSTRAP"); bootstrap != nullptr && *bootstrap != '\0')
    out.emplace_back("real", [at = std::string(bootstrap)] { return make_real_world(at); });
  return out;
}

INSTANTIATE_TEST_SUITE_P(Kafka, KafkaAdminContract, testing::ValuesIn(worlds()),
                         [](const auto& each) { return each.param.first; });

}  // namespace
}  // namespace kro
