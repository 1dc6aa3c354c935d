#include "decide/reassignment_decider.h"

#include <gtest/gtest.h>

#include "decide/reassignment_causes.h"
#include "decide/reassignment_checks.h"
#include "decide/reassignment_notes.h"
#include "decide/reassignment_requests.h"
#include "tree/limits.h"

namespace kro::decide {
namespace {

using api::Reason;

const WallTime kNow = from_epoch_ms(1796104800000);

class ReassignmentDecider : public ::testing::Test {
 protected:
  ReassignmentDecider() {
    cr_.meta = {"kafka", "move", "uid-1", "1", 1, false, {}, 500};
    cr_.spec.cluster = "prod";
    cr_.spec.forms = 1;
    cr_.spec.assignments = {{"orders", {{0, {1, 2}}, {1, {2, 3}}}}};
    tree_.health = TreeHealth::kConnected;
    tree_.controller = tree::ControllerNode{};
    tree_.controller->features = {"client",
                                  "check",
                                  "allow",
                                  "dry_run",
                                  "all_or_nothing",
                                  "max_in_flight",
                                  "health_gate",
                                  "MinInsyncReplicas",
                                  "ReplicationFactorChange",
                                  "InternalTopics",
                                  "UnderReplicated",
                                  "NoLeader",
                                  "RackSpread",
                                  "PartitionsBusy"};
    tree_.controller_since = kNow - 1h;
  }

  ReassignmentPlan decide(WallTime now = kNow) {
    const ReassignmentObservation seen{cr_, requests_, dry_, tree_, gone_, ledger_read_, ask_again_};
    return decide_reassignment(seen, policy_, now);
  }
  [[nodiscard]] static std::string condition(const ReassignmentPlan& plan, std::string_view type) {
    const auto* c = api::find(plan.status->conditions, type);
    return c == nullptr ? "" : c->status + "/" + c->reason;
  }
  // A plan that only tells: the tree is away.
  ReassignmentPlan refuse_and_say() {
    ledger_read_ = false;
    tree_.health = TreeHealth::kUnreachable;
    return decide();
  }
  SentRequest& sent(std::int64_t generation = 1, int n = 1) {
    SentRequest out;
    out.marker = {generation, n};
    out.czxid = 0x10 + n;
    out.name = "request_000000000" + std::to_string(n);
    out.sent = kNow - 5s;
    auto request = std::make_shared<tree::Request>(request_options(cr_, policy_));
    request->assignments = cr_.spec.assignments;
    out.request = request;
    requests_.push_back(out);
    return requests_.back();
  }
  tree::RequestResult& result(SentRequest& of) {
    of.result.emplace();
    of.result->partitions = static_cast<int>(count(of.request->assignments));
    of.result->received = rfc3339(kNow - 4s);
    return *of.result;
  }
  void expect_refused(Reason reason, bool liftable) {
    const auto plan = decide();
    ASSERT_TRUE(plan.status);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(plan.write));
    EXPECT_EQ(condition(plan, "Accepted"), "False/" + std::string(api::to_string(reason)));
    EXPECT_EQ(condition(plan, "Stalled"), "True/" + std::string(api::to_string(reason)));
    EXPECT_EQ(plan.status->phase, liftable ? "Pending" : "Failed");
    EXPECT_EQ(condition(plan, "Succeeded").substr(0, 7),
              liftable ? "Unknown" : "False/" + std::string(api::to_string(reason)).substr(0, 1));
  }

