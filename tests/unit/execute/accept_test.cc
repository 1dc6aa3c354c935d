#include "unit/execute/controller_rig.h"

namespace kro::execute::test {
namespace {

using outcome_list = std::vector<std::string>;

class Accept : public ControllerRig {
 protected:
  Accept() { kafka.create_topic("orders", {{1, 2}, {2, 3}, {3, 1}}); }
};

TEST_F(Accept, PlainKipRequestCompletes) {
  const std::string name = move("orders", R"("0":[2,3],"1":[3,1])");
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(list({"orders", 0}), (ReplicaList{2, 3}));
  EXPECT_EQ(list({"orders", 1}), (ReplicaList{3, 1}));
  EXPECT_EQ(outcome(name, {"orders", 0}), "completed");
  EXPECT_EQ(result(name)->waiting, 0);
  EXPECT_FALSE(in_inbox(name));
  EXPECT_TRUE(topics_in_flight().empty());
  EXPECT_TRUE(zk->peek(std::string(tree::kReassignments)));
  EXPECT_EQ(calls({"orders", 0}), outcome_list{"2,3"}) << "told Kafka once, and only what was asked";
  EXPECT_EQ(calls({"orders", 2}), outcome_list{});
  run_for(5s);
  EXPECT_EQ(zk->peek(std::string(tree::kControllerCall))->data, "") << "no call is under way any more";
}

TEST_F(Accept, AtRestNothingIsWritten) {
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return done(name); }));
  run_for(60s);
  zk->reset_counters();
  const auto calls_before = kafka.history().size();
  run_for(600s);
  EXPECT_EQ(zk->counters().multis, 0U);
  EXPECT_LE(kafka.history().size() - calls_before, 3U * 21U + 300U) << "one poll every 30 s, one list every 2 s";
}

TEST_F(Accept, RubbishIsRefusedAndNeverBlocks) {
  const outcome_list rubbish{
      "",
      "{",
      "[]",
      R"({"version":2,"assignments":{"orders":{"0":[1,2]}}})",
      R"({"version":1.0,"assignments":{"orders":{"0":[1,2]}}})",
      R"({"version":1,"assignments":{"orders":{"0":[]}}})",
      R"({"version":1,"assignments":{"orders":{"0":[1,1]}}})",
      R"({"version":1,"assignments":{"orders":{"0":[-1]}}})",
      R"({"version":1,"assignments":{"orders":{"0":[2147483648]}}})",
      R"({"version":1,"assignments":{"../brokers":{"0":[1,2]}}})",
      R"({"version":1,"assignments":{"orders":{"00":[1,2]}}})",
      R"({"version":1,"assignments":{"orders":{}}})",
      R"({"version":1,"assignments":{}})",
      "{\"version\":1,\"assignments\":{\"" + std::string(250, 'x') + "\":{\"0\":[1,2]}}}",
      "{\"version\":1,\"" + std::string(700'000, 'k') + "\":1}",
      "{\"version\":1,\"client\":\"" + std::string(700'000, 'c') + R"(","assignments":{"orders":{"2":[1,2]}}})",
      std::string(900'000, '['),
  };
  outcome_list names;
  for (const std::string& text : rubbish) names.push_back(send(text));
  const std::string unknown_key = move("orders", R"("2":[1,2])", R"(,"shadow":true)");
  const std::string unknown_check = move("orders", R"("2":[1,2])", R"(,"check":["Moon"])");
  const std::string good = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return done(good); }));
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_TRUE(done(names[i])) << i << rubbish[i].substr(0, 80);
    EXPECT_TRUE(result(names[i])->refused.contains("MalformedRequest")) << i;
    EXPECT_EQ(result(names[i])->partitions, 0);
    EXPECT_FALSE(result(names[i])->error.empty()) << i;
    EXPECT_LE(result(names[i])->error.size(), 2000U) << i;
    EXPECT_FALSE(in_inbox(names[i])) << i;
  }
  EXPECT_TRUE(result(unknown_key)->refused.contains("UnsupportedFeature"));
  EXPECT_TRUE(result(unknown_check)->refused.contains("UnsupportedFeature"));
  EXPECT_EQ(list({"orders", 2}), (ReplicaList{3, 1})) << "nothing of a refused request moves";
}

