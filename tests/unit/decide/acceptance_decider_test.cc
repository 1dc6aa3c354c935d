#include "decide/acceptance_decider.h"

#include <gtest/gtest.h>

#include "unit/decide/controller_cases.h"

namespace kro::decide::test {
namespace {

const TopicPartition kP0{"orders", 0};

class AcceptanceDecider : public ::testing::Test {
 protected:
  AcceptanceDecider() {
    view.partition(kP0, {1, 2}).partition({"orders", 1}, {2, 3});
    request.assignments = {{"orders", {{0, {2, 3}}}}};
  }
  std::string reason(const TopicPartition& tp = kP0) {
    const auto result = decide_acceptance(request, model, view).result;
    for (const auto& [name, sets] : result.refused)
      if (contains(sets, tp)) return name;
    return "";
  }
  void target(ReplicaList replicas) { request.assignments["orders"][0] = std::move(replicas); }

  View view;
  ControllerModel model;
  tree::Request request;
};

TEST_F(AcceptanceDecider, AcceptsAndRecordsTheOriginals) {
  request.client = "op/uid";
  const Acceptance a = decide_acceptance(request, model, view);
  EXPECT_TRUE(a.result.refused.empty());
  EXPECT_EQ(a.result.partitions, 1);
  EXPECT_EQ(a.result.waiting, 1);
  EXPECT_FALSE(a.result.done);
  EXPECT_EQ(a.result.client, "op/uid");
  EXPECT_EQ(*find(a.originals.originals, kP0), (ReplicaList{1, 2}));
  EXPECT_EQ(a.originals.topic_ids.at("orders"), "id-orders");
}

TEST_F(AcceptanceDecider, UnknownTopicOrPartition) {
  request.assignments = {{"orders", {{9, {1}}}}, {"nope", {{0, {1}}}}};
  view.gone("nope");
  EXPECT_EQ(reason({"orders", 9}), "UnknownTopicOrPartition");
  EXPECT_EQ(reason({"nope", 0}), "UnknownTopicOrPartition");
  EXPECT_TRUE(decide_acceptance(request, model, view).result.done);
}

TEST_F(AcceptanceDecider, TopicBeingDeleted) {
  model.topics_being_deleted.insert("orders");
  EXPECT_EQ(reason(), "TopicBeingDeleted");
}

TEST_F(AcceptanceDecider, BrokerNotAvailable) {
  target({2, 9});
  EXPECT_EQ(reason(), "BrokerNotAvailable");
  target({2, 1});
  view.dead(1);
  EXPECT_EQ(reason(), "") << "a dead broker that holds a replica already may stay";
}

TEST_F(AcceptanceDecider, LegacyConflict) {
  model.in_flight[kP0] = episode({1, 2}, {2, 4});
  model.in_flight[kP0].data.legacy = true;
  EXPECT_EQ(reason(), "LegacyConflict");
}

TEST_F(AcceptanceDecider, ForeignMove) {
  view.moving(kP0, {2, 3, 1}, {3}, {1}, {1, 2});
  EXPECT_EQ(reason(), "ForeignMove");
  model.in_flight[kP0] = episode({1, 2}, {2, 3});
  EXPECT_EQ(reason(), "") << "ours";
  model.in_flight[kP0].data.ended = true;
  EXPECT_EQ(reason(), "ForeignMove") << "a znode that could not be deleted is in flight for nobody";
  view.after.clear();
  model.in_flight.clear();
  EXPECT_EQ(reason(), "ForeignMove") << "one of the two lists is enough";
}

TEST_F(AcceptanceDecider, CancelRequested) {
  model.in_flight[kP0] = rolling_back({1, 2}, {2, 3});
  EXPECT_EQ(reason(), "CancelRequested");
}

TEST_F(AcceptanceDecider, MinInsyncReplicas) {
  view.min_isr("orders", "3");
  target({1, 2, 3});
  EXPECT_EQ(reason(), "MinInsyncReplicas");
  request.allow = {"MinInsyncReplicas"};
  EXPECT_EQ(reason(), "") << "for the repair of exactly that state";
  request.allow.clear();
  view.min_isr("orders", "2");
  EXPECT_EQ(reason(), "");
  model.in_flight[kP0] = episode({1, 2}, {1, 2, 3});
  model.in_flight[kP0].data.top = 1;
  EXPECT_EQ(reason(), "MinInsyncReplicas") << "top of the episode counts";
}

TEST_F(AcceptanceDecider, ReplicationFactorChangeOnRequest) {
  target({1, 2, 3});
  EXPECT_EQ(reason(), "");
  request.check = {"ReplicationFactorChange"};
  EXPECT_EQ(reason(), "ReplicationFactorChange");
  request.allow = {"ReplicationFactorChange"};
  EXPECT_EQ(reason(), "");
}

TEST_F(AcceptanceDecider, InternalTopicsOnRequest) {
  request.assignments = {{"__consumer_offsets", {{0, {2}}}}};
  view.partition({"__consumer_offsets", 0}, {1});
  EXPECT_EQ(reason({"__consumer_offsets", 0}), "");
  request.check = {"InternalTopics"};
  EXPECT_EQ(reason({"__consumer_offsets", 0}), "InternalTopics");
}

TEST_F(AcceptanceDecider, UnderReplicatedOnRequest) {
  request.check = {"UnderReplicated"};
  EXPECT_EQ(reason(), "");
  view.partition(kP0, {1, 2}, {1});
  EXPECT_EQ(reason(), "UnderReplicated");
  view.moving(kP0, {2, 3, 1}, {3}, {1}, {1, 2});
  model.in_flight[kP0] = episode({1, 2}, {2, 3});
  EXPECT_EQ(reason(), "") << "a replica that is being added does not count";
}

TEST_F(AcceptanceDecider, NoLeaderOnRequest) {
  view.partition(kP0, {1, 2}, {1, 2}, -1);
  EXPECT_EQ(reason(), "");
  request.check = {"NoLeader"};
  EXPECT_EQ(reason(), "NoLeader");
}

TEST_F(AcceptanceDecider, RackSpreadOnRequest) {
  request.check = {"RackSpread"};
  target({2, 4});
  EXPECT_EQ(reason(), "RackSpread");
  target({2, 3});
  EXPECT_EQ(reason(), "");
}

TEST_F(AcceptanceDecider, PartitionsBusyOnRequest) {
  request.check = {"PartitionsBusy"};
  request.client = "op/mine";
  accept(model, 1, {{"orders", {{0, {2, 4}}}}}, view, "op/mine");
  EXPECT_EQ(reason(), "") << "my own";
  accept(model, 2, {{"orders", {{0, {2, 5}}}}}, view, "op/other");
  EXPECT_EQ(reason(), "PartitionsBusy");
  model.requests.clear();
  model.in_flight[kP0] = episode({1, 2}, {2, 4}, "request_0000000009-9");
  EXPECT_EQ(reason(), "PartitionsBusy") << "in flight for somebody unknown";
}

TEST_F(AcceptanceDecider, TheFirstThatFailsIsTheReason) {
  // Everything is wrong at once; each reason goes away, and the next one shows.
  view.partition(kP0, {2, 4}, {2}, -1).min_isr("orders", "3");
  view.metadata.topics["orders"].internal = true;
  target({1, 3, 9});
  view.metadata.brokers.at(3).rack = view.metadata.brokers.at(1).rack = "";
  view.metadata.brokers.at(4).rack = "odd";
  request.client = "op/mine";
  request.check = {"PartitionsBusy",  "RackSpread",     "NoLeader",
                   "UnderReplicated", "InternalTopics", "ReplicationFactorChange"};
  model.topics_being_deleted.insert("orders");
  accept(model, 2, {{"orders", {{0, {2, 5}}}}}, view, "op/other");
  EXPECT_EQ(reason(), "TopicBeingDeleted");
  model.topics_being_deleted.clear();
  EXPECT_EQ(reason(), "BrokerNotAvailable");
  target({1, 3, 5});
  view.metadata.brokers.at(5).rack = "";
  view.before[kP0] = view.after[kP0] = {{2, 4}, {}, {}};
  EXPECT_EQ(reason(), "ForeignMove");
  view.before.clear();
  view.after.clear();
  EXPECT_EQ(reason(), "MinInsyncReplicas");
  for (const char* next : {"ReplicationFactorChange", "InternalTopics", "UnderReplicated", "NoLeader", "RackSpread",
                           "PartitionsBusy", ""}) {
    request.allow.push_back(reason());
    EXPECT_EQ(reason(), next);
  }
}

TEST_F(AcceptanceDecider, AllOrNothingRefusesTheRestToo) {
  request.assignments["orders"][9] = {1};
  request.all_or_nothing = true;
  const Acceptance a = decide_acceptance(request, model, view);
  EXPECT_EQ(reason(), "NotAllAccepted");
  EXPECT_EQ(reason({"orders", 9}), "UnknownTopicOrPartition");
  EXPECT_TRUE(a.originals.originals.empty());
  EXPECT_TRUE(a.result.done);
  EXPECT_EQ(a.result.refused_count(), 2U);
}

TEST_F(AcceptanceDecider, DryRunIsDoneAndWaitsForNothing) {
  request.dry_run = true;
  const Acceptance a = decide_acceptance(request, model, view);
  EXPECT_TRUE(a.result.done);
  EXPECT_EQ(a.result.waiting, 0);
  EXPECT_EQ(count(a.originals.originals), 1U);
}

TEST_F(AcceptanceDecider, OriginalsOfAPartitionInFlightAreItsEpisodes) {
  view.moving(kP0, {3, 4, 1, 2}, {3, 4}, {1, 2}, {1, 2});
  model.in_flight[kP0] = episode({1, 2}, {3, 4});
  EXPECT_EQ(*find(decide_acceptance(request, model, view).originals.originals, kP0), (ReplicaList{1, 2}));
}

TEST(ControllerFeatures, AreWhatIsExecuted) {
  const auto published = controller_features().published();
  for (const char* name : {"client", "check", "allow", "dry_run", "all_or_nothing", "max_in_flight",
                           "max_in_flight_per_broker", "health_gate", "RackSpread", "PartitionsBusy"})
    EXPECT_TRUE(controller_features().has(name)) << name;
  for (const char* name : {"cancel", "withdraw", "throttle", "legacy"})
    EXPECT_FALSE(controller_features().has(name)) << name << " comes with a later release";
}

}  // namespace
}  // namespace kro::decide::test
