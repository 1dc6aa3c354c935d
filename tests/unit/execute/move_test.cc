#include "unit/execute/controller_rig.h"

namespace kro::execute::test {
namespace {

using Texts = std::vector<std::string>;

class Move : public ControllerRig {
 protected:
  Move() {
    kafka.create_topic("orders", {{1, 2}, {2, 3}, {3, 1}, {1, 3}, {2, 1}, {3, 2}});
    kafka.set_speed(0);  // nothing gets anywhere until a test says so
  }
  const TopicPartition p0{"orders", 0};
  const TopicPartition p1{"orders", 1};

  void go() { kafka.set_speed(std::nullopt); }
  bool running(const TopicPartition& tp) { return kafka.running().contains(tp); }
};

TEST_F(Move, NewerRequestTakesThePartitionOver) {
  const std::string older = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return running(p0); }));
  const std::string newer = move("orders", R"("0":[1,4])");
  ASSERT_TRUE(until([&] { return done(older); }));
  EXPECT_EQ(outcome(older, p0), "superseded");
  EXPECT_EQ(znode(p0)->assignment, (ReplicaList{1, 4}));
  EXPECT_EQ(znode(p0)->originals, (ReplicaList{1, 2}));
  EXPECT_EQ(znode(p0)->earlier, (std::vector<ReplicaList>{{2, 3}}));
  EXPECT_EQ(znode(p0)->request, newer);
  EXPECT_FALSE(in_inbox(newer));
  go();
  ASSERT_TRUE(until([&] { return done(newer); }));
  EXPECT_EQ(outcome(newer, p0), "completed");
  EXPECT_EQ(list(p0), (ReplicaList{1, 4}));
}

TEST_F(Move, OnlyTheNewestOfTwoWaitingRequestsStarts) {
  const std::string older = move("orders", R"("0":[2,3])");
  const std::string newer = move("orders", R"("0":[1,4])");
  ASSERT_TRUE(until([&] { return done(older); }));
  EXPECT_EQ(outcome(older, p0), "superseded");
  EXPECT_FALSE(in_inbox(older));
  go();
  ASSERT_TRUE(until([&] { return done(newer); }));
  EXPECT_EQ(calls(p0), Texts{"1,4"}) << "the older target never reached Kafka";
}

TEST_F(Move, SameTargetIsJoined) {
  const std::string first = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return running(p0); }));
  const std::int64_t mzxid = zk->peek(tree::reassignment(p0))->stat.mzxid;
  const std::string second = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return result(second) && contains(result(second)->joined, p0); }));
  EXPECT_EQ(zk->peek(tree::reassignment(p0))->stat.mzxid, mzxid) << "its znode stays untouched";
  EXPECT_FALSE(in_inbox(second));
  go();
  ASSERT_TRUE(until([&] { return done(first) && done(second); }));
  EXPECT_EQ(outcome(first, p0), "completed");
  EXPECT_EQ(outcome(second, p0), "completed");
}

TEST_F(Move, JoinedRequestIsSupersededWithTheOneThatStarted) {
  const std::string first = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return running(p0); }));
  const std::string second = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return result(second) && contains(result(second)->joined, p0); }));
  const std::string third = move("orders", R"("0":[1,4])");
  ASSERT_TRUE(until([&] { return done(first) && done(second); }));
  EXPECT_EQ(outcome(first, p0), "superseded");
  EXPECT_EQ(outcome(second, p0), "superseded");
  go();
  ASSERT_TRUE(until([&] { return done(third); }));
}

TEST_F(Move, AlreadyThereIsCompletedWithoutAZnode) {
  const std::string name = move("orders", R"("0":[1,2])");
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(outcome(name, p0), "completed");
  EXPECT_EQ(calls(p0), Texts{});
}

TEST_F(Move, OneOfARequestAtATime) {
  go();
  int most = 0;
  tap.after_write = [&](const std::vector<ZkOp>&, bool) {
    most = std::max(most, static_cast<int>(zk->names("/admin/reassignments/orders").size()));
  };
  const std::string name = move("orders", R"("0":[2,3],"1":[3,1],"2":[1,2],"3":[3,2])", R"(,"max_in_flight":1)");
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(most, 1);
  EXPECT_EQ(result(name)->finished_count("completed"), 4U);
}