TEST_F(Accept, RequestThatCannotBeReadIsPassedOver) {
  const std::string secret = move("orders", R"("1":[3,1])");
  tap.unreadable.insert(request_of(secret));
  const std::string good = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return done(good); }));
  EXPECT_TRUE(in_inbox(secret));
  EXPECT_FALSE(result(secret));
}

TEST_F(Accept, RefusalsArePerPartition) {
  const std::string name = move("orders", R"("0":[2,3],"7":[1,2],"1":[2,9])");
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(outcome(name, {"orders", 0}), "completed");
  EXPECT_EQ(outcome(name, {"orders", 7}), "UnknownTopicOrPartition");
  EXPECT_EQ(outcome(name, {"orders", 1}), "BrokerNotAvailable");
}

TEST_F(Accept, TopicQueuedForDeletionIsRefused) {
  zk->put("/admin/delete_topics/orders", "");
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(outcome(name, {"orders", 0}), "TopicBeingDeleted");
  zk->remove("/admin/delete_topics/orders");
  const std::string again = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return done(again); }));
  EXPECT_EQ(outcome(again, {"orders", 0}), "completed") << "the list of deletions is read anew";
}

TEST_F(Accept, MinInsyncReplicasIsReadAlsoForARequestWithAHealthGate) {
  kafka.set_config("orders", "min.insync.replicas", "3");
  const std::string plain = move("orders", R"("0":[2,3])");
  const std::string gated = move("orders", R"("1":[3,1])", R"(,"health_gate":true)");
  const std::string allowed = move("orders", R"("2":[1,2,3])", R"(,"allow":["MinInsyncReplicas"])");
  ASSERT_TRUE(until([&] { return done(plain) && done(gated) && done(allowed); }));
  EXPECT_EQ(outcome(plain, {"orders", 0}), "MinInsyncReplicas");
  EXPECT_EQ(outcome(gated, {"orders", 1}), "MinInsyncReplicas");
  EXPECT_EQ(outcome(allowed, {"orders", 2}), "completed");
}

TEST_F(Accept, DryRunDecidesAndTouchesNothing) {
  const std::string name = move("orders", R"("0":[2,3],"1":[2,9])", R"(,"dry_run":true)");
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_FALSE(in_inbox(name));
  EXPECT_EQ(outcome(name, {"orders", 1}), "BrokerNotAvailable");
  EXPECT_EQ(outcome(name, {"orders", 0}), "");
  run_for(60s);
  EXPECT_EQ(calls({"orders", 0}), outcome_list{});
  EXPECT_TRUE(topics_in_flight().empty());
  run_for(3600s + 600s);
  EXPECT_FALSE(result(name)) << "kept for an hour";
}

TEST_F(Accept, AllOrNothing) {
  const std::string bad = move("orders", R"("0":[2,3],"1":[2,9])", R"(,"all_or_nothing":true)");
  const std::string good = move("orders", R"("0":[2,3],"1":[3,1])", R"(,"all_or_nothing":true)");
  ASSERT_TRUE(until([&] { return done(bad) && done(good); }));
  EXPECT_EQ(outcome(bad, {"orders", 0}), "NotAllAccepted");
  EXPECT_EQ(outcome(bad, {"orders", 1}), "BrokerNotAvailable");
  EXPECT_EQ(outcome(good, {"orders", 0}), "completed");
}

TEST_F(Accept, RequestTakenBackIsNotAccepted) {
  const std::string name = move("orders", R"("0":[2,3])");
  zk->remove(request_of(name));
  run_for(20s);
  EXPECT_FALSE(result(name));
  EXPECT_EQ(calls({"orders", 0}), outcome_list{});
}

