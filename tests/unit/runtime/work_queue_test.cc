#include "runtime/work_queue.h"

#include <gtest/gtest.h>

#include "fakes/manual_clock.h"
#include "fakes/recording_metrics.h"
#include "runtime/work_queue_metrics.h"

namespace kro {
namespace {

constexpr auto kCancel = WorkPriority::kCancel;
constexpr auto kTree = WorkPriority::kTree;
constexpr auto kTell = WorkPriority::kTell;

class WorkQueueTest : public testing::Test {
 protected:
  std::string next() {
    const auto item = queue_.get();
    return item ? item->key : "";
  }
  ManualClock clock_;
  RecordingMetrics metrics_;
  WorkQueueMetrics observer_{metrics_, "kafkareassignment"};
  WorkQueue queue_{clock_, {}, &observer_};
  const MetricLabels labels_{{"name", "kafkareassignment"}, {"controller", "kafkareassignment"}};
};

TEST_F(WorkQueueTest, EmptyGivesNothing) {
  EXPECT_EQ(next(), "");
  EXPECT_FALSE(queue_.next_due());
}

TEST_F(WorkQueueTest, KeyAddedManyTimesIsWorkedOnOnce) {
  for (int i = 0; i < 5; ++i) queue_.add("a", kTell);
  EXPECT_EQ(queue_.waiting(), 1U);
  EXPECT_EQ(next(), "a");
  EXPECT_EQ(next(), "");
  queue_.done("a");
  EXPECT_EQ(next(), "");
}

TEST_F(WorkQueueTest, OrderIsByPriorityThenByAdd) {
  queue_.add("tell1", kTell);
  queue_.add("tree1", kTree);
  queue_.add("tell2", kTell);
  queue_.add("cancel1", kCancel);
  queue_.add("tree2", kTree);
  std::vector<std::string> order;
  while (auto item = queue_.get()) order.push_back(item->key);
  EXPECT_EQ(order, (std::vector<std::string>{"cancel1", "tree1", "tree2", "tell1", "tell2"}));
}

TEST_F(WorkQueueTest, HigherPriorityMovesAWaitingKeyUpAndNeverDown) {
  queue_.add("a", kTell);
  queue_.add("b", kTree);
  queue_.add("a", kCancel);
  queue_.add("a", kTell);
  const auto item = queue_.get();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->key, "a");
  EXPECT_EQ(item->priority, kCancel);
  EXPECT_EQ(next(), "b");
  EXPECT_EQ(next(), "");
}

TEST_F(WorkQueueTest, KeyIsNeverWorkedOnTwiceAtOnceAndNothingIsLost) {
  queue_.add("a", kTell);
  EXPECT_EQ(next(), "a");
  queue_.add("a", kTell);
  queue_.add("a", kCancel);
  EXPECT_EQ(next(), "");  // still in hand
  EXPECT_EQ(queue_.waiting(), 0U);
  queue_.done("a");
  const auto again = queue_.get();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->priority, kCancel);  // the highest of what was added meanwhile
  queue_.done("a");
  EXPECT_EQ(next(), "");
}

TEST_F(WorkQueueTest, DelayedKeyComesWhenDueAndNotBefore) {
  queue_.add_after("a", kTell, 100ms);
  EXPECT_EQ(next(), "");
  EXPECT_EQ(queue_.next_due(), clock_.now().mono + 100ms);
  clock_.advance(99ms);
  EXPECT_EQ(next(), "");
  clock_.advance(1ms);
  EXPECT_EQ(next(), "a");
  EXPECT_FALSE(queue_.next_due());
}

TEST_F(WorkQueueTest, TheEarlierOfTwoDelaysCounts) {
  queue_.add_after("a", kTell, 100ms);
  queue_.add_after("a", kTree, 500ms);
  clock_.advance(100ms);
  const auto item = queue_.get();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->priority, kTree);
  queue_.done("a");
  clock_.advance(1000ms);
  EXPECT_EQ(next(), "");

  queue_.add_after("b", kTell, 500ms);
  queue_.add_after("b", kTell, 100ms);
  clock_.advance(100ms);
  EXPECT_EQ(next(), "b");
}

TEST_F(WorkQueueTest, AddTakesTheDelayAway) {
  queue_.add_after("a", kTree, 100ms);
  queue_.add("a", kTell);
  EXPECT_FALSE(queue_.next_due());
  const auto item = queue_.get();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->priority, kTree);
  queue_.done("a");
  clock_.advance(1000ms);
  EXPECT_EQ(next(), "");
}

TEST_F(WorkQueueTest, KeyThatComesDueWhileInHandIsWorkedOnAfterwards) {
  queue_.add("a", kTell);
  EXPECT_EQ(next(), "a");
  queue_.add_after("a", kTell, 10ms);
  clock_.advance(10ms);
  EXPECT_EQ(next(), "");
  queue_.done("a");
  EXPECT_EQ(next(), "a");
}

TEST_F(WorkQueueTest, RetriesPauseLongerAndLongerUntilForgotten) {
  EXPECT_EQ(queue_.retry("a", kTell), 5ms);
  EXPECT_EQ(queue_.retry("a", kTell), 10ms);
  EXPECT_EQ(queue_.retry("b", kTell), 5ms);
  for (int i = 0; i < 40; ++i) queue_.retry("a", kTell);
  EXPECT_EQ(queue_.retry("a", kTell), 30s);
  queue_.forget("a");
  EXPECT_EQ(queue_.retry("a", kTell), 5ms);
}

TEST_F(WorkQueueTest, TellsItsFiguresUnderTheUsualNames) {
  queue_.add("a", kTell);
  queue_.add("b", kTell);
  queue_.add("b", kTell);
  EXPECT_EQ(metrics_.value("workqueue_depth", labels_), 2);
  EXPECT_EQ(metrics_.value("workqueue_adds_total", labels_), 2);
  clock_.advance(1500ms);
  EXPECT_EQ(next(), "a");
  EXPECT_EQ(metrics_.value("workqueue_depth", labels_), 1);
  EXPECT_EQ(metrics_.observed("workqueue_queue_duration_seconds", labels_), (std::vector<double>{1.5}));
  clock_.advance(2000ms);
  EXPECT_EQ(next(), "b");
  clock_.advance(1000ms);
  observer_.report(queue_.load());
  EXPECT_EQ(metrics_.value("workqueue_unfinished_work_seconds", labels_), 4);
  EXPECT_EQ(metrics_.value("workqueue_longest_running_processor_seconds", labels_), 3);
  queue_.done("a");
  EXPECT_EQ(metrics_.observed("workqueue_work_duration_seconds", labels_), (std::vector<double>{3}));
  queue_.retry("a", kTell);
  EXPECT_EQ(metrics_.value("workqueue_retries_total", labels_), 1);
}

TEST_F(WorkQueueTest, WaitGivesWhatIsDueAtOnceAndEndsWhenStopped) {
  queue_.add("a", kTell);
  std::stop_source stop;
  const auto item = queue_.wait(stop.get_token(), 1h);
  ASSERT_TRUE(item);
  EXPECT_EQ(item->key, "a");
  stop.request_stop();
  EXPECT_FALSE(queue_.wait(stop.get_token(), 1h));
  EXPECT_FALSE(queue_.wait({}, 0ms));
}

TEST_F(WorkQueueTest, DoneWithoutGetIsABrokenInvariant) { EXPECT_DEATH(queue_.done("a"), "broken invariant"); }

}  // namespace
}  // namespace kro
