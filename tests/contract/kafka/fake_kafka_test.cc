// What the fake does beyond the suite: dead brokers as measured on 3.9.1 (shared brokers cannot be killed), speeds,
// and its own controls.

#include "fakes/fake_kafka.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kro {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const TopicPartition kTp{"t", 0};

class FakeKafkaTest : public testing::Test {
 protected:
  FakeKafkaTest() {
    for (const BrokerId id : {1, 2, 3}) kafka_.add_broker(id);
  }
  void topic(const ReplicaList& replicas, std::int64_t bytes = 1000) {
    kafka_.create_topic("t", {replicas});
    kafka_.set_bytes(kTp, bytes);
  }
  KafkaPartition now() { return kafka_.truth().topics.at("t").partitions.at(0); }
  int alter(const std::optional<ReplicaList>& to) {
    return kafka_.alter_reassignments({{kTp, to}}, 10s, {})->at(kTp).code;
  }
  bool runs() { return kafka_.running().contains(kTp); }

  FakeKafka kafka_;
};

TEST_F(FakeKafkaTest, NothingMovesWithoutAStep) {
  topic({1, 2});
  EXPECT_EQ(alter(ReplicaList{2, 3}), 0);
  EXPECT_TRUE(runs());
  EXPECT_EQ(now().isr, (ReplicaList{1, 2}));
  kafka_.step();
  EXPECT_FALSE(runs());
  EXPECT_EQ(now().replicas, (ReplicaList{2, 3}));
}

TEST_F(FakeKafkaTest, ReplicasCatchUpAtTheSpeedThatIsSet) {
  topic({1, 2}, 1000);
  kafka_.set_speed(100);
  EXPECT_EQ(alter(ReplicaList{2, 3}), 0);
  for (int i = 0; i < 99; ++i) kafka_.advance(100ms);
  EXPECT_TRUE(runs());
  EXPECT_EQ(kafka_.log_dir_sizes(3, {kTp}, {})->at(kTp), 990);
  EXPECT_EQ(kafka_.log_dir_sizes(1, {kTp}, {})->at(kTp), 1000);
  kafka_.advance(100ms);
  EXPECT_FALSE(runs());
  EXPECT_THAT(*kafka_.log_dir_sizes(1, {kTp}, {}), IsEmpty());
}

TEST_F(FakeKafkaTest, ASpeedOfZeroIsStuckUntilItIsRaised) {
  topic({1, 2}, 0);
  kafka_.set_speed(kTp, 0);
  EXPECT_EQ(alter(ReplicaList{2, 3}), 0);
  kafka_.advance(1h);
  EXPECT_TRUE(runs());
  kafka_.set_speed(kTp, std::nullopt);
  kafka_.settle();
  EXPECT_FALSE(runs());
}

// facts 2.9: an adding replica that died is refused when sent again; one of the origin is not.
TEST_F(FakeKafkaTest, TheRunningTargetSentAgainIsRefusedWhileItsAddingBrokerIsDead) {
  topic({1, 2});
  kafka_.set_speed(0);
  EXPECT_EQ(alter(ReplicaList{2, 3}), 0);
  kafka_.set_alive(3, false);
  EXPECT_EQ(alter(ReplicaList{2, 3}), kafka_error::kInvalidReplicaAssignment);
  EXPECT_TRUE(runs()) << "what runs goes on";
  kafka_.set_speed(std::nullopt);
  kafka_.advance(1h);
  EXPECT_TRUE(runs());
  kafka_.set_alive(3, true);
  kafka_.settle();
  EXPECT_EQ(now().replicas, (ReplicaList{2, 3}));
}

TEST_F(FakeKafkaTest, ADeadOriginMayBeKeptOrRemoved) {
  topic({2, 3});
  kafka_.set_alive(3, false);
  EXPECT_EQ(now().isr, (ReplicaList{2}));
  EXPECT_EQ(alter(ReplicaList{1, 3}), 0);
  kafka_.settle();
  EXPECT_TRUE(runs()) << "3 cannot join";
  EXPECT_EQ(alter(ReplicaList{1, 2}), 0);
  kafka_.settle();
  EXPECT_FALSE(runs());
  EXPECT_EQ(now().replicas, (ReplicaList{1, 2}));
}