TEST_F(Move, SlowPartitionHoldsNobodyUp) {
  go();
  kafka.set_speed(p0, 0);
  const std::string name = move("orders", R"("0":[2,3],"1":[3,1],"2":[1,2],"3":[3,2])", R"(,"max_in_flight":2)");
  const std::string other = move("orders", R"("4":[2,3])");
  ASSERT_TRUE(until([&] { return done(other) && result(name)->finished_count("completed") == 3; }));
  EXPECT_FALSE(done(name));
  EXPECT_FALSE(in_inbox(name));
}

TEST_F(Move, WaitingRequestSaysSoAndGoesOn) {
  const std::string name = move("orders", R"("0":[2,3],"1":[3,1])", R"(,"max_in_flight":1)");
  ASSERT_TRUE(until([&] { return running(p0); }));
  run_for(10s);
  EXPECT_EQ(result(name)->waiting, 1);
  EXPECT_TRUE(in_inbox(name)) << "a half-started request stays in the inbox";
  go();
  ASSERT_TRUE(until([&] { return done(name); }));
}

TEST_F(Move, HealthGateHoldsWhileAPartitionIsUnderReplicated) {
  go();
  kafka.create_topic("sick", {{5, 6}});
  kafka.set_alive(6, false);
  const std::string gated = move("orders", R"("0":[2,3])", R"(,"health_gate":true)");
  const std::string plain = move("orders", R"("1":[3,1])");
  ASSERT_TRUE(until([&] { return done(plain) && result(gated)->holding == "ClusterUnhealthy"; }));
  EXPECT_EQ(calls(p0), Texts{});
  kafka.set_alive(6, true);
  ASSERT_TRUE(until([&] { return done(gated); }));
}

TEST_F(Move, ChangeThatWouldDropTheLeaderWaitsForTheEnd) {
  kafka.create_topic("big", {{1, 2}});
  const TopicPartition big{"big", 0};
  const std::string first = move("big", R"("0":[3,4])");
  ASSERT_TRUE(until([&] { return running(big); }));
  kafka.set_alive(4, false);
  kafka.set_speed(big, std::nullopt);
  kafka.step();  // 3 joins
  kafka.set_alive(1, false);
  kafka.set_alive(2, false);
  ASSERT_EQ(kafka.truth().find(big)->leader, 3);
  const std::string second = move("big", R"("0":[5,6])");
  ASSERT_TRUE(until([&] { return result(second) && result(second)->holding == "DropSet"; }));
  EXPECT_EQ(calls(big), Texts{"3,4"});
  kafka.set_alive(4, true);
  ASSERT_TRUE(until([&] { return done(first) && done(second); }));
  EXPECT_EQ(outcome(first, big), "completed");
  EXPECT_EQ(outcome(second, big), "completed");
  EXPECT_EQ(calls(big), (Texts{"3,4", "5,6"}));
}

TEST_F(Move, ForeignMoveIsRefusedAndPublished) {
  ASSERT_EQ(kafka.foreign_alter(p0, ReplicaList{2, 3}), 0);
  const std::string name = move("orders", R"("0":[1,4],"1":[3,1])");
  ASSERT_TRUE(until([&] { return result(name) && !outcome(name, p0).empty(); }));
  EXPECT_EQ(outcome(name, p0), "ForeignMove");
  ASSERT_TRUE(until([&] { return zk->peek(std::string(tree::kForeign)).has_value(); }));
  const auto foreign = tree::decode_foreign(zk->peek(std::string(tree::kForeign))->data);
  ASSERT_TRUE(foreign);
  ASSERT_EQ(foreign->moves.size(), 1U);
  EXPECT_EQ(foreign->moves[0].target, (ReplicaList{2, 3}));
  go();
  ASSERT_TRUE(until([&] { return tree::decode_foreign(zk->peek(std::string(tree::kForeign))->data)->total == 0; }));
}

TEST_F(Move, ChangedBySomebodyElseWhileItWaits) {
  const std::string name = move("orders", R"("0":[2,3],"1":[3,1])", R"(,"max_in_flight":1)");
  ASSERT_TRUE(until([&] { return running(p0); }));
  kafka.set_speed(p1, std::nullopt);
  ASSERT_EQ(kafka.foreign_alter(p1, ReplicaList{4, 5}), 0);
  kafka.step();
  go();
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(outcome(name, p0), "completed");
  EXPECT_EQ(outcome(name, p1), "changed_outside");
  EXPECT_EQ(list(p1), (ReplicaList{4, 5}));
  EXPECT_EQ(calls(p1), Texts{});
}

