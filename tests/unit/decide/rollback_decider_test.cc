#include "decide/rollback_decider.h"

#include <gtest/gtest.h>

#include "unit/decide/controller_cases.h"

namespace kro::decide::test {
namespace {

using What = RollbackVerdict::What;
const TopicPartition kTp{"t", 0};

TEST(MayRollBack, NeedsOriginalsThatAreAliveAndInTheIsr) {
  View view;
  view.partition(kTp, {3, 4, 1, 2}, {1, 2, 3});
  EXPECT_TRUE(may_roll_back(kTp, {1, 2}, 2, view));
  view.min_isr("t", "2");
  EXPECT_TRUE(may_roll_back(kTp, {1, 2}, 2, view));
  view.dead(2);
  EXPECT_FALSE(may_roll_back(kTp, {1, 2}, 2, view)) << "min.insync.replicas";
  view.min_isr("t", "1");
  EXPECT_TRUE(may_roll_back(kTp, {1, 2}, 2, view));
  view.dead(1);
  EXPECT_FALSE(may_roll_back(kTp, {1, 2}, 2, view)) << "Kafka would answer 0 and lose the partition";
  EXPECT_FALSE(may_roll_back({"t", 9}, {1, 2}, 2, view));
}

TEST(MayRollBack, TopBoundsWhatMinInsyncAsksFor) {
  View view;
  view.partition(kTp, {1, 3, 4}, {1}).min_isr("t", "3");
  EXPECT_TRUE(may_roll_back(kTp, {1}, 1, view)) << "one original: more than it can never be in sync";
  view.min_isr("t", "0");
  view.partition(kTp, {1, 3, 4}, {3});
  EXPECT_FALSE(may_roll_back(kTp, {1}, 1, view)) << "at least one";
}

class RollbackDecider : public ::testing::Test {
 protected:
  What what(bool uncertain = false) { return roll_back(kTp, e, view, uncertain).what; }
  void null_answered_0() {
    e.answered = kStart - 1s;
    e.null_answered = true;
    e.last_error.reset();
  }
  void null_answered_85() {
    e.answered = kStart - 1s;
    e.null_answered = false;
    e.last_error = AlterAnswer{kafka_error::kNoReassignmentInProgress, ""};
  }
  void runs() { view.moving(kTp, {3, 4, 1, 2}, {3, 4}, {1, 2}, {1, 2}); }
  What settled() {
    const auto first = roll_back(kTp, e, view, false);
    EXPECT_EQ(first.what, What::kWait) << "not in one poll";
    e.outside = first.outside;
    e.topic_missing = first.topic_missing;
    view.begun.mono += 5s;
    return roll_back(kTp, e, view, false).what;
  }