  api::KafkaReassignment cr_;
  std::vector<SentRequest> requests_;
  std::vector<DryRun> dry_;
  TreeView tree_;
  bool gone_ = false;
  bool ledger_read_ = true;
  bool ask_again_ = false;
  Policy policy_{"op", true, {"kafka"}, {"*"}};
};

TEST_F(ReassignmentDecider, InvalidSpecIsFailed) {
  cr_.spec.problem = "orders-0: the replica list is empty";
  expect_refused(Reason::kInvalidSpec, false);
}
TEST_F(ReassignmentDecider, TooLargeObjectIsFailed) {
  cr_.meta.object_bytes = 1280 * 1024 + 1;
  expect_refused(Reason::kPlanTooLarge, false);
}
TEST_F(ReassignmentDecider, LogDirsAreFailed) {
  cr_.spec.log_dirs = true;
  expect_refused(Reason::kLogDirsNotSupported, false);
}
TEST_F(ReassignmentDecider, UnknownClusterWaits) {
  policy_.cluster_known = false;
  expect_refused(Reason::kClusterNotFound, true);
}
TEST_F(ReassignmentDecider, NamespaceThatIsNotAllowedWaits) {
  policy_.allowed_namespaces = {"other"};
  expect_refused(Reason::kNamespaceNotAllowed, true);
}
TEST_F(ReassignmentDecider, TopicThatIsNotAllowedWaits) {
  policy_.allowed_topics = {"audit-*"};
  expect_refused(Reason::kTopicNotAllowed, true);
}
TEST_F(ReassignmentDecider, InternalTopicNeedsItsName) {
  cr_.spec.assignments = {{"__consumer_offsets", {{0, {1}}}}};
  expect_refused(Reason::kTopicNotAllowed, true);
  policy_.allowed_topics = {"*", "__consumer_offsets"};
  EXPECT_TRUE(std::holds_alternative<SendRequest>(decide().write));
}

TEST_F(ReassignmentDecider, EveryFieldThatIsNotBuiltIsRefused) {
  const auto fresh = cr_;
  const std::vector<void (*)(api::ReassignmentSpec&)> edits = {[](auto& s) { s.suspend = true; },
                                                               [](auto& s) { s.dry_run = true; },
                                                               [](auto& s) { s.approval = "Manual"; },
                                                               [](auto& s) { s.approved_plan = "sha256:0"; },
                                                               [](auto& s) { s.max_in_flight_per_broker = 5; },
                                                               [](auto& s) { s.throttle = true; },
                                                               [](auto& s) { s.deadline = "2026-12-01T06:00:00Z"; },
                                                               [](auto& s) { s.stall_after = "1h"; },
                                                               [](auto& s) { s.deletion_policy = "Cancel"; },
                                                               [](auto& s) { s.deletion_policy = "Wait"; },
                                                               [](auto& s) { s.rollback_of = "other"; }};
  for (const auto& edit : edits) {
    cr_ = fresh;
    edit(cr_.spec);
    expect_refused(Reason::kUnsupportedFeature, false);
  }
  cr_ = fresh;
  cr_.spec.stall_after = "1800s";  // the default in other words
  EXPECT_TRUE(std::holds_alternative<SendRequest>(decide().write));
}

TEST_F(ReassignmentDecider, AllowTakesChecksOutAndMinInsyncReplicasIn) {
  cr_.spec.allow = {"MinInsyncReplicas", "NoLeader", "RackSpread"};
  cr_.spec.conflict_policy = "Replace";
  const auto plan = decide();
  const auto& request = std::get<SendRequest>(plan.write).request;
  EXPECT_EQ(request.check, (std::vector<std::string>{"ReplicationFactorChange", "InternalTopics", "UnderReplicated"}));
  EXPECT_EQ(request.allow, std::vector<std::string>{"MinInsyncReplicas"});
  EXPECT_TRUE(request.all_or_nothing);
}

TEST_F(ReassignmentDecider, NothingIsSentWhileTheLockStandsOrTheLedgerIsUnread) {
  tree_.lock = LockView{"", 7, 0, kNow};
  auto plan = decide();
  EXPECT_TRUE(std::holds_alternative<std::monostate>(plan.write));
  EXPECT_EQ(condition(plan, "Ready"), "False/Locked");
  tree_.lock.reset();
  ledger_read_ = false;
  plan = decide();
  EXPECT_TRUE(std::holds_alternative<std::monostate>(plan.write));
  EXPECT_FALSE(plan.status);
}

TEST_F(ReassignmentDecider, UnreachableTreeKeepsWhatWasSaidAndSaysSo) {
  cr_.status.phase = "Running";
  cr_.status.progress = {"1/2 (50%)", 2, 0, 1, 1, 0, 0, {}, {}};
  tree_.health = TreeHealth::kUnreachable;
  tree_.trouble = "ZooKeeper at zk:2181 does not answer";
  const auto plan = decide();
  EXPECT_EQ(plan.status->phase, "Running");
  EXPECT_EQ(plan.status->progress.completed, 1);
  EXPECT_EQ(condition(plan, "ClusterReachable"), "False/ClusterUnreachable");
  EXPECT_EQ(condition(plan, "Ready"), "False/ClusterUnreachable");
  EXPECT_EQ(condition(plan, "Reconciling"), "True/ClusterUnreachable");
  EXPECT_EQ(condition(plan, "Stalled"), "False/NotStalled");
}

TEST_F(ReassignmentDecider, CausesAreFoundInTheOrderOfTheOnCallPage) {
  SentRequest& request = sent();
  auto& r = result(request);
  tree::Problem p;
  p.tp = {"orders", 0};
  p.brokers = {12};
  p.since = rfc3339(kNow - 10min);
  request.sent = kNow - 2h;
  r.received = r.last_progress = rfc3339(kNow - 2h);
  const auto reason = [&] { return condition(decide(), "Ready"); };
  EXPECT_EQ(reason(), "False/NoProgress");
  for (const char* cause : {"KafkaError", "ReplicaNotInSync", "NoLeader", "TargetBrokerDown"}) {
    p.cause = cause;
    r.problems.insert(r.problems.begin(), p);
    EXPECT_EQ(reason(), "False/" + std::string(cause));
  }
  tree_.lock = LockView{"", 7, 0, kNow};
  EXPECT_EQ(reason(), "False/CancelRequested") << "under the lock a moving resource is being rolled back";
  tree_.lock.reset();
  tree_.controller.reset();
  tree_.controller_absent_since = kNow - 10s;
  EXPECT_EQ(reason(), "False/ControllerAbsent");
}

TEST_F(ReassignmentDecider, SilentControllerIsACauseAfterThirtySeconds) {
  sent();
  auto plan = decide(kNow + 24s);
  EXPECT_EQ(condition(plan, "Ready"), "False/Requested");
  ASSERT_TRUE(plan.look_again);
  EXPECT_EQ(*plan.look_again, kNow + 25s);
  plan = decide(kNow + 25s);
  EXPECT_EQ(condition(plan, "Ready"), "False/ControllerNotResponding");
}

TEST_F(ReassignmentDecider, FirstFailingCheckInTheControllersOrderIsTheReason) {
  auto& r = result(sent());
  r.refused["UnderReplicated"] = {{"orders", {0}}};
  r.refused["BrokerNotAvailable"] = {{"orders", {1}}};
  r.done = true;
  const auto plan = decide();
  EXPECT_EQ(plan.status->phase, "Failed");
  EXPECT_EQ(condition(plan, "Accepted"), "False/BrokerNotAvailable");
  EXPECT_EQ(plan.status->progress.failed, 2);
}

TEST_F(ReassignmentDecider, MalformedRequestCarriesWhatTheControllerSaid) {
  auto& r = result(sent());
  r.partitions = 0;
  r.refused["MalformedRequest"] = {};
  r.error = "orders-0: the list is empty";
  r.done = true;
  const auto plan = decide();
  EXPECT_EQ(condition(plan, "Accepted"), "False/MalformedRequest");
  EXPECT_NE(plan.status->summary.find("the list is empty"), std::string::npos);
}

struct Ending {
  const char* outcome;
  const char* phase;
  const char* ready;
};
class Endings : public ReassignmentDecider, public ::testing::WithParamInterface<Ending> {};

TEST_P(Endings, OutcomeBecomesAPhase) {
  auto& r = result(sent());
  r.finished["completed"] = {{"orders", {0}}};
  r.finished[GetParam().outcome].insert({"orders", {1}});
  if (std::string(GetParam().outcome) == "completed") r.finished["completed"] = {{"orders", {0, 1}}};
  r.done = true;
  const auto plan = decide();
  ASSERT_TRUE(plan.status);
  EXPECT_EQ(plan.status->phase, GetParam().phase);
  EXPECT_EQ(condition(plan, "Ready"), GetParam().ready);
  EXPECT_FALSE(plan.status->completion.empty());
  const bool reconciling = condition(plan, "Reconciling").starts_with("True");
  EXPECT_FALSE(reconciling);
}

INSTANTIATE_TEST_SUITE_P(All, Endings,
                         ::testing::Values(Ending{"completed", "Succeeded", "True/AllReplicasVerified"},
                                           Ending{"changed_outside", "Failed", "False/ChangedOutside"},
                                           Ending{"topic_deleted", "Failed", "False/TopicDeleted"},
                                           Ending{"superseded", "Failed", "False/Superseded"},
                                           Ending{"restored", "Cancelled", "False/AllRestored"},
                                           Ending{"withdrawn", "Cancelled", "False/AllRestored"},
                                           Ending{"completed_first", "PartiallyCancelled", "False/PartlyRestored"}));

TEST_F(ReassignmentDecider, LeftRunningByTheLockIsPartiallyCancelled) {
  auto& r = result(sent());
  r.finished["restored"] = {{"orders", {0}}};
  r.finished["completed"] = {{"orders", {1}}};
  r.done = true;
  tree_.lock_result = tree::RequestResult{};
  tree_.lock_result->refused["NoOriginalInSync"] = {{"orders", {1}}};
  EXPECT_EQ(decide().status->phase, "PartiallyCancelled");
}

TEST_F(ReassignmentDecider, RaisedAttemptAsksOnlyForWhatIsNotAtItsTarget) {
  auto& r = result(sent());
  r.finished["completed"] = {{"orders", {0}}};
  r.finished["restored"] = {{"orders", {1}}};
  r.done = true;
  cr_.meta.generation = 2;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decide().write)) << "an edit alone restarts nothing";
  cr_.spec.attempt = 1;
  const auto plan = decide();
  const auto& send = std::get<SendRequest>(plan.write);
  EXPECT_EQ(send.request.assignments, (Assignments{{"orders", {{1, {2, 3}}}}}));
  EXPECT_EQ(send.marker, (tree::MarkerName{2, 1}));
  EXPECT_EQ(send.attempt, 1);
}

