#include "unit/reconcile/operator_rig.h"

namespace kro {
namespace {

using reconcile::Kind;

class CancelRun : public OperatorRig {
 protected:
  [[nodiscard]] std::optional<ZkNode> lock() const { return zk_->peek("/admin/reassign_cancel"); }
  void lock_result(const tree::RequestResult& result) {
    zk_->put("/admin/reassignment_results/" + tree::cancel_result_name(lock()->stat.czxid),
             tree::encode_result(result));
  }
  [[nodiscard]] Json finalizers(const std::string& name) const {
    return object(name, Kind::kCancel)["metadata"].value("finalizers", Json::array());
  }
};

TEST_F(CancelRun, LockHasVersionOneAndOurNameAndStandsAsLongAsTheObject) {
  controller_leads();
  settle();
  apply(cancel_all("freeze"));
  settle();
  ASSERT_TRUE(lock());
  EXPECT_EQ(lock()->stat.version, 1);
  EXPECT_EQ(Json::parse(lock()->data)["owner"], "op");
  EXPECT_EQ(finalizers("freeze"), Json({"kafka-reassignment.io/operator"}));
  tree::RequestResult nothing;
  nothing.done = true;
  lock_result(nothing);
  pass(1s);
  EXPECT_EQ(phase("freeze", Kind::kCancel), "Succeeded");
  EXPECT_EQ(condition("freeze", "Ready", Kind::kCancel), "True/Locked");
  erase(Kind::kCancel, "freeze");
  settle();
  EXPECT_FALSE(lock());
  EXPECT_TRUE(object("freeze", Kind::kCancel).is_null());
}

TEST_F(CancelRun, OutcomesAreCountedAndThoseLeftRunningMakeItPartial) {
  controller_leads();
  settle();
  apply(cancel_all("stop"));
  settle();
  tree::RequestResult result;
  result.partitions = 4;
  result.finished["restored"] = {{"orders", {0, 1}}};
  lock_result(result);
  pass(1s);
  EXPECT_EQ(phase("stop", Kind::kCancel), "Cancelling");
  EXPECT_EQ(condition("stop", "Ready", Kind::kCancel), "True/Locked");
  result.finished["completed_first"] = {{"orders", {2}}};
  result.refused["NoOriginalInSync"] = {{"orders", {3}}};
  result.foreign = {{"orders", {1}}};
  result.done = true;
  lock_result(result);
  pass(3s);
  EXPECT_EQ(phase("stop", Kind::kCancel), "PartiallyCancelled");
  const Json progress = status("stop", Kind::kCancel)["progress"];
  EXPECT_EQ(progress["affected"], 4);
  EXPECT_EQ(progress["restored"], 2);
  EXPECT_EQ(progress["completedFirst"], 1);
  EXPECT_EQ(progress["refused"], 1);
  EXPECT_EQ(progress["foreign"], 1);
  EXPECT_EQ(condition("stop", "Stalled", Kind::kCancel), "True/NoOriginalInSync");
  EXPECT_EQ(status("stop", Kind::kCancel)["problemPartitions"][0]["partition"], 3);
}

TEST_F(CancelRun, ForeignLockIsReportedAndNeverDeleted) {
  controller_leads();
  zk_->put("/admin/reassign_cancel", "");
  settle();
  apply(cancel_all("freeze"));
  pass(1s);
  EXPECT_EQ(condition("freeze", "Ready", Kind::kCancel), "False/LockHeldByOther");
  EXPECT_TRUE(finalizers("freeze").empty());
  erase(Kind::kCancel, "freeze");
  pass(1s);
  EXPECT_TRUE(lock());
  EXPECT_TRUE(object("freeze", Kind::kCancel).is_null());
}

TEST_F(CancelRun, TwoObjectsShareOneLockAndTheLastRemovesIt) {
  controller_leads();
  settle();
  apply(cancel_all("a"));
  apply(cancel_all("b"));
  settle();
  const auto first = lock()->stat.czxid;
  erase(Kind::kCancel, "a");
  pass(1s);
  ASSERT_TRUE(lock());
  EXPECT_EQ(lock()->stat.czxid, first);
  EXPECT_TRUE(object("a", Kind::kCancel).is_null());
  erase(Kind::kCancel, "b");
  pass(1s);
  EXPECT_FALSE(lock());
}

TEST_F(CancelRun, LockOfOursThatNobodyStandsForIsRemoved) {
  controller_leads();
  settle();
  operator_dies();
  zk_->put("/admin/reassign_cancel", "");
  zk_->put("/admin/reassign_cancel", R"({"version":1,"owner":"op"})");
  operator_starts();
  pass(1s);
  EXPECT_FALSE(lock());
}

TEST_F(CancelRun, WaitingResourcesShowLockedAndGoOnAfterwards) {
  controller_leads();
  settle();
  apply(cancel_all("freeze"));
  settle();
  apply(reassignment("move", {{"orders", {{"0", {1, 2}}}}}));
  pass(1s);
  EXPECT_TRUE(inbox().empty());
  EXPECT_EQ(phase("move"), "Pending");
  EXPECT_EQ(condition("move", "Ready"), "False/Locked");
  erase(Kind::kCancel, "freeze");
  pass(1s);
  EXPECT_EQ(inbox().size(), 1U);
}

TEST_F(CancelRun, LockThatComesBetweenLookAndWriteLeavesNothingBehind) {
  controller_leads();
  settle();
  bool once = false;
  apply(reassignment("move", {{"orders", {{"0", {1, 2}}}}}));
  for (const auto& reflector : reflectors_) reflector->step({});
  if (!once) zk_->put("/admin/reassign_cancel", "");
  pass(1s);
  EXPECT_TRUE(inbox().empty());
  EXPECT_TRUE(markers(uid("move")).empty());
  EXPECT_EQ(condition("move", "Ready"), "False/Locked");
}

TEST_F(CancelRun, AffectedResourceEndsCancelledWithItsRestWithdrawn) {
  controller_leads();
  settle();
  apply(reassignment("move", {{"orders", {{"0", {1, 2}}, {"1", {2, 3}}}}}));
  settle();
  const std::string result = accept(inbox()[0], 2);
  pass(1s);
  apply(cancel_all("stop"));
  pass(1s);
  EXPECT_EQ(phase("move"), "Cancelling");
  finish(result, "withdrawn", {{"orders", {1}}});
  finish(result, "restored", {{"orders", {0}}});
  pass(1s);
  EXPECT_EQ(phase("move"), "Cancelled");
  EXPECT_EQ(condition("move", "Ready"), "False/AllRestored");
  erase(Kind::kCancel, "stop");
  pass(1s);
  EXPECT_TRUE(inbox().empty()) << "a cancelled resource does not start again by itself";
}

TEST_F(CancelRun, CompletedFirstMakesTheResourcePartiallyCancelled) {
  controller_leads();
  settle();
  apply(reassignment("move", {{"orders", {{"0", {1, 2}}, {"1", {2, 3}}}}}));
  settle();
  const std::string result = accept(inbox()[0], 2);
  pass(1s);
  apply(cancel_all("stop"));
  settle();
  finish(result, "completed_first", {{"orders", {1}}});
  finish(result, "restored", {{"orders", {0}}});
  pass(1s);
  EXPECT_EQ(phase("move"), "PartiallyCancelled");
  EXPECT_EQ(condition("move", "Ready"), "False/PartlyRestored");
}

TEST_F(CancelRun, UnacknowledgedForeignMovesAreNotHit) {
  controller_leads();
  tree::Foreign foreign;
  foreign.total = 1;
  foreign.moves.push_back({{"orders", 0}, {1}, {1}, {2}});
  zk_->put("/admin/reassignment_foreign", tree::encode_foreign(foreign));
  settle();
  apply(cancel_all("freeze"));
  pass(1s);
  EXPECT_FALSE(lock());
  EXPECT_EQ(phase("freeze", Kind::kCancel), "AwaitingAcknowledgement");
  EXPECT_EQ(condition("freeze", "Accepted", Kind::kCancel), "False/UnsupportedFeature");
  Json acknowledged = cancel_all("freeze");
  acknowledged["spec"]["acknowledgeForeign"] = true;
  apply(acknowledged);
  pass(1s);
  EXPECT_TRUE(lock());
}

TEST_F(CancelRun, LockThatAPersonRemovedIsMadeAgain) {
  controller_leads();
  settle();
  apply(cancel_all("freeze"));
  settle();
  zk_->remove("/admin/reassign_cancel");
  pass(1s);
  ASSERT_TRUE(lock());
  EXPECT_EQ(lock()->stat.version, 1);
}

TEST_F(CancelRun, OtherScopesAreRefusedUntilBuilt) {
  Json one = cancel_all("one");
  one["spec"].erase("all");
  one["spec"]["reassignments"] = {{{"name", "x"}}};
  apply(one);
  pass(1s);
  EXPECT_EQ(phase("one", Kind::kCancel), "Failed");
  EXPECT_EQ(condition("one", "Accepted", Kind::kCancel), "False/UnsupportedFeature");
  EXPECT_FALSE(lock());
}

// The operator dies before or after each of its writes to the tree, and the end is the same.
TEST_F(CancelRun, CrashMatrixOfTheLocksLife) {
  controller_leads();
  settle();
  for (const ZkFault fault : {ZkFault::kExpireBefore, ZkFault::kExpireAfter, ZkFault::kAfter})
    for (std::uint64_t nth = 1; nth <= 3; ++nth) {
      faults_->reset();
      faults_->only_writes();
      faults_->at(nth, fault);
      apply(cancel_all("freeze"));
      settle();
      operator_dies();
      operator_starts();
      pass(3s);
      ASSERT_TRUE(lock());
      EXPECT_EQ(lock()->stat.version, 1);
      erase(Kind::kCancel, "freeze");
      settle();
      operator_dies();
      operator_starts();
      pass(3s);
      EXPECT_FALSE(lock());
      EXPECT_TRUE(object("freeze", Kind::kCancel).is_null());
    }
}

// The cluster leaves the configuration: its resources go to the worker for unknown clusters.
class ClusterThatLeft : public CancelRun {
 protected:
  void SetUp() override {
    controller_leads();
    settle();
    apply(cancel_all("freeze"));
    settle();
    tree::RequestResult nothing;
    nothing.done = true;
    lock_result(nothing);
    pass(1s);
    ASSERT_EQ(phase("freeze", Kind::kCancel), "Succeeded");
    operator_dies();
    operator_starts({""});
    pass(3s);
  }
  [[nodiscard]] const EventNote* lock_left() const {
    for (const EventNote& note : notes_)
      if (note.reason == "LockLeft") return &note;
    return nullptr;
  }
};

TEST_F(ClusterThatLeft, CancelSaysThatItsLockMayNotBeTrustedAnyMore) {
  EXPECT_EQ(condition("freeze", "Ready", Kind::kCancel), "False/ClusterNotFound");
  EXPECT_EQ(condition("freeze", "Stalled", Kind::kCancel), "True/ClusterNotFound");
  const std::string summary = status("freeze", Kind::kCancel)["summary"].get<std::string>();
  EXPECT_NE(summary.find("/admin/reassign_cancel"), std::string::npos) << summary;
  EXPECT_EQ(status("freeze", Kind::kCancel)["lock"]["owner"], "op");
  EXPECT_EQ(lock_left(), nullptr) << "only when it is deleted";
}

TEST_F(ClusterThatLeft, DeletedCancelGoesAndTellsOfTheLockThatStands) {
  const std::string czxid = status("freeze", Kind::kCancel)["lock"]["czxid"].get<std::string>();
  erase(Kind::kCancel, "freeze");
  pass(1s);
  EXPECT_TRUE(object("freeze", Kind::kCancel).is_null()) << "it would hang for ever";
  EXPECT_TRUE(lock());
  const EventNote* const note = lock_left();
  ASSERT_NE(note, nullptr);
  EXPECT_TRUE(note->warning);
  for (const std::string& word : {std::string("prod"), czxid, std::string("/admin/reassign_cancel")})
    EXPECT_NE(note->note.find(word), std::string::npos) << word << " in " << note->note;
  // Configured again: nobody stands for the lock.
  operator_dies();
  operator_starts();
  pass(1s);
  EXPECT_FALSE(lock());
}

TEST_F(CancelRun, LooksAndErrorsAreCounted) {
  const MetricLabels controller = {{"controller", "kafkareassignmentcancel"}};
  controller_leads();
  settle();
  apply(cancel_all("freeze"));
  for (const auto& reflector : reflectors_) reflector->step({});
  kube_.set_away(true);
  cluster_->step({});
  EXPECT_GE(metrics_.value("controller_runtime_reconcile_errors_total", controller), 1) << "the finalizer";
  kube_.set_away(false);
  pass(3s);
  ASSERT_TRUE(lock());
  EXPECT_GE(metrics_.value("controller_runtime_reconcile_total",
                           {{"controller", "kafkareassignmentcancel"}, {"result", "requeue"}}),
            2);
  const MetricLabels queue = {{"name", "kafkareassignmentcancel"}, {"controller", "kafkareassignmentcancel"}};
  EXPECT_GE(metrics_.value("workqueue_adds_total", queue), 3);
  EXPECT_GE(metrics_.value("workqueue_retries_total", queue), 1);
  cancel_work_.report();
  EXPECT_EQ(metrics_.value("workqueue_depth", queue), 0);
}

}  // namespace
}  // namespace kro
