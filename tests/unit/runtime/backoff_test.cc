#include "runtime/backoff.h"

#include <gtest/gtest.h>

#include <limits>

namespace kro {
namespace {

TEST(Backoff, DoublesUpToTheMost) {
  const BackoffPolicy policy{100ms, 1000ms};
  EXPECT_EQ(backoff_pause(policy, 1), 100ms);
  EXPECT_EQ(backoff_pause(policy, 2), 200ms);
  EXPECT_EQ(backoff_pause(policy, 4), 800ms);
  EXPECT_EQ(backoff_pause(policy, 5), 1000ms);
  EXPECT_EQ(backoff_pause(policy, std::numeric_limits<int>::max()), 1000ms);
}

TEST(Backoff, StartsAnewAfterReset) {
  Backoff backoff(BackoffPolicy{1s, 60s});
  EXPECT_EQ(backoff.failed(), 1s);
  EXPECT_EQ(backoff.failed(), 2s);
  EXPECT_EQ(backoff.failures(), 2);
  backoff.reset();
  EXPECT_EQ(backoff.failed(), 1s);
}

TEST(Backoff, KeysDoNotKnowEachOther) {
  KeyedBackoff backoff(BackoffPolicy{1s, 60s});
  EXPECT_EQ(backoff.failed("a"), 1s);
  EXPECT_EQ(backoff.failed("a"), 2s);
  EXPECT_EQ(backoff.failed("b"), 1s);
  backoff.forget("a");
  EXPECT_EQ(backoff.failures("a"), 0);
  EXPECT_EQ(backoff.failures("b"), 1);
  backoff.forget("never seen");
}

TEST(Backoff, JitterStretchesAndNeverShortens) {
  EXPECT_EQ(jittered(1000ms, 0.5, 0.0), 1000ms);
  EXPECT_EQ(jittered(1000ms, 0.5, 0.5), 1250ms);
  EXPECT_LE(jittered(1000ms, 0.5, 0.999999), 1500ms);
}

}  // namespace
}  // namespace kro