TEST_F(ReassignmentDecider, RefusalOfAnEarlierGenerationIsAskedAgainWhenThePlanChanged) {
  auto& r = result(sent());
  r.refused["BrokerNotAvailable"] = {{"orders", {1}}};
  r.refused["NotAllAccepted"] = {{"orders", {0}}};
  r.done = true;
  cr_.meta.generation = 2;
  EXPECT_EQ(decide().status->phase, "Failed");
  cr_.spec.assignments["orders"][1] = {2, 1};
  const auto plan = decide();
  EXPECT_EQ(std::get<SendRequest>(plan.write).request.assignments, cr_.spec.assignments);
}

TEST_F(ReassignmentDecider, EditIntoSomethingUnsupportedFollowsWhatMovesToItsEnd) {
  result(sent());
  cr_.meta.generation = 2;
  cr_.spec.suspend = true;
  auto plan = decide();
  EXPECT_EQ(plan.status->phase, "Running");
  EXPECT_EQ(condition(plan, "Accepted"), "False/UnsupportedFeature");
  requests_[0].result->finished["completed"] = {{"orders", {0, 1}}};
  requests_[0].result->done = true;
  EXPECT_EQ(decide().status->phase, "Failed");
}

TEST_F(ReassignmentDecider, DeletedResourceWaitsForItsMovesThenCleansUp) {
  gone_ = true;
  result(sent());
  EXPECT_TRUE(std::holds_alternative<std::monostate>(decide().write));
  requests_[0].result->done = true;
  const auto plan = decide();
  const auto& clean = std::get<CleanUp>(plan.write);
  EXPECT_EQ(clean.requests, std::vector<std::size_t>{0});
  EXPECT_TRUE(clean.root);
}

