#include "decide/start_decider.h"

#include <gtest/gtest.h>

#include "unit/decide/controller_cases.h"

namespace kro::decide::test {
namespace {

using What = StartStep::What;
const TopicPartition kP0{"t", 0};

class StartDecider : public ::testing::Test {
 protected:
  StartDecider() {
    for (int p = 0; p < 8; ++p) view.partition({"t", p}, {1, 2});
  }
  static Assignments to(std::initializer_list<int> partitions, const ReplicaList& target) {
    Assignments out;
    for (const int p : partitions) out["t"][p] = target;
    return out;
  }
  StartPlan plan() { return decide_start(model, view, limits); }
  std::vector<int> started() {
    std::vector<int> out;
    for (const StartStep& step : plan().steps) out.push_back(step.tp.partition);
    return out;
  }
  std::string holding(const AcceptedRequest& r) { return plan().holding.at(r.name + "-" + std::to_string(r.sequence)); }

  View view;
  ControllerModel model;
  StartLimits limits;
};

TEST_F(StartDecider, BeginsAnEpisode) {
  accept(model, 1, to({0}, {3, 4}), view);
  const auto steps = plan().steps;
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].what, What::kCreate);
  EXPECT_EQ(steps[0].episode.originals, (ReplicaList{1, 2}));
  EXPECT_EQ(steps[0].episode.top, 2);
  EXPECT_EQ(steps[0].episode.assignment, (ReplicaList{3, 4}));
  EXPECT_EQ(steps[0].episode.request, "request_1-1");
  EXPECT_EQ(steps[0].episode.topic_id, "id-t");
}

TEST_F(StartDecider, RoundRobinBetweenClientsInSequenceOrder) {
  accept(model, 1, to({0, 1, 2}, {3, 4}), view, "op/a");
  accept(model, 2, to({3, 4}, {3, 4}), view, "op/b");
  accept(model, 3, to({5}, {3, 4}), view, "op/a");
  accept(model, 4, to({6}, {3, 4}), view);  // a plain request is a client of its own
  EXPECT_EQ(started(), (std::vector<int>{0, 3, 6, 1, 4, 2, 5}));
}

TEST_F(StartDecider, OrderGoesAcrossTheWrap) {
  accept(model, INT32_MIN, to({1}, {3, 4}), view);
  accept(model, INT32_MAX, to({0}, {3, 4}), view);
  EXPECT_EQ(started(), (std::vector<int>{0, 1}));
}

TEST_F(StartDecider, OnlyForTheNewestRequest) {
  accept(model, 1, to({0, 1}, {3, 4}), view);
  accept(model, 2, to({0}, {5, 6}), view);
  const auto steps = plan().steps;
  ASSERT_EQ(steps.size(), 2U);
  for (const auto& step : steps) EXPECT_EQ(step.result_name, step.tp == kP0 ? "request_2-2" : "request_1-1");
}

TEST_F(StartDecider, WindowOfARequest) {
  accept(model, 1, to({0, 1, 2}, {3, 4}), view).request.max_in_flight = 2;
  EXPECT_EQ(started(), (std::vector<int>{0, 1}));
  model.in_flight[{"t", 7}] = episode({1, 2}, {3, 4}, "request_1-1");
  EXPECT_EQ(started(), (std::vector<int>{0}));
  model.in_flight[{"t", 6}] = episode({1, 2}, {3, 4}, "request_9-9");
  EXPECT_EQ(started(), (std::vector<int>{0})) << "another request's do not count";
}

TEST_F(StartDecider, WindowOfTheController) {
  accept(model, 1, to({0, 1, 2}, {3, 4}), view);
  limits.max_in_flight = 2;
  model.in_flight[{"t", 7}] = episode({1, 2}, {3, 4});
  EXPECT_EQ(started(), (std::vector<int>{0}));
  model.in_flight[{"t", 7}].data.ended = true;
  EXPECT_EQ(started(), (std::vector<int>{0, 1})) << "an ended znode takes no slot";
}

TEST_F(StartDecider, WindowPerBrokerCountsWhoGainsAndWhoFeeds) {
  limits.max_in_flight_per_broker = 1;
  accept(model, 1, {{"t", {{0, {1, 3}}, {1, {1, 4}}, {2, {2, 1}}}}}, view);
  EXPECT_EQ(started(), (std::vector<int>{0, 2})) << "1 feeds already; a new order feeds nobody";
  view.partition({"t", 1}, {1, 2}, {2, 1}, 2);
  EXPECT_EQ(started(), (std::vector<int>{0, 1, 2})) << "another leader feeds";
}

