#include "unit/reconcile/operator_rig.h"

namespace kro {
namespace {

using reconcile::Kind;

class ReassignmentRun : public OperatorRig {
 protected:
  const Json plan_ = {{"orders", {{"0", {1, 2}}, {"1", {2, 3}}}}};
  const PartitionSets both_ = {{"orders", {0, 1}}};
};

TEST_F(ReassignmentRun, AppliedResourceBecomesOneRequestWithChecksAndClient) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  ASSERT_EQ(inbox().size(), 1U);
  const Json sent = request(inbox()[0]);
  EXPECT_EQ(sent["assignments"], plan_);
  EXPECT_EQ(sent["client"], "op/" + uid("move"));
  EXPECT_EQ(sent["all_or_nothing"], true);
  EXPECT_EQ(sent["health_gate"], true);
  EXPECT_EQ(sent["max_in_flight"], 100);
  EXPECT_EQ(sent["check"], Json({"ReplicationFactorChange", "InternalTopics", "UnderReplicated", "NoLeader",
                                 "RackSpread", "PartitionsBusy"}));
  EXPECT_EQ(markers(uid("move")), std::vector<std::string>{"1-1"});
  EXPECT_EQ(zk_->peek("/admin/reassignment_ledger/op/" + uid("move") + "/1-1")->stat.czxid,
            zk_->peek("/admin/reassignment_requests/" + inbox()[0])->stat.czxid);
}

TEST_F(ReassignmentRun, QuickRunCostsOneStatusWriteAndSlowOneTwo) {
  controller_leads();
  settle();
  apply(reassignment("quick", plan_));
  settle();
  finish(accept(inbox()[0], 2), "completed", both_);
  settle();
  EXPECT_EQ(phase("quick"), "Succeeded");
  EXPECT_EQ(kube_.writes(), 1);
  EXPECT_EQ(status("quick")["progress"]["display"], "2/2 (100%)");
  EXPECT_EQ(condition("quick", "Ready"), "True/AllReplicasVerified");

  apply(reassignment("slow", plan_));
  settle();
  const std::string result = accept(inbox()[0], 2);
  pass(1s);
  EXPECT_EQ(phase("slow"), "Running");
  EXPECT_EQ(condition("slow", "Reconciling"), "True/Moving");
  finish(result, "completed", both_);
  pass(1s);
  EXPECT_EQ(phase("slow"), "Succeeded");
  EXPECT_EQ(kube_.writes(), 3);
  pass(20s);
  EXPECT_EQ(kube_.writes(), 3) << "a status that says nothing new was written";
}

TEST_F(ReassignmentRun, FinishedResourceKeepsOnlyARecordAndNoMetrics) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  finish(accept(inbox()[0], 2), "completed", both_);
  pass(1s);
  EXPECT_EQ(cluster_->reassignments().figures().active, 0U);
  EXPECT_EQ(cluster_->reassignments().figures().finished, 1U);
  EXPECT_EQ(metrics_.resource_size("KafkaReassignment/kafka/move"), 0U);
  EXPECT_EQ(metrics_.value("kafka_reassignment_completed_total", {{"kafka_cluster", "prod"}, {"result", "succeeded"}}),
            1);
}

TEST_F(ReassignmentRun, WithoutAControllerTheRequestWaitsAndTheCauseIsSaid) {
  apply(reassignment("move", plan_));
  settle();
  EXPECT_EQ(inbox().size(), 1U);
  pass(1s);
  EXPECT_EQ(phase("move"), "Pending");
  EXPECT_EQ(condition("move", "Ready"), "False/ControllerAbsent");
  controller_leads();
  pass(1s);
  EXPECT_EQ(condition("move", "Ready"), "False/Requested");
  pass(35s);
  EXPECT_EQ(condition("move", "Ready"), "False/ControllerNotResponding");
}