TEST(CutForRequests, RespectsBothLimitsAndIsStable) {
  Assignments plan;
  for (int i = 0; i < 5001; ++i) plan["small"][i] = {1, 2, 3};
  for (int i = 0; i < 3000; ++i) plan["wide" + std::string(200, 'x')][i] = {1000000001, 1000000002, 1000000003};
  const auto pieces = cut_for_requests(plan);
  std::size_t total = 0;
  for (const Assignments& piece : pieces) {
    total += count(piece);
    EXPECT_LE(count(piece), tree::kMostPartitionsPerRequest);
    tree::Request request;
    request.assignments = piece;
    EXPECT_LE(tree::encode_request(request).size(), tree::kMostRequestBytes);
  }
  EXPECT_EQ(total, count(plan));
  Assignments rest = plan;
  for (const auto& [topic, entries] : pieces[0])
    for (const auto& [partition, replicas] : entries) erase(rest, TopicPartition{topic, partition});
  const auto again = cut_for_requests(rest);
  ASSERT_EQ(again.size(), pieces.size() - 1);
  for (std::size_t i = 0; i < again.size(); ++i) EXPECT_EQ(again[i], pieces[i + 1]);
}

TEST(Glob, StarsAndQuestionMarks) {
  EXPECT_TRUE(glob_match("*", "orders"));
  EXPECT_TRUE(glob_match("ord*s", "orders"));
  EXPECT_TRUE(glob_match("a*b*c", "axxbyybzzc"));
  EXPECT_TRUE(glob_match("order?", "orders"));
  EXPECT_FALSE(glob_match("order?", "order"));
  EXPECT_FALSE(glob_match("orders", "orders2"));
  EXPECT_FALSE(glob_match("", "x"));
}