TEST_F(Move, ChangedBySomebodyElseInFlight) {
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return running(p0); }));
  ASSERT_EQ(kafka.foreign_alter(p0, ReplicaList{1, 5}), 0);
  const auto at = clock.now().mono;
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(outcome(name, p0), "changed_outside");
  EXPECT_GE(clock.now().mono - at, 5s) << "two polls at least 5 s apart";
  EXPECT_EQ(calls(p0), Texts{"2,3"}) << "nobody fights over a partition";
}

TEST_F(Move, OneRequestAfterTheOtherIsNotChangedOutside) {
  // Accepted while the first runs; the first ends, and the second starts from where it ended.
  const std::string first = move("orders", R"("0":[2,3],"1":[3,1])", R"(,"max_in_flight":1)");
  ASSERT_TRUE(until([&] { return running(p0); }));
  const std::string second = move("orders", R"("1":[4,5])", R"(,"health_gate":true)");
  kafka.create_topic("sick", {{5, 6}});
  kafka.set_alive(6, false);
  ASSERT_TRUE(until([&] { return result(second).has_value(); }));
  go();
  run_for(10s);
  kafka.set_alive(6, true);
  ASSERT_TRUE(until([&] { return done(first) && done(second); }));
  EXPECT_EQ(outcome(second, p1), "completed");
  EXPECT_EQ(list(p1), (ReplicaList{4, 5}));
}

TEST_F(Move, TopicDeletedInFlight) {
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return running(p0); }));
  kafka.delete_topic("orders");
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(outcome(name, p0), "topic_deleted");
  EXPECT_TRUE(topics_in_flight().empty());
}

TEST_F(Move, NamesakeOfADeletedTopicIsLeftAlone) {
  const std::string name = move("orders", R"("0":[2,3],"1":[3,1])", R"(,"max_in_flight":1)");
  ASSERT_TRUE(until([&] { return running(p0); }));
  kafka.delete_topic("orders");
  kafka.create_topic("orders", {{1, 2}, {2, 3}});
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(outcome(name, p0), "topic_deleted");
  EXPECT_EQ(outcome(name, p1), "topic_deleted");
  EXPECT_EQ(calls(p0).size(), 1U) << "no call is made for the namesake";
  EXPECT_EQ(list(p0), (ReplicaList{1, 2}));
}

TEST_F(Move, DeadTargetBrokerIsNoErrorAndIsNamed) {
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return running(p0); }));
  kafka.set_alive(3, false);
  ASSERT_TRUE(until([&] { return result(name)->problems_total == 1; }));
  const tree::Problem problem = result(name)->problems.at(0);
  EXPECT_EQ(problem.cause, "TargetBrokerDown");
  EXPECT_EQ(problem.brokers, (std::vector<BrokerId>{3}));
  EXPECT_EQ(problem.originals, (ReplicaList{1, 2}));
  EXPECT_EQ(problem.if_cancelled, "restored");
  const std::string since = problem.since;
  run_for(30s);
  EXPECT_EQ(result(name)->problems.at(0).since, since);
  kafka.set_alive(3, true);
  go();
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_TRUE(result(name)->problems.empty());
}

TEST_F(Move, RefusedByKafkaThenAccepted) {
  limits.max_in_flight = 1;
  processes.clear();
  run_for(1s);
  start("limited");
  const std::string first = move("orders", R"("0":[2,3])");
  const std::string second = move("orders", R"("1":[3,4])");
  ASSERT_TRUE(until([&] { return running(p0) && result(second); }));
  kafka.set_alive(4, false);  // accepted while it lived: Kafka answers 39 at the start
  go();
  ASSERT_TRUE(until([&] { return result(second)->problems_total == 1; }));
  run_for(40s);
  EXPECT_EQ(znode(p1)->assignment, (ReplicaList{3, 4}));
  EXPECT_LE(calls(p1).size(), 10U) << "1 s to 30 s between tries";
  kafka.set_alive(4, true);
  ASSERT_TRUE(until([&] { return done(second); }));
  EXPECT_EQ(outcome(second, p1), "completed");
}

TEST_F(Move, BytesAreProgress) {
  kafka.set_bytes(p0, 100'000'000);
  kafka.set_speed(1'000'000);
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return result(name) && result(name)->bytes && result(name)->bytes->moved > 0; }));
  EXPECT_EQ(result(name)->bytes->total, 100'000'000);
  const std::string progress = result(name)->last_progress;
  ASSERT_TRUE(until([&] { return result(name)->last_progress > progress; }));
  EXPECT_EQ(result(name)->problems_total, 0) << "a large partition on its way is not stuck";
  ASSERT_TRUE(until([&] { return done(name); }, 300s));
}

}  // namespace
}  // namespace kro::execute::test