TEST_F(FakeKafkaTest, LeadersAreElectedFromTheIsrAndTheLastOfItNeverLeaves) {
  topic({1, 2});
  kafka_.set_alive(1, false);
  EXPECT_EQ(now().leader, 2);
  EXPECT_EQ(now().isr, (ReplicaList{2}));
  kafka_.set_alive(2, false);
  EXPECT_EQ(now().leader, -1);
  EXPECT_EQ(now().error, kafka_error::kLeaderNotAvailable);
  EXPECT_EQ(now().isr, (ReplicaList{2}));
  kafka_.set_alive(1, true);
  kafka_.settle();
  EXPECT_EQ(now().leader, -1) << "1 is not in the ISR";
  kafka_.set_alive(2, true);
  kafka_.settle();
  EXPECT_EQ(now().leader, 2);
  EXPECT_THAT(now().isr, testing::UnorderedElementsAre(1, 2));
}

// facts 2.11, e11a: the adding replica was not in the ISR: the roll back is good once the originals are back.
TEST_F(FakeKafkaTest, ARollBackToDeadOriginalsThatHoldTheIsrHeals) {
  topic({1, 2});
  kafka_.set_speed(0);
  EXPECT_EQ(alter(ReplicaList{3}), 0);
  kafka_.set_alive(1, false);
  kafka_.set_alive(2, false);
  EXPECT_EQ(now().isr, (ReplicaList{2}));
  EXPECT_EQ(alter(std::nullopt), 0);
  EXPECT_EQ(now().replicas, (ReplicaList{1, 2}));
  EXPECT_EQ(now().leader, -1);
  kafka_.set_speed(std::nullopt);
  kafka_.set_alive(1, true);
  kafka_.set_alive(2, true);
  kafka_.settle();
  EXPECT_EQ(now().leader, 2);
  EXPECT_EQ(now().isr, (ReplicaList{2, 1}));
}

// facts 2.11, e11b: Kafka answers 0, and the partition stays without a leader for good.
TEST_F(FakeKafkaTest, ARollBackToOriginalsOutsideTheIsrLosesThePartition) {
  kafka_.add_broker(9);
  topic({1, 2});
  kafka_.set_speed(kTp, std::nullopt);
  EXPECT_EQ(alter(ReplicaList{3, 9}), 0);
  kafka_.set_alive(9, false);
  kafka_.step();
  kafka_.set_alive(1, false);
  kafka_.set_alive(2, false);
  EXPECT_EQ(now().leader, 3);
  EXPECT_EQ(now().isr, (ReplicaList{3}));
  EXPECT_EQ(alter(std::nullopt), 0);
  for (const bool restarted : {false, true}) {
    kafka_.set_alive(1, restarted);
    kafka_.set_alive(2, restarted);
    kafka_.settle();
    EXPECT_EQ(now().replicas, (ReplicaList{1, 2}));
    EXPECT_EQ(now().leader, -1);
    EXPECT_EQ(now().isr, (ReplicaList{3}));
  }
}

// facts 2.12: it hangs until the dead broker is back, its data gone already.
TEST_F(FakeKafkaTest, ATopicDeletedWithADeadReplicaHangs) {
  topic({1, 2});
  kafka_.set_speed(0);
  EXPECT_EQ(alter(ReplicaList{2, 3}), 0);
  kafka_.set_alive(3, false);
  kafka_.delete_topic("t");
  const auto seen = kafka_.metadata({{"t"}}, {});
  EXPECT_EQ(seen->topics.at("t").error, kafka_error::kUnknownTopicOrPartition);
  EXPECT_TRUE(runs()) << "API 46 still lists it";
  EXPECT_EQ(alter(std::nullopt), kafka_error::kUnknownTopicOrPartition);
  EXPECT_EQ(alter(ReplicaList{1, 2}), kafka_error::kUnknownTopicOrPartition);
  EXPECT_FALSE(kafka_.create_topic("t", {{1, 2}}));
  kafka_.set_alive(3, true);
  EXPECT_FALSE(runs());
  EXPECT_TRUE(kafka_.create_topic("t", {{1, 2}}));
}

TEST_F(FakeKafkaTest, APoisonedPartitionIsHealedByAnyList) {
  for (const std::optional<ReplicaList>& list : {std::optional<ReplicaList>(), {{1, 2}}, {{2, 3}}}) {
    kafka_.delete_topic("t");
    topic({1, 2});
    kafka_.poison(kTp);
    kafka_.advance(1h);
    ASSERT_TRUE(runs());
    EXPECT_THAT(kafka_.running().at(kTp).target(), IsEmpty());
    EXPECT_EQ(alter(list), 0);
    kafka_.settle();
    EXPECT_FALSE(runs());
    EXPECT_EQ(now().replicas, list.value_or(ReplicaList{1, 2}));
  }
}

