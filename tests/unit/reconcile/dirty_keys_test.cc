#include "reconcile/dirty_keys.h"

#include <gtest/gtest.h>

#include <memory>

#include "fakes/manual_clock.h"
#include "fakes/recording_metrics.h"

namespace kro::reconcile {
namespace {

using Keys = std::vector<std::string>;

class DirtyKeysTest : public testing::Test {
 protected:
  [[nodiscard]] MonoTime now() const { return clock_.now().mono; }
  [[nodiscard]] double depth() {
    figures_.report();
    return metrics_.value("workqueue_depth", labels_);
  }
  ManualClock clock_;
  RecordingMetrics metrics_;
  WorkFigures figures_{metrics_, clock_, "kra"};
  DirtyKeys keys_{figures_, clock_};
  const MetricLabels labels_{{"name", "kra"}, {"controller", "kra"}};
};

TEST_F(DirtyKeysTest, KeyIsThereOnceHoweverOftenItIsMarked) {
  keys_.mark("a");
  clock_.advance(2s);
  keys_.mark("a");
  keys_.mark("b");
  EXPECT_EQ(keys_.due(now()), (Keys{"a", "b"}));
  EXPECT_EQ(keys_.waited("a", now()), 2s) << "the first mark counts";
  EXPECT_EQ(metrics_.value("workqueue_adds_total", labels_), 2);
  EXPECT_EQ(depth(), 2);
  keys_.done("a");
  keys_.done("a");
  EXPECT_EQ(keys_.due(now()), Keys{"b"});
  EXPECT_EQ(depth(), 1);
}

TEST_F(DirtyKeysTest, FailedKeyWaitsAloneLongerEachTimeAndMarkingDoesNotEndIt) {
  keys_.mark("bad");
  keys_.mark("good");
  milliseconds before{0};
  for (int i = 0; i < 20; ++i) {
    keys_.failed("bad", now());
    keys_.again("bad");
    keys_.mark("bad");
    EXPECT_EQ(keys_.due(now()), Keys{"good"});
    const auto pause = std::chrono::duration_cast<milliseconds>(keys_.next_due(now()) - now());
    EXPECT_GE(pause, before);
    EXPECT_LE(pause, 30s);
    before = pause;
    clock_.advance(pause);
    EXPECT_EQ(keys_.due(now()), (Keys{"bad", "good"}));
    EXPECT_EQ(keys_.waited("bad", now()), 0ms) << "a pause is no wait";
  }
  EXPECT_EQ(before, 30s);
  EXPECT_EQ(metrics_.value("workqueue_retries_total", labels_), 20);
}

TEST_F(DirtyKeysTest, SuccessMakesTheNextFailureTheFirst) {
  keys_.mark("a");
  for (int i = 0; i < 8; ++i) keys_.failed("a", now());
  keys_.succeeded("a");
  EXPECT_TRUE(keys_.any_due(now()));
  EXPECT_EQ(keys_.next_due(now()), MonoTime::max());
  keys_.failed("a", now());
  EXPECT_FALSE(keys_.any_due(now()));
  EXPECT_LE(keys_.next_due(now()), now() + 5ms);
}

TEST_F(DirtyKeysTest, QueueThatGoesTakesItsDepthAlong) {
  auto other = std::make_unique<DirtyKeys>(figures_, clock_);
  keys_.mark("a");
  other->mark("b");
  EXPECT_EQ(depth(), 2);
  other.reset();
  EXPECT_EQ(depth(), 1);
}

}  // namespace
}  // namespace kro::reconcile