TEST_F(ReassignmentRun, RefusedByACheckIsFailedAndNothingIsSentAgain) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  const auto name = inbox()[0];
  refuse(name, "BrokerNotAvailable", both_);
  pass(1s);
  EXPECT_EQ(phase("move"), "Failed");
  EXPECT_EQ(condition("move", "Accepted"), "False/BrokerNotAvailable");
  EXPECT_EQ(condition("move", "Stalled"), "True/BrokerNotAvailable");
  EXPECT_TRUE(inbox().empty());
  // Raising the attempt asks again.
  Json again = reassignment("move", plan_);
  again["spec"]["attempt"] = 1;
  apply(again);
  settle();
  EXPECT_EQ(inbox().size(), 1U);
  EXPECT_EQ(markers(uid("move")), (std::vector<std::string>{"1-1", "2-1"}));
}

TEST_F(ReassignmentRun, EditingAReasonOfARunningResourceSendsNothing) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  accept(inbox()[0], 2);
  pass(1s);
  Json edited = reassignment("move", plan_);
  edited["spec"]["reason"] = "OPS-1";
  apply(edited);
  pass(1s);
  EXPECT_TRUE(inbox().empty());
  EXPECT_EQ(status("move")["observedGeneration"], 2);
}

TEST_F(ReassignmentRun, ChangedTargetBecomesARequestForThatPartitionOnly) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  const std::string first = accept(inbox()[0], 2);
  pass(1s);
  apply(reassignment("move", {{"orders", {{"0", {1, 2}}, {"1", {3, 1}}}}}));
  settle();
  ASSERT_EQ(inbox().size(), 1U);
  EXPECT_EQ(request(inbox()[0])["assignments"], Json({{"orders", {{"1", {3, 1}}}}}));
  finish(first, "superseded", {{"orders", {1}}});
  finish(first, "completed", {{"orders", {0}}});
  pass(1s);
  EXPECT_EQ(phase("move"), "Running") << "superseded by one's own later generation is no failure";
  finish(accept(inbox()[0], 1), "completed", {{"orders", {1}}});
  pass(1s);
  EXPECT_EQ(phase("move"), "Succeeded");
}

TEST_F(ReassignmentRun, BusyPartitionsAreAskedForAgainWhenTheirZnodeGoes) {
  controller_leads();
  zk_->put("/admin/reassignments/orders/1", R"({"version":1})");
  settle();
  apply(reassignment("move", plan_));
  settle();
  const std::string refused = refuse(inbox()[0], "PartitionsBusy", {{"orders", {1}}});
  auto result = *tree::decode_result(zk_->peek("/admin/reassignment_results/" + refused)->data);
  result.refused["NotAllAccepted"] = {{"orders", {0}}};
  result.partitions = 2;
  put_result(refused, result);
  pass(1s);
  EXPECT_EQ(phase("move"), "Pending");
  EXPECT_EQ(condition("move", "Ready"), "False/PartitionsBusy");
  EXPECT_TRUE(inbox().empty());
  zk_->remove("/admin/reassignments/orders/1");
  settle();
  ASSERT_EQ(inbox().size(), 1U);
  EXPECT_EQ(markers(uid("move")), std::vector<std::string>{"1-2"});
  EXPECT_FALSE(zk_->peek("/admin/reassignment_results/" + refused)) << "the refused result goes in the same multi";
}

TEST_F(ReassignmentRun, BusyPartitionsAreAskedForAgainAfterThirtySeconds) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  refuse(inbox()[0], "PartitionsBusy", both_);
  pass(20s);
  EXPECT_TRUE(inbox().empty());
  pass(12s);
  EXPECT_EQ(inbox().size(), 1U);
  EXPECT_EQ(condition("move", "Stalled"), "False/NotStalled");
}