TEST_F(FakeKafkaTest, ALostAnswerLeavesTheCallDoneOrNotDone) {
  topic({1, 2});
  for (const auto& [fate, after] : {std::pair{FakeKafka::kLostNotApplied, ReplicaList{1, 2}},
                                    std::pair{FakeKafka::kLostApplied, ReplicaList{2, 1}}}) {
    kafka_.next_alter(fate);
    const auto answer = kafka_.alter_reassignments({{kTp, ReplicaList{2, 1}}}, 10s, {});
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
    EXPECT_EQ(answer.error().retry, Retry::kAmbiguous);
    kafka_.advance(1h);
    EXPECT_EQ(now().replicas, after);
    EXPECT_THAT(kafka_.late_answers(), IsEmpty());
  }
}

TEST_F(FakeKafkaTest, ADelayedCallIsAppliedAndAnsweredLater) {
  topic({1, 2});
  kafka_.next_alter({3s, 5s});
  ASSERT_FALSE(kafka_.alter_reassignments({{kTp, ReplicaList{2, 1}}}, 10s, {}));
  kafka_.advance(2s);
  EXPECT_EQ(now().replicas, (ReplicaList{1, 2}));
  kafka_.advance(1s);
  EXPECT_EQ(now().replicas, (ReplicaList{2, 1}));
  EXPECT_THAT(kafka_.late_answers(), IsEmpty());
  kafka_.advance(2s);
  const auto other = kafka_.make_client();
  EXPECT_THAT(other->late_answers(), IsEmpty()) << "it belongs to another connection";
  const auto late = kafka_.late_answers();
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].at(kTp).code, 0);
  EXPECT_THAT(kafka_.late_answers(), IsEmpty());
}

TEST_F(FakeKafkaTest, AClusterThatIsAwayOrRefusesDoesNothing) {
  topic({1, 2});
  const AlterRequest request = {{kTp, ReplicaList{2, 1}}};
  kafka_.set_away(true);
  EXPECT_EQ(kafka_.alter_reassignments(request, 10s, {}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(kafka_.metadata(std::nullopt, {}).error().retry, Retry::kTransient);
  kafka_.set_away(false);
  kafka_.fail_next(1);
  EXPECT_EQ(kafka_.alter_reassignments(request, 10s, {}).error().retry, Retry::kTransient);
  kafka_.refuse_with(kafka_error::kNotController);
  EXPECT_EQ(kafka_.alter_reassignments(request, 10s, {}).error().retry, Retry::kTransient);
  kafka_.refuse_with(kafka_error::kClusterAuthorizationFailed);
  EXPECT_EQ(kafka_.list_reassignments({}).error().code, ErrorCode::kUnauthorized);
  kafka_.refuse_with(0);
  EXPECT_EQ(now().replicas, (ReplicaList{1, 2}));
  EXPECT_EQ(alter(ReplicaList{2, 1}), 0);
  EXPECT_EQ(now().replicas, (ReplicaList{2, 1}));
}

TEST_F(FakeKafkaTest, TheHistoryTellsEveryCall) {
  topic({1, 2});
  const auto other = kafka_.make_client();
  (void)kafka_.list_reassignments({});
  kafka_.advance(7s);
  (void)other->alter_reassignments({{kTp, ReplicaList{2, 1}}}, 10s, {});
  EXPECT_EQ(kafka_.foreign_alter(kTp, ReplicaList{1, 2}), 0);
  ASSERT_THAT(kafka_.history(), SizeIs(2));
  EXPECT_EQ(kafka_.history()[0].api, "ListPartitionReassignments");
  const FakeKafka::Call& call = kafka_.history()[1];
  EXPECT_EQ(call.api, "AlterPartitionReassignments");
  EXPECT_EQ(call.at, 7s);
  EXPECT_EQ(call.client, 1);
  EXPECT_TRUE(call.answered);
  EXPECT_EQ(call.request.at(kTp), (ReplicaList{2, 1}));
  EXPECT_EQ(call.answers.at(kTp).code, 0);
}

}  // namespace
}  // namespace kro
