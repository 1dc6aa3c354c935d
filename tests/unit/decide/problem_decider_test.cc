#include "decide/problem_decider.h"

#include <gtest/gtest.h>

#include "unit/decide/controller_cases.h"

namespace kro::decide::test {
namespace {

const TopicPartition kTp{"t", 0};

class ProblemDecider : public ::testing::Test {
 protected:
  ProblemDecider() { view.moving(kTp, {3, 4, 1, 2}, {3, 4}, {1, 2}, {1, 2}); }
  std::string cause() {
    const auto problem = find_problem(kTp, e, view);
    return problem ? problem->cause : "";
  }
  View view;
  Episode e = episode({1, 2}, {3, 4});
};

TEST_F(ProblemDecider, NoneWhileItRuns) {
  e.running = true;
  EXPECT_EQ(cause(), "");
  EXPECT_FALSE(find_problem({"t", 9}, e, view));
  view.dead(3);
  e.data.ended = true;
  EXPECT_EQ(cause(), "") << "in flight for nobody";
}

TEST_F(ProblemDecider, TargetBrokerDown) {
  view.dead(4);
  const auto p = find_problem(kTp, e, view);
  ASSERT_TRUE(p);
  EXPECT_EQ(p->cause, "TargetBrokerDown");
  EXPECT_EQ(p->brokers, (std::vector<BrokerId>{4}));
  EXPECT_EQ(p->current, (ReplicaList{1, 2}));
  EXPECT_EQ(p->target, (ReplicaList{3, 4}));
  EXPECT_EQ(p->isr, (ReplicaList{1, 2}));
  EXPECT_EQ(p->leader, 1);
  EXPECT_EQ(p->if_cancelled, "restored");
}

TEST_F(ProblemDecider, SaysWhatACancelWouldDo) {
  view.dead(4).dead(1).dead(2);
  EXPECT_EQ(find_problem(kTp, e, view)->if_cancelled, "refused: NoOriginalInSync");
  e.data.cancel = "cancel_2a";
  EXPECT_EQ(find_problem(kTp, e, view)->if_cancelled, "") << "is being cancelled";
}

TEST_F(ProblemDecider, NoLeader) {
  view.partition(kTp, {3, 4, 1, 2}, {2}, -1);
  EXPECT_EQ(cause(), "NoLeader");
  EXPECT_EQ(find_problem(kTp, e, view)->brokers, (std::vector<BrokerId>{2})) << "who must come back";
}

TEST_F(ProblemDecider, KafkaErrorWithItsCode) {
  e.last_error = AlterAnswer{39, "no"};
  EXPECT_EQ(cause(), "KafkaError");
  EXPECT_EQ(find_problem(kTp, e, view)->code, 39);
  e.running = true;
  EXPECT_EQ(cause(), "") << "it runs all the same";
  e.running = false;
  e.last_error->code = 85;
  EXPECT_EQ(cause(), "") << "nothing to cancel is no error";
}

TEST_F(ProblemDecider, ReplicaNotInSyncAfter60SecondsWithoutGrowth) {
  e.running = true;
  e.adding[3].last_growth = kStart;
  e.adding[4].last_growth = kStart;
  view.at(59s);
  EXPECT_EQ(cause(), "");
  view.at(60s);
  EXPECT_EQ(cause(), "ReplicaNotInSync");
  EXPECT_EQ(find_problem(kTp, e, view)->brokers, (std::vector<BrokerId>{3, 4}));
  e.adding[3].last_growth = kStart + 1s;
  e.adding[4].in_sync = true;
  EXPECT_EQ(cause(), "") << "one grows, the other has joined";
}

TEST_F(ProblemDecider, TheFirstCauseCounts) {
  e.last_error = AlterAnswer{39, "no"};
  view.partition(kTp, {3, 4, 1, 2}, {2}, -1).dead(3);
  EXPECT_EQ(cause(), "TargetBrokerDown");
  view.metadata.brokers[3] = {};
  EXPECT_EQ(cause(), "NoLeader");
}

}  // namespace
}  // namespace kro::decide::test