TEST(Notes, OneForEachEdgeAndCauseAndNotAgainAfterARestart) {
  Told told;
  api::ReassignmentStatus status;
  status.phase = "Running";
  status.progress.total = 100;
  status.conditions = {{"Reconciling", "True", "TargetBrokerDown", "broker 12 is not registered", 1, ""}};
  EXPECT_EQ(notes(told, status, "", kNow).size(), 2U);
  EXPECT_EQ(notes(told, status, "", kNow + 1s).size(), 0U);
  status.progress.completed = 15;
  EXPECT_EQ(notes(told, status, "", kNow + 2min).size(), 1U);
  status.progress.completed = 30;
  EXPECT_EQ(notes(told, status, "", kNow + 2min + 30s).size(), 0U) << "at most one a minute";
  Told restarted = told_by(status);
  EXPECT_EQ(notes(restarted, status, "", kNow + 1h).size(), 0U);
}

TEST(Sequence, OrderIsByWrapAround) {
  EXPECT_TRUE(tree::sequence_before(2147483647, -2147483648));
  EXPECT_FALSE(tree::sequence_before(-2147483648, 2147483647));
}

TEST_F(ReassignmentDecider, TargetThatWouldDropAReplicaWaitsForTheRunningMoveAndNeedsNobody) {
  SentRequest& running = sent();
  result(running);  // both in flight
  cr_.meta.generation = 2;
  cr_.spec.assignments["orders"][1] = {3, 1};
  SentRequest& edited = sent(2);
  auto only = std::make_shared<tree::Request>(*edited.request);
  only->assignments = {{"orders", {{1, {3, 1}}}}};
  edited.request = only;
  tree::RequestResult& waits = result(edited);
  waits.waiting = 1;
  waits.holding = "DropSet";
  const auto plan = decide();
  EXPECT_EQ(plan.status->phase, "Running");
  EXPECT_EQ(condition(plan, "Ready"), "False/Moving");
  EXPECT_EQ(condition(plan, "Stalled"), "False/NotStalled");
  EXPECT_NE(plan.status->summary.find("1 wait: the new target of these partitions would drop a replica that must stay; "
                                      "it starts as soon as the running reassignment has ended"),
            std::string::npos)
      << plan.status->summary;
}

TEST_F(ReassignmentDecider, DropSetOfAnothersMoveIsRequested) {
  tree::RequestResult& waits = result(sent());
  waits.waiting = 2;
  waits.holding = "DropSet";
  const auto plan = decide();
  EXPECT_EQ(plan.status->phase, "Pending");
  EXPECT_EQ(condition(plan, "Ready"), "False/Requested");
  EXPECT_NE(plan.status->summary.find("would drop a replica that must stay"), std::string::npos);
  waits.holding = "ClusterUnhealthy";
  EXPECT_EQ(condition(decide(), "Ready"), "False/ClusterUnhealthy");
}

TEST_F(ReassignmentDecider, ApprovedAndSuspendedSayWhatTheSpecSays) {
  EXPECT_EQ(condition(refuse_and_say(), "Approved"), "True/Automatic");
  EXPECT_EQ(condition(refuse_and_say(), "Suspended"), "False/NotSuspended");
  cr_.spec.approval = "Manual";
  cr_.spec.suspend = true;
  EXPECT_EQ(condition(refuse_and_say(), "Approved"), "False/WaitingForApproval");
  EXPECT_EQ(condition(refuse_and_say(), "Suspended"), "True/Suspended");
}

}  // namespace
}  // namespace kro::decide