TEST_F(ReassignmentRun, StalledAfterThirtyMinutesWithoutProgressNamesTheBroker) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  const std::string name = accept(inbox()[0], 2);
  auto result = *tree::decode_result(zk_->peek("/admin/reassignment_results/" + name)->data);
  tree::Problem problem;
  problem.tp = {"orders", 1};
  problem.target = {2, 3};
  problem.current = {2, 1};
  problem.cause = "TargetBrokerDown";
  problem.brokers = {3};
  problem.since = rfc3339(clock_.now().wall);
  result.problems = {problem};
  result.problems_total = 1;
  put_result(name, result);
  pass(1s);
  EXPECT_EQ(condition("move", "Reconciling"), "True/TargetBrokerDown");
  EXPECT_EQ(condition("move", "Stalled"), "False/NotStalled");
  clock_.advance(30min);
  pass(1s);
  EXPECT_EQ(condition("move", "Stalled"), "True/TargetBrokerDown");
  EXPECT_EQ(condition("move", "Reconciling"), "False/TargetBrokerDown");
  EXPECT_EQ(phase("move"), "Running");
  EXPECT_NE(status("move")["summary"].get<std::string>().find("broker 3"), std::string::npos);
  EXPECT_EQ(status("move")["problemPartitions"][0]["target"], "2,3");
  const auto said = told("move");
  EXPECT_EQ(std::count(said.begin(), said.end(), "TargetBrokerDown"), 1);
  EXPECT_EQ(std::count(said.begin(), said.end(), "Stalled"), 1);
}

TEST_F(ReassignmentRun, LargePlanIsCheckedAsAWholeBeforeAnythingIsSent) {
  controller_leads();
  settle();
  Json large = Json::object();
  for (int i = 0; i < 5001; ++i) large["big"][std::to_string(i)] = {1, 2};
  apply(reassignment("large", large));
  settle();
  ASSERT_EQ(inbox().size(), 2U);
  for (const std::string& name : inbox()) EXPECT_EQ(request(name).value("dry_run", false), true);
  EXPECT_TRUE(markers(uid("large")).empty());
  const auto names = inbox();
  std::vector<std::string> dry;
  for (const std::string& name : names) {
    dry.push_back(result_name(name));
    tree::RequestResult passed;
    passed.request = name;
    passed.partitions = 0;
    passed.done = true;
    put_result(dry.back(), passed);
    zk_->remove("/admin/reassignment_requests/" + name);
  }
  settle();
  ASSERT_EQ(inbox().size(), 2U);
  EXPECT_FALSE(request(inbox()[0]).contains("dry_run"));
  EXPECT_FALSE(request(inbox()[0]).contains("all_or_nothing"));
  EXPECT_EQ(markers(uid("large")), (std::vector<std::string>{"1-1", "1-2"}));
  for (const std::string& name : dry) EXPECT_FALSE(zk_->peek("/admin/reassignment_results/" + name));
}

TEST_F(ReassignmentRun, LargePlanOfWhichADryRunIsRefusedMovesNothing) {
  controller_leads();
  settle();
  Json large = Json::object();
  for (int i = 0; i < 5001; ++i) large["big"][std::to_string(i)] = {1, 2};
  apply(reassignment("large", large));
  settle();
  const auto names = inbox();
  refuse(names[0], "UnderReplicated", {{"big", {7}}});
  tree::RequestResult passed;
  passed.done = true;
  put_result(result_name(names[1]), passed);
  zk_->remove("/admin/reassignment_requests/" + names[1]);
  pass(1s);
  EXPECT_TRUE(inbox().empty());
  EXPECT_EQ(phase("large"), "Failed");
  EXPECT_EQ(condition("large", "Accepted"), "False/UnderReplicated");
  EXPECT_TRUE(zk_->names("/admin/reassignment_results").empty());
}

TEST_F(ReassignmentRun, DeletedResourceLetsItsMovesFinishAndLeavesNothingInTheTree) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  const std::string id = uid("move");
  const std::string result = accept(inbox()[0], 2);
  pass(1s);
  erase(Kind::kReassignment, "move");
  pass(1s);
  EXPECT_EQ(markers(id).size(), 1U) << "still moving: the marker stays";
  finish(result, "completed", both_);
  settle();
  EXPECT_FALSE(zk_->peek("/admin/reassignment_ledger/op/" + id));
  EXPECT_FALSE(zk_->peek("/admin/reassignment_results/" + result));
}

