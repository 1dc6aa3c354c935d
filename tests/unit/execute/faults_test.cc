#include "unit/execute/controller_rig.h"

namespace kro::execute::test {
namespace {

using Texts = std::vector<std::string>;

class Faults : public ControllerRig {
 protected:
  Faults() {
    kafka.create_topic("orders", {{1, 2}, {2, 3}, {3, 1}, {1, 3}});
    kafka.set_speed(0);
  }
  const TopicPartition p0{"orders", 0};
  const TopicPartition p1{"orders", 1};

  bool running(const TopicPartition& tp) { return kafka.running().contains(tp); }
  void go() { kafka.set_speed(std::nullopt); }
};

TEST_F(Faults, LostAnswerMeansNoOtherCallFor60Seconds) {
  kafka.next_alter(FakeKafka::kLostNotApplied);
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return calls(p0).size() == 1; }));
  EXPECT_EQ(zk->peek(std::string(tree::kControllerCall))->data, R"({"version":1,"partitions":{"orders":[0]}})");
  run_for(58s);
  EXPECT_EQ(calls(p0).size(), 1U);
  go();
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(calls(p0).size(), 2U);
  run_for(5s);
  EXPECT_EQ(zk->peek(std::string(tree::kControllerCall))->data, "");
}

TEST_F(Faults, LostAnswerOfAnAppliedCallHasNoOutcomeBefore60Seconds) {
  go();
  kafka.next_alter(FakeKafka::kLostApplied);
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return list(p0) == ReplicaList{2, 3}; }));
  run_for(50s);
  EXPECT_FALSE(done(name)) << "while uncertain there is no outcome";
  ASSERT_TRUE(until([&] { return done(name); }, 30s));
  EXPECT_EQ(outcome(name, p0), "completed");
  EXPECT_EQ(calls(p0), Texts{"2,3"}) << "it was done: not asked again";
}

TEST_F(Faults, UncertainPartitionHoldsNobodyElseUp) {
  kafka.next_alter(FakeKafka::kLostNotApplied);
  const std::string first = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return calls(p0).size() == 1; }));
  go();
  const std::string second = move("orders", R"("1":[3,4])");
  ASSERT_TRUE(until([&] { return done(second); }, 10s));
  EXPECT_EQ(calls(p0).size(), 1U);
  const auto record = tree::decode_call(zk->peek(std::string(tree::kControllerCall))->data);
  EXPECT_TRUE(contains(*record, p0)) << "still uncertain, still recorded";
}

TEST_F(Faults, LateAnswerEndsTheUncertainty) {
  kafka.next_alter({5s, 8s});
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return running(p0); }));
  go();
  const auto answered = clock.now().mono;
  ASSERT_TRUE(until([&] { return done(name); }, 30s));
  EXPECT_LT(clock.now().mono - answered, 15s);
  EXPECT_EQ(calls(p0), Texts{"2,3"});
}

TEST_F(Faults, NextControllerWaitsForACallThatMayBeUnderWay) {
  const std::string name = move("orders", R"("0":[2,3])");
  tap.after_call = [&](const AlterRequest&, const Result<AlterAnswers>&) { throw Killed{}; };
  kafka.next_alter({20s, std::nullopt});
  EXPECT_THROW(run_for(10s), Killed);
  invariants.watch(tap);
  kill(0);
  start("second");
  run_for(55s);
  EXPECT_EQ(calls(p0).size(), 1U) << "the call of the dead controller may still arrive";
  go();
  ASSERT_TRUE(until([&] { return done(name); }, 60s));
  EXPECT_EQ(calls(p0), Texts{"2,3"});
}

TEST_F(Faults, KafkaAwayIsWaitedFor) {
  const std::string name = move("orders", R"("0":[2,3])");
  kafka.set_away(true);
  run_for(60s);
  EXPECT_FALSE(done(name));
  kafka.set_away(false);
  go();
  ASSERT_TRUE(until([&] { return done(name); }, 30s));
}

TEST_F(Faults, KafkaAwayAsksNotMoreOftenThanTheBackOff) {
  run_for(5s);
  kafka.set_away(true);
  move("orders", R"("0":[2,3])");
  const auto before = kafka.history().size();
  run_for(120s);
  EXPECT_LE(kafka.history().size() - before, 40U);
}

TEST_F(Faults, SessionExpiryEndsTheEpochAndTheWorkGoesOn) {
  const std::string name = move("orders", R"("0":[2,3],"1":[3,4])");
  ASSERT_TRUE(until([&] { return running(p0) && running(p1); }));
  for (const std::int64_t id : zk->sessions())
    if (id != client->session_id()) zk->expire(id);
  go();
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(zk->peek(std::string(tree::kControllerEpoch))->data, "2");
  EXPECT_EQ(result(name)->finished_count("completed"), 2U);
}

