// The parts of the adapter that need no server.

#include <gtest/gtest.h>

#include "adapters/zookeeper/client_log.h"
#include "adapters/zookeeper/op_table.h"
#include "adapters/zookeeper/watch_budget.h"
#include "ports/zk_rules.h"

namespace kro::zk {
namespace {

TEST(ClientLog, LevelAndTextAreTakenFromTheLine) {
  const auto warn = parse_client_log("2026-12-01 06:00:00,123:42(0x7f10):ZOO_WARN@check_events@2493: a: b");
  EXPECT_EQ(warn.level, log::Level::kWarn);
  EXPECT_EQ(warn.text, "a: b");
  EXPECT_EQ(parse_client_log("x:ZOO_ERROR@f@1: t").level, log::Level::kError);
  EXPECT_EQ(parse_client_log("x:ZOO_INFO@f@1: t").level, log::Level::kInfo);
  EXPECT_EQ(parse_client_log("x:ZOO_DEBUG@f@1: t").level, log::Level::kDebug);
  for (const char* strange : {"", "text", ":ZOO_", ":ZOO_ERROR", ":ZOO_ERROR@f"}) {
    EXPECT_EQ(parse_client_log(strange).level, log::Level::kWarn);
    EXPECT_EQ(parse_client_log(strange).text, strange);
  }
}

TEST(WatchBudget, CountsEachPathOnceAndFreesItWithTheEvent) {
  WatchBudget budget;
  const std::string path = "/abcdef";  // 11 with its length
  EXPECT_TRUE(budget.arm(path, WatchBudget::kNode));
  EXPECT_TRUE(budget.arm(path, WatchBudget::kNode));
  EXPECT_EQ(budget.bytes(), 11U);
  EXPECT_TRUE(budget.arm(path, WatchBudget::kChildren));
  EXPECT_EQ(budget.bytes(), 22U);
  budget.fired(path, ZkEvent::Type::kChildren);
  budget.fired(path, ZkEvent::Type::kChildren);
  EXPECT_EQ(budget.bytes(), 11U);
  EXPECT_TRUE(budget.arm(path, WatchBudget::kChildren));
  budget.fired(path, ZkEvent::Type::kDeleted);
  EXPECT_EQ(budget.bytes(), 0U);
  budget.fired("/never", ZkEvent::Type::kCreated);
}

TEST(WatchBudget, RefusesWhatWouldNotFitOnePacket) {
  WatchBudget budget;
  const std::string half(WatchBudget::kMostBytes / 2 - 4, 'a');
  EXPECT_TRUE(budget.arm(half + "1", WatchBudget::kNode));
  const Status refused = budget.arm(half + "2", WatchBudget::kNode);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  budget.fired(half + "1", ZkEvent::Type::kChanged);
  EXPECT_TRUE(budget.arm(half + "2", WatchBudget::kNode));
}

TEST(OpTable, ASlotIsTakenOnce) {
  OpTable table;
  const auto call = std::make_shared<PendingCall>(1);
  const OpId id = table.open(call, 0);
  EXPECT_EQ(table.size(), 1U);
  ASSERT_TRUE(table.take(id));
  EXPECT_FALSE(table.take(id));
  EXPECT_EQ(table.size(), 0U);
}

TEST(OpTable, AbortWakesTheWaiterAndKeepsTheArena) {
  OpTable table;
  const auto call = std::make_shared<PendingCall>(2);
  const OpId first = table.open(call, 0);
  table.open(call, 1, std::make_unique<OpArena>());
  table.take(first)->call->answer(0, {});
  table.abort_all(ErrorCode::kGone);
  const auto answers = call->wait({MonoTime::max(), {}});
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error(), ErrorCode::kGone);
  EXPECT_EQ(table.size(), 1U);
  table.take(2)->call->answer(1, {});  // late: dropped
}

TEST(OpTable, AnAnswerAfterTheDeadlineIsDropped) {
  const auto call = std::make_shared<PendingCall>(1);
  EXPECT_EQ(call->wait({MonoTime{}, {}}).error(), ErrorCode::kTimeout);
  call->answer(0, {});
  EXPECT_EQ(call->wait({MonoTime{}, {}}).error(), ErrorCode::kTimeout);
  std::stop_source stop;
  stop.request_stop();
  const auto other = std::make_shared<PendingCall>(1);
  EXPECT_EQ(other->wait({MonoTime::max(), stop.get_token()}).error(), ErrorCode::kCancelled);
}

TEST(ZkRules, PathsAreZooKeepers) {
  for (const char* good : {"/", "/a", "/a/b", "/a/.b", "/a/..b", "/a/b.", "/a b"})
    EXPECT_TRUE(zk_rules::valid_path(good)) << good;
  for (const char* bad : {"", "a", "/a/", "//", "/a//b", "/.", "/..", "/a/./b", "/a/../b", "/\x7f"})
    EXPECT_FALSE(zk_rules::valid_path(bad)) << bad;
  EXPECT_TRUE(zk_rules::valid_path("/queue/", true));
  EXPECT_FALSE(zk_rules::valid_path("/queue//", true));
  EXPECT_FALSE(zk_rules::valid_path("/../r", true));
}

}  // namespace
}  // namespace kro::zk