TEST_F(ReassignmentRun, SweepAtStartCleansUpWhatWasDeletedMeanwhile) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  apply(reassignment("other", {{"clicks", {{"0", {1, 2}}}}}));
  settle();
  const std::string id = uid("move");
  const std::string kept = uid("other");
  std::string result;
  for (const std::string& name : inbox())
    if (request(name)["assignments"].contains("orders")) result = result_name(name), accept(name, 2);
  finish(result, "completed", both_);
  pass(1s);
  operator_dies();
  erase(Kind::kReassignment, "move");
  operator_starts();
  pass(2s);
  EXPECT_FALSE(zk_->peek("/admin/reassignment_ledger/op/" + id));
  EXPECT_FALSE(zk_->peek("/admin/reassignment_results/" + result));
  EXPECT_TRUE(zk_->peek("/admin/reassignment_ledger/op/" + kept + "/1-1"));
}

TEST_F(ReassignmentRun, DeposedOperatorWritesNothingMore) {
  controller_leads();
  settle();
  const auto root = zk_->peek("/admin/reassignment_ledger/op");
  zk_->put("/admin/reassignment_ledger/op", root->data);  // another one takes the epoch
  apply(reassignment("move", plan_));
  pass(10s);
  EXPECT_TRUE(inbox().empty());
  EXPECT_EQ(deposed_, 1);
  EXPECT_EQ(metrics_.value("kafka_reassignment_zk_fenced_writes_total", {{"kafka_cluster", "prod"}}), 1);
  EXPECT_EQ(phase("move"), "");
  lead(false);
  lead(true);
  settle();
  EXPECT_EQ(inbox().size(), 1U) << "the Lease was gained again";
}

TEST_F(ReassignmentRun, LedgerOfAnotherOperatorIsAConflictForAPerson) {
  operator_dies();
  zk_->put("/admin/reassignment_ledger/op", R"({"version":1,"epoch":4,"owner":"someone","cluster":"prod"})");
  operator_starts();
  apply(reassignment("move", plan_));
  pass(7s);
  EXPECT_TRUE(inbox().empty());
  EXPECT_EQ(condition("move", "Stalled"), "True/LedgerConflict");
}

TEST_F(ReassignmentRun, ZooKeeperAwayIsSaidAndWorkGoesOnAfterwards) {
  controller_leads();
  settle();
  zk_->set_available(false);
  apply(reassignment("move", plan_));
  pass(8s);
  EXPECT_EQ(condition("move", "ClusterReachable"), "False/ClusterUnreachable");
  EXPECT_EQ(metrics_.value("kafka_reassignment_zk_connected", {{"kafka_cluster", "prod"}}), 0);
  zk_->set_available(true);
  pass(3s);
  EXPECT_EQ(inbox().size(), 1U);
  EXPECT_EQ(condition("move", "ClusterReachable"), "True/Connected");
}

TEST_F(ReassignmentRun, ExpiredSessionIsReplacedAndTheEpochTakenAnew) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  const int before = zk_->peek("/admin/reassignment_ledger/op")->stat.version;
  for (const std::int64_t session : zk_->sessions()) zk_->expire(session);
  pass(3s);
  EXPECT_EQ(zk_->peek("/admin/reassignment_ledger/op")->stat.version, before + 1);
  finish(accept(inbox()[0], 2), "completed", both_);
  pass(1s);
  EXPECT_EQ(phase("move"), "Succeeded");
  EXPECT_EQ(markers(uid("move")).size(), 1U);
}

TEST_F(ReassignmentRun, ApiServerAwayDelaysTheStatusAndNotTheRequest) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  for (const auto& reflector : reflectors_) reflector->step({});
  kube_.set_away(true);
  for (int i = 0; i < 5; ++i) cluster_->step({});
  EXPECT_EQ(inbox().size(), 1U);
  pass(10s);
  kube_.set_away(false);
  pass(60s);
  EXPECT_EQ(condition("move", "Ready"), "False/ControllerNotResponding");
}

TEST_F(ReassignmentRun, ResultThatIsNowhereIsLostAndNeverSentAgain) {
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  settle();
  operator_dies();
  zk_->remove("/admin/reassignment_requests/" + inbox()[0]);
  operator_starts();
  pass(2s);
  EXPECT_EQ(phase("move"), "Failed");
  EXPECT_EQ(condition("move", "Stalled"), "True/ResultLost");
  EXPECT_TRUE(inbox().empty());
}