TEST_F(Faults, DeposedControllerWritesNothingMore) {
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return running(p0); }));
  const std::int64_t old = zk->sessions().back();
  ASSERT_NE(old, client->session_id());
  start("second");
  run_for(2s);
  ASSERT_TRUE(loop(0).leading());
  ASSERT_FALSE(loop(1).leading());

  // The server ends the session of the first; it does not hear of it yet, and goes on in its belief.
  zk->suspend(old);
  zk->expire(old);
  processes[1]->next = clock.now().mono;
  ASSERT_TRUE(until([&] { return loop(1).leading(); }));
  int writes = 0;
  zk->on_commit([&](const std::vector<ZkOp>&) { ++writes; });
  auto late = std::move(*FakeZkConnector(zk).open({"fake:2181", "", 10s, {}}, [](const ZkEvent&) {}));
  const auto stale =
      late->multi({ZkCheck{std::string(tree::kControllerEpoch), 1}, ZkSet{tree::reassignment(p0), "x"}}, clock.in(1s));
  ASSERT_FALSE(stale);
  EXPECT_EQ(stale.error().op_index, 0) << "the version of the epoch node fences it";
  zk->on_commit({});
  EXPECT_EQ(writes, 0);
  go();
  ASSERT_TRUE(until([&] { return done(name); }));
  zk->resume(old);
  run_for(1s);
  EXPECT_TRUE(loop(1).leading());
  EXPECT_FALSE(loop(0).leading());
  EXPECT_EQ(zk->peek(std::string(tree::kControllerEpoch))->data, "2");
}

TEST_F(Faults, EpochTakenByAnotherMeansStandBy) {
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return running(p0); }));
  zk->put(std::string(tree::kControllerEpoch), "7");
  go();
  ASSERT_TRUE(until([&] { return done(name); })) << "it takes leadership anew, with the next epoch";
  EXPECT_EQ(zk->peek(std::string(tree::kControllerEpoch))->data, "8");
}

TEST_F(Faults, ForeignMoveIsPublishedSoonAlsoByAnIdleController) {
  run_for(40s);
  ASSERT_EQ(kafka.foreign_alter(p0, ReplicaList{3, 4}), 0);
  run_for(4s);
  const auto foreign = tree::decode_foreign(zk->peek(std::string(tree::kForeign))->data);
  ASSERT_TRUE(foreign);
  EXPECT_EQ(foreign->total, 1) << "a cancel trusts this before it hits what nobody here asked for";
}

TEST_F(Faults, StandbyRestsAndTakesOverAtOnce) {
  ASSERT_TRUE(until([&] { return loop(0).leading(); }));
  start("second");
  run_for(5s);
  ASSERT_FALSE(loop(1).leading());
  EXPECT_FALSE(loop(1).wake().pending()) << "flags that nobody takes make the loop spin";
  const auto before = kafka.history().size();
  const int reads = tap.reads;
  run_for(60s);
  EXPECT_LE(kafka.history().size() - before, 20U + 30U)
      << "the leader's glances, and a look of the standby now and then";
  EXPECT_LE(tap.reads - reads, 40);
  kill_only(0);
  EXPECT_TRUE(loop(0).wake().pending()) << "the controller node is watched";
  run_for(1s);
  EXPECT_TRUE(loop(0).leading());
}

TEST_F(Faults, ResultDeletedBySomebodyIsDoneWithout) {
  const std::string name = move("orders", R"("0":[2,3],"1":[3,4])", R"(,"max_in_flight":1)");
  ASSERT_TRUE(until([&] { return running(p0); }));
  zk->remove(tree::result(name));
  go();
  ASSERT_TRUE(until([&] { return list(p0) == ReplicaList{2, 3} && topics_in_flight().empty(); }));
  run_for(30s);
  const std::string next = move("orders", R"("2":[1,2])");
  ASSERT_TRUE(until([&] { return done(next); }));
  EXPECT_TRUE(zk->names(std::string(tree::kRequests)).empty());
}

TEST_F(Faults, ForeignChildBelowAReassignmentZnode) {
  const std::string name = move("orders", R"("0":[2,3],"1":[3,4])");
  ASSERT_TRUE(until([&] { return running(p0) && running(p1); }));
  zk->put(tree::reassignment(p0) + "/child", "");
  go();
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(result(name)->finished_count("completed"), 2U);
  ASSERT_TRUE(znode(p0));
  EXPECT_TRUE(znode(p0)->ended);
  EXPECT_FALSE(znode(p1));
  const std::string again = move("orders", R"("0":[1,4])");
  ASSERT_TRUE(until([&] { return done(again); })) << "it is in flight for nobody";
  EXPECT_EQ(list(p0), (ReplicaList{1, 4}));
}

TEST_F(Faults, UnreadableReassignmentZnodeBlocksNobody) {
  zk->put(tree::reassignment(p0), "garbage");
  go();
  const std::string name = move("orders", R"("0":[2,3],"1":[3,4])");
  ASSERT_TRUE(until([&] { return done(name); }));
  EXPECT_EQ(result(name)->finished_count("completed"), 2U);
}

