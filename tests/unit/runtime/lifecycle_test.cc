#include "runtime/lifecycle.h"

#include <gtest/gtest.h>

#include "fakes/manual_clock.h"

namespace kro {
namespace {

TEST(Lifecycle, LiveWhileNoWorkerIsStuck) {
  ManualClock clock;
  Lifecycle lifecycle(clock);
  EXPECT_TRUE(lifecycle.livez().good);
  const auto worker = lifecycle.worker("worker prod-eu");
  clock.advance(1h);
  EXPECT_TRUE(lifecycle.livez().good);  // has never been busy

  worker->beat(clock.now().mono);
  clock.advance(29s);
  EXPECT_TRUE(lifecycle.livez().good);
  clock.advance(1s);
  EXPECT_FALSE(lifecycle.livez().good);
  EXPECT_EQ(lifecycle.livez().text, "worker prod-eu has been stuck for 30 s\n");

  worker->beat(clock.now().mono);
  EXPECT_TRUE(lifecycle.livez().good);
  worker->idle();
  clock.advance(1h);
  EXPECT_TRUE(lifecycle.livez().good);
}

TEST(Lifecycle, OneStuckWorkerIsEnough) {
  ManualClock clock;
  Lifecycle lifecycle(clock);
  const auto stuck = lifecycle.worker("a");
  const auto alive = lifecycle.worker("b");
  stuck->beat(clock.now().mono);
  clock.advance(40s);
  alive->beat(clock.now().mono);
  EXPECT_EQ(lifecycle.livez().text, "a has been stuck for 40 s\n");
}

TEST(Lifecycle, ReadyWhenEveryConditionIs) {
  ManualClock clock;
  Lifecycle lifecycle(clock);
  const auto first = lifecycle.readiness("cache of kafkareassignments");
  const auto second = lifecycle.readiness("cache of kafkareassignmentcancels");
  EXPECT_FALSE(lifecycle.readyz().good);
  first->set(true);
  EXPECT_EQ(lifecycle.readyz().text, "cache of kafkareassignmentcancels is not ready\n");
  second->set(true);
  EXPECT_TRUE(lifecycle.readyz().good);
  first->set(false);
  EXPECT_FALSE(lifecycle.readyz().good);
}

TEST(Lifecycle, StopAsAskedEndsWithZero) {
  ManualClock clock;
  Lifecycle lifecycle(clock);
  const auto token = lifecycle.stop_token();
  EXPECT_FALSE(token.stop_requested());
  lifecycle.request_stop("SIGTERM");
  EXPECT_TRUE(token.stop_requested());
  EXPECT_EQ(lifecycle.exit_code(), 0);
  EXPECT_EQ(lifecycle.why(), "SIGTERM");
}

TEST(Lifecycle, FailureEndsWithOneAndTheFirstReasonCounts) {
  ManualClock clock;
  Lifecycle lifecycle(clock);
  lifecycle.fail(fail(ErrorCode::kUnavailable, Retry::kFatal, "cannot listen").value());
  lifecycle.request_stop("SIGTERM");
  EXPECT_TRUE(lifecycle.stop_token().stop_requested());
  EXPECT_EQ(lifecycle.exit_code(), 1);
  EXPECT_EQ(lifecycle.why(), "cannot listen");

  Lifecycle asked(clock);
  asked.request_stop("SIGTERM");
  asked.fail(fail(ErrorCode::kGone, Retry::kFatal, "too late").value());
  EXPECT_EQ(asked.exit_code(), 0);
}

}  // namespace
}  // namespace kro