TEST_F(Accept, RequestTakenBackBetweenReadingAndDecidingIsNotAccepted) {
  run_for(5s);
  const std::string name = move("orders", R"("0":[2,3])");
  const auto check = tap.before_write;
  tap.before_write = [&](std::int64_t session, const std::vector<ZkOp>& ops) {
    for (const ZkOp& op : ops)
      if (zk_rules::path_of(op) == tree::result(name)) zk->remove(request_of(name));
    check(session, ops);
  };
  run_for(20s);
  EXPECT_FALSE(zk->peek(request_of(name)));
  EXPECT_FALSE(result(name));
  EXPECT_EQ(calls({"orders", 0}), outcome_list{});
}

TEST_F(Accept, RequestWithAChildNeverLoops) {
  kafka.set_speed(0);
  const std::string good = move("orders", R"("0":[2,3])");
  zk->put(request_of(good) + "/child", "");
  const std::string rubbish = send("{");
  zk->put(request_of(rubbish) + "/child", "");
  ASSERT_TRUE(until([&] { return znode({"orders", 0}).has_value(); }));
  kafka.set_speed(std::nullopt);
  ASSERT_TRUE(until([&] { return done(good); }));
  const std::string later = move("orders", R"("1":[3,1])");
  ASSERT_TRUE(until([&] { return done(later); }));
  run_for(60s);
  zk->reset_counters();
  run_for(120s);
  EXPECT_EQ(zk->counters().multis, 0U) << "nothing is tried again and again";
  EXPECT_EQ(calls({"orders", 0}), outcome_list{"2,3"});
}

TEST_F(Accept, SequenceNumbersThatHaveNoOrderDoNotCrash) {
  // A cycle under the wrap-around comparison: 0 < 1500000000 < -1500000000 < 0.
  for (int i = 0; i < 40; ++i) {
    const std::int64_t n = (i % 3) * 1'500'000'000LL + i;
    char text[32];
    (void)std::snprintf(text, sizeof text, "%010d", static_cast<std::int32_t>(static_cast<std::uint32_t>(n)));
    zk->put(tree::request(std::string("request_") + text), R"({"version":1,"assignments":{"orders":{"0":[2,3]}}})");
  }
  ASSERT_TRUE(until([&] { return zk->names(std::string(tree::kRequests)).empty(); }));
  ASSERT_TRUE(until([&] { return list({"orders", 0}) == ReplicaList{2, 3}; }));
}

TEST_F(Accept, OrderGoesOnAcrossTheWrap) {
  // After 2147483647 comes -2147483648: the later one is the newer one.
  kafka.set_speed(0);
  zk->put(tree::request("request_2147483647"),
          R"({"version":1,"assignments":{"orders":{"0":[2,3]}},"max_in_flight":1})");
  zk->put(tree::request("request_-2147483648"), R"({"version":1,"assignments":{"orders":{"0":[3,2]}}})");
  ASSERT_TRUE(until([&] { return znode({"orders", 0}).has_value(); }));
  EXPECT_EQ(znode({"orders", 0})->assignment, (ReplicaList{3, 2}));
}

TEST_F(Accept, ResultsAreKeptForTheirTime) {
  const std::string plain = move("orders", R"("0":[2,3])");
  const std::string owned = move("orders", R"("1":[3,1])", R"(,"client":"op/uid")");
  ASSERT_TRUE(until([&] { return done(plain) && done(owned); }));
  zk->put(tree::marker("op", "uid", "1-1"), "not the czxid of the request");
  zk->remove(tree::originals(plain));  // somebody tidied up half of it
  clock.jump_wall(std::chrono::hours(24 * 8));
  run_for(400s);
  EXPECT_FALSE(result(plain));
  EXPECT_TRUE(result(owned));
  clock.jump_wall(std::chrono::hours(24 * 83));
  run_for(400s);
  EXPECT_FALSE(result(owned));
  EXPECT_TRUE(zk->peek(tree::marker("op", "uid", "1-1"))) << "only the marker of that very request goes";
}

}  // namespace
}  // namespace kro::execute::test