TEST_F(Faults, ReassignmentZnodeDeletedByHandEndsTheResult) {
  const std::string name = move("orders", R"("0":[2,3],"1":[3,4])");
  ASSERT_TRUE(until([&] { return running(p0) && running(p1); }));
  zk->remove(tree::reassignment(p0));
  go();
  ASSERT_TRUE(until([&] { return done(name); })) << "a result that is never done is waited for, for ever";
  EXPECT_EQ(outcome(name, p1), "completed");
  EXPECT_EQ(outcome(name, p0), "changed_outside");
}

TEST_F(Faults, GarbageEverywhereIsSurvived) {
  go();
  ASSERT_TRUE(until([&] { return loop(0).leading(); }));
  for (const char* path :
       {"/admin/reassignment_requests/garbage", "/admin/reassignment_requests/request_", "/admin/reassignments/..x/0",
        "/admin/reassignments/a b/0", "/admin/reassignments/orders/x", "/admin/reassignments/orders/00",
        "/admin/reassignments/orders/99999999999", "/admin/reassignments/orders/3",
        "/admin/reassignment_results/request_0000000099-zz", "/admin/reassignment_results/request_0000000099-1f",
        "/admin/reassignment_results/request_0000000099-1f/originals", "/admin/reassignment_results/cancel_1f",
        "/admin/reassignment_results/x", "/admin/reassignment_foreign", "/admin/reassignment_controller_call",
        "/admin/reassign_cancel_not", "/cluster/id", "/controller"})
    zk->put(path, "\xff\xfe{\"version\":1,");
  kill(0);
  start("second");
  const std::string name = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return done(name); }, 180s));
  EXPECT_EQ(outcome(name, p0), "completed");
  zk->put(std::string(tree::kLock), "\xff garbage is a lock all the same");
  const std::string cancel = tree::cancel_result_name(zk->peek(std::string(tree::kLock))->stat.czxid);
  ASSERT_TRUE(until([&] { return done(cancel); }));
}

TEST_F(Faults, RootsDeletedByHandAreMadeAnew) {
  go();
  for (const std::string_view root : {tree::kRequests, tree::kReassignments, tree::kResults, tree::kControllerCall}) {
    zk->remove(std::string(root));
    const std::string name = move("orders", root == tree::kRequests        ? R"("0":[2,3])"
                                            : root == tree::kReassignments ? R"("1":[3,4])"
                                            : root == tree::kResults       ? R"("2":[1,2])"
                                                                           : R"("3":[2,4])");
    ASSERT_TRUE(until([&] { return done(name); })) << root;
  }
}

TEST_F(Faults, ManyRequestsOfManyPartitionsFitTheirMultis) {
  // 45 requests that each name 3,000 partitions: their results together are larger than one multi may be.
  kafka.create_topic("wide", std::vector<ReplicaList>(3000, ReplicaList{1, 2}));
  std::vector<std::string> names;
  for (int r = 0; r < 45; ++r) {
    std::string partitions;
    for (int p = 0; p < 3000; ++p)
      partitions += (p == 0 ? "\"" : ",\"") + std::to_string(p) + (p == r ? "\":[2,1]" : "\":[1,9]");
    names.push_back(move("wide", partitions));
  }
  ASSERT_TRUE(until([&] { return done(names.back()) && done(names.front()); }, 60s));
}

TEST_F(Faults, AnyOneOperationMayFail) {
  // Every ZooKeeper operation of a small run, once with each fault: the run ends the same.
  go();
  faults->reset();
  const std::string clean = move("orders", R"("0":[2,3])");
  ASSERT_TRUE(until([&] { return done(clean); }));
  const std::uint64_t operations = faults->operations();
  ASSERT_GT(operations, 10U);
  ReplicaList target{1, 2};
  for (std::uint64_t n = 1; n <= operations; ++n) {
    for (const ZkFault fault : {ZkFault::kBefore, ZkFault::kLost, ZkFault::kAfter, ZkFault::kTimeoutAfter,
                                ZkFault::kExpireBefore, ZkFault::kExpireAfter}) {
      faults->reset();
      faults->at(n, fault);
      const std::string name = move("orders", "\"0\":[" + to_text(target) + "]");
      ASSERT_TRUE(until([&] { return done(name); }, 300s)) << "operation " << n << " fault " << static_cast<int>(fault);
      ASSERT_EQ(outcome(name, p0), "completed") << "operation " << n << " fault " << static_cast<int>(fault);
      ASSERT_EQ(list(p0), target);
      target = target == ReplicaList{1, 2} ? ReplicaList{2, 3} : ReplicaList{1, 2};
      invariants.transcript.clear();
    }
  }
}

}  // namespace
}  // namespace kro::execute::test
