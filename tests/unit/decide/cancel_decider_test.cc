#include "decide/cancel_decider.h"

#include <gtest/gtest.h>

#include "api/conditions.h"
#include "decide/reassignment_causes.h"

namespace kro::decide {
namespace {

const WallTime kNow = from_epoch_ms(1796104800000);

// One cancel whose lock stands and whose controller leads; each test changes one thing.
class CancelDecider : public ::testing::Test {
 protected:
  CancelDecider() {
    cr_.meta = {"kafka", "stop", "uid-1", "1", 1, false, {"kafka-reassignment.io/operator"}, 300};
    cr_.spec.cluster = "prod";
    cr_.spec.all = true;
    tree_.health = TreeHealth::kConnected;
    tree_.controller = tree::ControllerNode{};
    tree_.controller_since = kNow - 1h;
    tree_.lock = LockView{"op", 0x2a, 1, kNow - 1min};
  }
  CancelPlan decide() { return decide_cancel({cr_, tree_, other_holders_, withdrawn_}, policy_, kNow); }
  [[nodiscard]] static std::string condition(const CancelPlan& plan, std::string_view type) {
    const auto* c = api::find(plan.status->conditions, type);
    return c == nullptr ? "" : c->status + "/" + c->reason;
  }
  tree::RequestResult& result() {
    tree_.lock_result = tree::RequestResult{};
    tree_.lock_result->partitions = 3;
    return *tree_.lock_result;
  }

  api::KafkaReassignmentCancel cr_;
  TreeView tree_;
  Policy policy_{"op", true, {"kafka"}, {"*"}};
  std::int64_t other_holders_ = 0;
  std::int64_t withdrawn_ = 0;
};

TEST_F(CancelDecider, LedgerConflictIsForAPerson) {
  tree_.health = TreeHealth::kUnreachable;
  tree_.trouble = "the ledger belongs to another operator";
  EXPECT_EQ(condition(decide(), "Stalled"), "False/NotStalled") << "ZooKeeper away goes on by itself";
  tree_.conflicted = true;
  EXPECT_EQ(condition(decide(), "Stalled"), "True/LedgerConflict");
  cr_.meta.deleting = true;
  EXPECT_EQ(condition(decide(), "Stalled"), "True/LedgerConflict");
}

TEST_F(CancelDecider, ControllerThatDiesInTheMiddleIsTold) {
  result();
  EXPECT_EQ(condition(decide(), "Reconciling"), "True/CancelRequested");
  tree_.controller.reset();
  tree_.controller_absent_since = kNow - kAbsentFor;
  EXPECT_EQ(condition(decide(), "Reconciling"), "True/ControllerAbsent");
  tree_.controller_absent_since = kNow;
  const CancelPlan plan = decide();
  EXPECT_EQ(condition(plan, "Reconciling"), "True/CancelRequested") << "it may be a failover";
  EXPECT_EQ(plan.look_again, kNow + kAbsentFor);
}

TEST_F(CancelDecider, OnlyVersionOneOfALockIsDeleted) {
  cr_.meta.deleting = true;
  EXPECT_TRUE(std::holds_alternative<DeleteLock>(decide().write));
  other_holders_ = 1;
  EXPECT_TRUE(std::holds_alternative<RemoveFinalizer>(decide().write));
  other_holders_ = 0;
  tree_.lock->version = 2;
  const CancelPlan plan = decide();
  ASSERT_TRUE(std::holds_alternative<RemoveFinalizer>(plan.write)) << "written by somebody else since";
  EXPECT_FALSE(std::get<RemoveFinalizer>(plan.write).lock_left.empty());
}

TEST_F(CancelDecider, NotAllowedIsFailed) {
  cr_.meta.finalizers.clear();
  tree_.lock.reset();
  policy_.allowed_namespaces = {"other"};
  const CancelPlan plan = decide();
  EXPECT_EQ(plan.status->phase, "Failed");
  EXPECT_EQ(condition(plan, "Accepted"), "False/NamespaceNotAllowed");
  EXPECT_EQ(condition(plan, "Succeeded"), "False/NamespaceNotAllowed");
}

TEST_F(CancelDecider, WithdrawnNeverFallsForOneLock) {
  result();
  withdrawn_ = 5;
  cr_.status = *decide().status;
  EXPECT_EQ(cr_.status.progress.withdrawn, 5);
  EXPECT_EQ(cr_.status.progress.affected, 8);
  withdrawn_ = 0;  // the resource ended, and is not counted any more
  EXPECT_EQ(decide().status->progress.withdrawn, 5);
  tree_.lock->czxid = 0x2b;
  EXPECT_EQ(decide().status->progress.withdrawn, 0) << "another lock";
}

TEST_F(CancelDecider, PreviewSaysOnlyWhatWasCounted) {
  cr_.meta.finalizers.clear();
  tree_.lock.reset();
  tree_.foreign.total = 2;
  const CancelPlan plan = decide();
  ASSERT_TRUE(plan.status->preview);
  EXPECT_EQ(plan.status->preview->foreign, 2);
  EXPECT_LT(plan.status->preview->restorable, 0);
}

}  // namespace
}  // namespace kro::decide