TEST_F(StartDecider, WhatCannotStartHoldsNobodyUp) {
  AcceptedRequest& r = accept(model, 1, to({0, 1}, {3, 4}), view);
  model.uncertain[kP0] = kStart + 60s;
  EXPECT_EQ(started(), (std::vector<int>{1}));
  EXPECT_EQ(holding(r), "");
}

TEST_F(StartDecider, HealthGate) {
  AcceptedRequest& r = accept(model, 1, to({0}, {3, 4}), view);
  view.partition({"sick", 0}, {1, 2}, {1});
  EXPECT_EQ(started(), (std::vector<int>{0}));
  r.request.health_gate = true;
  EXPECT_EQ(started(), std::vector<int>{});
  EXPECT_EQ(holding(r), "ClusterUnhealthy");
  model.in_flight[{"sick", 0}] = episode({1}, {1, 2});
  EXPECT_EQ(started(), (std::vector<int>{0})) << "one that we move does not count";
  model.in_flight.clear();
  view.before[{"sick", 0}] = {{1, 2}, {2}, {}};
  EXPECT_EQ(started(), (std::vector<int>{0})) << "nor one that anybody moves";
}

TEST_F(StartDecider, AtTheTarget) {
  accept(model, 1, to({0}, {1, 2}), view);
  EXPECT_EQ(plan().steps.at(0).what, What::kCompleted);
  view.partition(kP0, {1, 2}, {1});
  EXPECT_EQ(plan().steps.at(0).what, What::kCreate) << "not all of it is in the ISR";
}

TEST_F(StartDecider, AnotherOrderIsAnotherTarget) {
  accept(model, 1, to({0}, {2, 1}), view);
  EXPECT_EQ(plan().steps.at(0).what, What::kCreate);
}

TEST_F(StartDecider, ChangedOutside) {
  accept(model, 1, to({0}, {3, 4}), view);
  view.partition(kP0, {1, 5});
  EXPECT_EQ(plan().steps.at(0).what, What::kChangedOutside);
  view.moving(kP0, {1, 2, 5}, {5}, {}, {1, 2});
  EXPECT_EQ(plan().steps.at(0).what, What::kChangedOutside) << "somebody else moves it";
}

TEST_F(StartDecider, TopicDeletedOrAnother) {
  accept(model, 1, to({0}, {3, 4}), view);
  View gone = view;
  gone.gone("t");
  view = gone;
  EXPECT_EQ(plan().steps.at(0).what, What::kTopicDeleted);
  view.before[kP0] = {{1, 2}, {2}, {}};
  EXPECT_TRUE(plan().steps.empty()) << "listed by 46: Metadata lags";
  view.before.clear();
  view.partition(kP0, {1, 2});
  view.metadata.topics["t"].id = "another";
  EXPECT_EQ(plan().steps.at(0).what, What::kTopicDeleted);
}

TEST_F(StartDecider, JoinsTheSameTarget) {
  view.moving(kP0, {3, 4, 1, 2}, {3, 4}, {1, 2}, {1, 2});
  model.in_flight[kP0] = episode({1, 2}, {3, 4}, "request_1-1");
  accept(model, 2, to({0}, {3, 4}), view);
  EXPECT_EQ(plan().steps.at(0).what, What::kJoin);
}

TEST_F(StartDecider, RetargetKeepsTheEpisode) {
  view.moving(kP0, {2, 3, 1}, {3}, {1}, {1, 2});
  model.in_flight[kP0] = episode({1, 2}, {2, 3}, "request_1-1");
  model.in_flight[kP0].data.earlier.assign(8, {9});
  accept(model, 2, to({0}, {2, 4}), view);
  const StartStep step = plan().steps.at(0);
  EXPECT_EQ(step.what, What::kRetarget);
  EXPECT_EQ(step.episode.originals, (ReplicaList{1, 2}));
  EXPECT_EQ(step.episode.top, 2);
  EXPECT_EQ(step.episode.assignment, (ReplicaList{2, 4}));
  EXPECT_EQ(step.episode.request, "request_2-2");
  ASSERT_EQ(step.episode.earlier.size(), 8U) << "at most 8 are remembered";
  EXPECT_EQ(step.episode.earlier.front(), (ReplicaList{2, 3}));
}