TEST_F(ReassignmentRun, UnknownClusterWaitsStalledAndNothingIsWritten) {
  Json manifest = reassignment("move", plan_);
  manifest["spec"]["clusterRef"]["name"] = "nowhere";
  apply(manifest);
  pass(1s);
  EXPECT_EQ(phase("move"), "Pending");
  EXPECT_EQ(condition("move", "Stalled"), "True/ClusterNotFound");
  EXPECT_EQ(condition("move", "Accepted"), "False/ClusterNotFound");
}

TEST_F(ReassignmentRun, PolicyThatIsLiftedLetsTheResourceGoOn) {
  policy_.allowed_namespaces = {};
  cluster_->inbox().post(reconcile::PolicyChanged{policy_});
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  pass(1s);
  EXPECT_EQ(condition("move", "Stalled"), "True/NamespaceNotAllowed");
  EXPECT_TRUE(inbox().empty());
  policy_.allowed_namespaces = {"kafka"};
  cluster_->inbox().post(reconcile::PolicyChanged{policy_});
  settle();
  EXPECT_EQ(inbox().size(), 1U);
}

TEST_F(ReassignmentRun, ControllerThatLacksAFeatureGetsNoRequest) {
  tree::ControllerNode old;
  old.id = "old";
  old.features = {"client"};
  zk_->put("/admin/reassignment_controller", tree::encode_controller(old));
  settle();
  apply(reassignment("move", plan_));
  pass(1s);
  EXPECT_TRUE(inbox().empty());
  EXPECT_EQ(phase("move"), "Failed");
  EXPECT_EQ(condition("move", "Accepted"), "False/UnsupportedFeature");
}

TEST_F(ReassignmentRun, ThousandResourcesAtOnceGetOneRequestEach) {
  controller_leads();
  settle();
  for (int i = 0; i < 1000; ++i)
    apply(reassignment("r" + std::to_string(i), {{"t" + std::to_string(i), {{"0", {1, 2}}}}}));
  settle();
  EXPECT_EQ(inbox().size(), 1000U);
  std::set<std::string> topics;
  for (const std::string& name : inbox()) {
    const Json sent = request(name);
    for (const auto& [topic, partitions] : sent["assignments"].items()) topics.insert(topic);
  }
  EXPECT_EQ(topics.size(), 1000U);
}

// Another operator of the same API server that does know the cluster: it writes its word whenever it is not there.
class TwoOperators : public OperatorRig, public ::testing::WithParamInterface<Kind> {
 protected:
  // Whether ours was there, and was overwritten.
  bool other_writes() {
    const Json now = object("move", GetParam());
    if (now.value("status", Json::object()).value("phase", "") == "Running") return false;
    const auto answer = kube_.put_status(
        reconcile::resource_of(GetParam()), {"kafka", "move"}, now["metadata"]["resourceVersion"].get<std::string>(),
        R"({"phase":"Running","observedGeneration":1,"summary":"Running: 1 of 2"})", clock_.in(1s));
    EXPECT_TRUE(answer);
    return true;
  }
  [[nodiscard]] Json manifest() const {
    Json out = GetParam() == Kind::kCancel ? cancel_all("move") : reassignment("move", {{"orders", {{"0", {1, 2}}}}});
    out["spec"]["clusterRef"]["name"] = "elsewhere";
    return out;
  }
};

TEST_P(TwoOperators, OneThatDoesNotKnowTheClusterComesBackLaterAndLater) {
  apply(manifest());
  pass(1s);
  ASSERT_EQ(condition("move", "Ready", GetParam()), "False/ClusterNotFound");
  std::vector<seconds> when;
  for (seconds at{0}; at < 20min; at += 1s) {
    if (other_writes()) when.push_back(at);
    pass(1s);
  }
  ASSERT_GE(when.size(), 3U) << "it may be the other that is wrong";
  EXPECT_LE(when.size(), 7U);
  for (std::size_t i = 2; i < when.size(); ++i) EXPECT_GE(when[i] - when[i - 1], 2 * (when[i - 1] - when[i - 2]) - 4s);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TwoOperators, ::testing::Values(Kind::kReassignment, Kind::kCancel),
                         [](const auto& of) { return std::string(reconcile::kind_name(of.param)); });