  View view;
  Episode e = rolling_back({1, 2}, {3, 4});
};

TEST_F(RollbackDecider, NullGoesFirst) {
  runs();
  EXPECT_EQ(what(), What::kSendNull);
  EXPECT_EQ(what(true), What::kWait) << "uncertain";
  view.after.clear();
  view.before.clear();
  view.partition(kTp, {3, 4});
  EXPECT_EQ(what(), What::kSendNull) << "also when nothing is listed: the list proves nothing before null was answered";
}

TEST_F(RollbackDecider, NullIsNotSentOnceTheOriginalsHaveDied) {
  view.moving(kTp, {3, 4, 1, 2}, {3, 4}, {1, 2}, {3});
  view.dead(1).dead(2);
  EXPECT_EQ(what(), What::kWait);
  view.metadata.brokers[1] = {};
  EXPECT_EQ(what(), What::kWait) << "alive, but not in the ISR";
  view.partition(kTp, {3, 4, 1, 2}, {3, 1});
  EXPECT_EQ(what(), What::kSendNull);
}

TEST_F(RollbackDecider, RestoredIsTheListOfTheOriginalsWhenKafkaItselfProvedTheOrder) {
  view.partition(kTp, {1, 2});
  EXPECT_EQ(what(), What::kSendNull) << "never asked";
  null_answered_0();
  EXPECT_EQ(what(), What::kSendOriginals) << "Metadata may still show the list from before the move";
  e.null_leaves = {2, 1};
  EXPECT_EQ(what(), What::kSendOriginals) << "what null left is in another order, whatever Metadata shows";
  e.null_leaves = {1, 2};
  EXPECT_EQ(what(), What::kRestored);
  null_answered_85();
  EXPECT_EQ(what(), What::kSendOriginals) << "nothing ran, and nothing says how it ended";
  e.originals_answered = true;
  EXPECT_EQ(what(), What::kRestored);
  EXPECT_EQ(what(true), What::kWait) << "uncertain";
  view.before[kTp] = {{3, 4, 1, 2}, {3, 4}, {1, 2}};
  EXPECT_EQ(what(), What::kWait) << "it ended during this poll";
}

TEST_F(RollbackDecider, AnotherOrderAfterKafkasYesIsAskedForAgain) {
  view.partition(kTp, {2, 1});
  null_answered_0();
  e.originals_answered = true;
  EXPECT_EQ(settled(), What::kSendOriginals);
}

TEST_F(RollbackDecider, PermutationIsMendedWithTheExplicitOriginals) {
  view.partition(kTp, {2, 1});
  null_answered_0();
  EXPECT_EQ(what(), What::kSendOriginals);
  null_answered_85();
  EXPECT_EQ(what(), What::kSendOriginals);
}

TEST_F(RollbackDecider, PermutationIsMendedAlsoIfItIsAnEarlierTargetAndNullWasTaken) {
  e.data.earlier = {{2, 1}, {2, 3}};
  view.partition(kTp, {2, 1});
  null_answered_0();
  EXPECT_EQ(what(), What::kSendOriginals) << "what null left";
  null_answered_85();
  EXPECT_EQ(what(), What::kCompletedFirst) << "an earlier target that was completed";
}

TEST_F(RollbackDecider, After85AnEarlierTargetIsCompletedFirst) {
  view.partition(kTp, {3, 4});
  null_answered_85();
  EXPECT_EQ(what(), What::kCompletedFirst);
}

TEST_F(RollbackDecider, After85AnythingElseIsChangedOutside) {
  view.partition(kTp, {5, 6});
  null_answered_85();
  EXPECT_EQ(settled(), What::kChangedOutside);
}

TEST_F(RollbackDecider, FewerThanTheOriginalsNeedTheRuleAgain) {
  view.partition(kTp, {2});
  null_answered_0();
  EXPECT_EQ(what(), What::kSendOriginals);
  view.partition(kTp, {2}, {});
  EXPECT_EQ(what(), What::kWait);
}

TEST_F(RollbackDecider, PollOlderThanTheAnswerSaysNothing) {
  view.partition(kTp, {1, 2});
  e.answered = kStart + 1s;
  EXPECT_EQ(what(), What::kWait);
}

TEST_F(RollbackDecider, ItsOwnOriginalsOnTheirWayAreNotCancelled) {
  view.moving(kTp, {1, 2}, {1}, {}, {2});
  null_answered_0();
  e.originals_answered = true;
  EXPECT_EQ(what(), What::kWait);
  e.originals_answered = false;
  EXPECT_EQ(what(), What::kSendNull) << "of whom, nobody knows after a failover";
}

TEST_F(RollbackDecider, ForwardMoveThatComesBackIsStoppedAgain) {
  runs();
  null_answered_85();
  EXPECT_EQ(what(), What::kSendNull);
}

TEST_F(RollbackDecider, TopicDeleted) {
  view.gone("t");
  EXPECT_EQ(settled(), What::kTopicDeleted);
  e.topic_missing = kStart - 60s;
  EXPECT_EQ(what(true), What::kWait);
}

class ForeignRollbackDecider : public ::testing::Test {
 protected:
  ForeignVerdict verdict(bool uncertain = false) { return roll_back_foreign(kTp, {1, 2}, state, view, uncertain); }
  View view;
  ForeignRollback state;
  using What = ForeignVerdict::What;
};

TEST_F(ForeignRollbackDecider, NullUnderTheSameRule) {
  view.moving(kTp, {3, 1, 2}, {3}, {1, 2}, {1, 2});
  EXPECT_EQ(verdict().what, What::kSendNull);
  EXPECT_EQ(verdict(true).what, What::kWait);
  state.next_call = kStart + 1ms;
  EXPECT_EQ(verdict().what, What::kWait);
  view.dead(1).dead(2);
  EXPECT_EQ(verdict().what, What::kRefused);
}

TEST_F(ForeignRollbackDecider, TheOrderIsNotProven) {
  view.partition(kTp, {2, 1});
  EXPECT_EQ(verdict().what, What::kWait) << "Metadata may lag";
  state.unlisted = kStart - 5s;
  EXPECT_EQ(verdict().what, What::kRestored);
  state.unlisted.reset();
  state.null_answered = true;
  EXPECT_EQ(verdict().what, What::kRestored) << "Kafka took null";
}

TEST_F(ForeignRollbackDecider, AnotherListThatStaysIsCompletedFirst) {
  view.partition(kTp, {3});
  EXPECT_EQ(verdict().what, What::kWait);
  state.unlisted = verdict().unlisted;
  view.at(4999ms);
  EXPECT_EQ(verdict().what, What::kWait);
  view.at(5s);
  EXPECT_EQ(verdict().what, What::kCompletedFirst);
}

TEST_F(ForeignRollbackDecider, TopicThatGoesEndsIt) {
  state.unlisted = kStart - 5s;
  EXPECT_EQ(verdict().what, What::kCompletedFirst);
}

}  // namespace
}  // namespace kro::decide::test