TEST_F(StartDecider, RetargetNeedsNoSlotOfTheController) {
  limits.max_in_flight = 1;
  view.moving(kP0, {2, 3, 1}, {3}, {1}, {1, 2});
  model.in_flight[kP0] = episode({1, 2}, {2, 3}, "request_1-1");
  accept(model, 2, to({0, 1}, {2, 4}), view);
  EXPECT_EQ(started(), (std::vector<int>{0}));
}

TEST_F(StartDecider, RetargetThatWouldDropAReplicaWaits) {
  // 3 leads, it is neither in the new target nor an original: Kafka would stop it at once.
  view.moving(kP0, {3, 4, 1, 2}, {3, 4}, {1, 2}, {3});
  model.in_flight[kP0] = episode({1, 2}, {3, 4}, "request_1-1");
  AcceptedRequest& r = accept(model, 2, to({0}, {5, 6}), view);
  EXPECT_TRUE(plan().steps.empty());
  EXPECT_EQ(holding(r), "DropSet");
}

TEST_F(StartDecider, UnderRollBackWaits) {
  model.in_flight[kP0] = rolling_back({1, 2}, {3, 4});
  accept(model, 2, to({0}, {5, 6}), view);
  EXPECT_TRUE(plan().steps.empty());
}

TEST_F(StartDecider, EndedZnodeBeginsAnew) {
  model.in_flight[kP0] = episode({9, 8}, {1, 2}, "request_1-1");
  model.in_flight[kP0].data.ended = true;
  accept(model, 2, to({0}, {5, 6}), view).originals.originals["t"][0] = {1, 2};
  EXPECT_EQ(plan().steps.at(0).what, What::kCreate);
  EXPECT_EQ(plan().steps.at(0).episode.originals, (ReplicaList{1, 2}));
}

TEST_F(StartDecider, PlansNoMoreThanABatch) {
  limits.batch = 3;
  accept(model, 1, to({0, 1, 2, 3, 4}, {3, 4}), view);
  EXPECT_EQ(started().size(), 3U);
}

TEST(ControllerModel, WaitingIsWhatNobodyHasTakenUp) {
  AcceptedRequest r;
  for (int p = 0; p < 6; ++p) r.request.assignments["t"][p] = {1};
  insert(r.result.refused["X"], {"t", 0});
  insert(r.result.finished["completed"], {"t", 1});
  insert(r.result.joined, {"t", 2});
  std::map<TopicPartition, Episode> in_flight;
  in_flight[{"t", 3}] = episode({1}, {2}, "mine");
  in_flight[{"t", 4}] = episode({1}, {2}, "other");
  const Assignments waiting = waiting_of(r, "mine", in_flight);
  EXPECT_EQ(count(waiting), 2U);
  EXPECT_TRUE(find(waiting, {"t", 4}) && find(waiting, {"t", 5}));
}

TEST(ControllerModel, NewestWaitingAcrossTheWrap) {
  ControllerModel model;
  const View view;
  accept(model, INT32_MAX, {{"t", {{0, {1}}}}}, view);
  accept(model, INT32_MIN, {{"t", {{0, {2}}}}}, view);
  EXPECT_EQ(model.newest_waiting({"t", 0})->sequence, INT32_MIN);
  EXPECT_EQ(model.newest_waiting({"t", 1}), nullptr);
}

TEST(KafkaViewTest, MinInsyncIsOneUnlessItIsANumber) {
  View view;
  EXPECT_EQ(view.min_insync("t"), 1U);
  EXPECT_EQ(view.min_isr("t", "2").min_insync("t"), 2U);
  EXPECT_EQ(view.min_isr("t", "x").min_insync("t"), 1U);
  EXPECT_EQ(view.min_isr("t", "2x").min_insync("t"), 1U);
}

TEST(KafkaViewTest, SettledIsWithoutWhatIsAdded) {
  View view;
  view.moving({"t", 0}, {2, 3, 1}, {3}, {1}, {1, 2});
  EXPECT_EQ(view.settled_replicas({"t", 0}), (ReplicaList{2, 1}));
  EXPECT_EQ(view.settled_replicas({"t", 1}), ReplicaList{});
}

}  // namespace
}  // namespace kro::decide::test