TEST_F(ReassignmentRun, LooksAreCountedWithTheirOutcomes) {
  const auto total = [&](const std::string& result) {
    return metrics_.value("controller_runtime_reconcile_total",
                          {{"controller", "kafkareassignment"}, {"result", result}});
  };
  const MetricLabels queue = {{"name", "kafkareassignment"}, {"controller", "kafkareassignment"}};
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  for (const auto& reflector : reflectors_) reflector->step({});
  reassignment_work_.report();
  EXPECT_EQ(metrics_.value("workqueue_depth", queue), 0) << "still in the inbox";
  settle();
  EXPECT_EQ(total("requeue"), 1) << "the request was sent";
  EXPECT_GE(total("requeue_after"), 1) << "an answer is waited for";
  const std::string result = accept(inbox()[0], 2);
  pass(1s);
  finish(result, "completed", both_);
  pass(1s);
  ASSERT_EQ(phase("move"), "Succeeded");
  EXPECT_GE(total("success"), 1);
  EXPECT_EQ(total("error"), 0);
  const double looks = total("requeue") + total("requeue_after") + total("success");
  EXPECT_EQ(metrics_.observed("workqueue_queue_duration_seconds", queue).size(), looks);
  EXPECT_EQ(metrics_.observed("workqueue_work_duration_seconds", queue).size(), looks);
  const double adds = metrics_.value("workqueue_adds_total", queue);
  EXPECT_GE(adds, looks) << "nothing is looked at that was not added";
  EXPECT_LE(adds, looks + 1) << "one may go unseen, when the end came back through the watch first";
  reassignment_work_.report();
  EXPECT_EQ(metrics_.value("workqueue_depth", queue), 0);
}

TEST_F(ReassignmentRun, ResourceWhoseWritesAreRefusedWaitsAloneAndLonger) {
  const MetricLabels controller = {{"controller", "kafkareassignment"}};
  controller_leads();
  settle();
  apply(reassignment("bad", plan_));
  // The multi fails: somebody made the resource's node behind our back.
  const std::string id = uid("bad");
  zk_->put("/admin/reassignment_ledger/op/" + id, "");
  apply(reassignment("good", {{"clicks", {{"0", {1, 2}}}}}));
  settle();
  EXPECT_GE(inbox().size(), 1U);
  EXPECT_GE(metrics_.value("controller_runtime_reconcile_errors_total", controller), 1);
  EXPECT_EQ(metrics_.value("controller_runtime_terminal_reconcile_errors_total", controller), 0);
  EXPECT_GE(
      metrics_.value("workqueue_retries_total", {{"name", "kafkareassignment"}, {"controller", "kafkareassignment"}}),
      1);
  pass(1s);
  EXPECT_EQ(inbox().size(), 2U) << "after its pause it was read again and sent";
}

TEST_F(ReassignmentRun, WatchedPathsAreCounted) {
  controller_leads();
  settle();
  const auto bytes = [&] {
    return metrics_.value("kafka_reassignment_zk_watched_path_bytes", {{"kafka_cluster", "prod"}});
  };
  const double before = bytes();
  EXPECT_GT(before, 0) << "lock, controller, foreign";
  apply(reassignment("move", plan_));
  settle();
  EXPECT_GT(bytes(), before) << "its result";
}

TEST_F(ReassignmentRun, RefusalThatConfigurationMayLiftIsCountedOnce) {
  policy_.allowed_namespaces = {};
  cluster_->inbox().post(reconcile::PolicyChanged{policy_});
  controller_leads();
  settle();
  apply(reassignment("move", plan_));
  pass(5s);
  const MetricLabels labels = {{"kafka_cluster", "prod"}, {"reason", "NamespaceNotAllowed"}};
  EXPECT_EQ(metrics_.value("kafka_reassignment_refused_total", labels), 1);
  operator_dies();
  operator_starts();
  pass(5s);
  EXPECT_EQ(metrics_.value("kafka_reassignment_refused_total", labels), 1) << "it was told before";
}

}  // namespace
}  // namespace kro
