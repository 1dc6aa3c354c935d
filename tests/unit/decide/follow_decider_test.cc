#include "decide/follow_decider.h"

#include <gtest/gtest.h>

#include "unit/decide/controller_cases.h"

namespace kro::decide::test {
namespace {

using What = FollowVerdict::What;
const TopicPartition kTp{"t", 0};

class FollowDecider : public ::testing::Test {
 protected:
  What what(bool uncertain = false) { return follow(kTp, e, view, uncertain).what; }
  void answered(milliseconds at) { e.answered = kStart + at; }
  void runs() { view.moving(kTp, {3, 4, 1, 2}, {3, 4}, {1, 2}, {1, 2}); }
  // Two polls 5 s apart.
  What settled() {
    const auto first = follow(kTp, e, view, false);
    EXPECT_NE(first.what, What::kChangedOutside) << "not in one poll";
    EXPECT_NE(first.what, What::kTopicDeleted) << "not in one poll";
    e.outside = first.outside;
    e.topic_missing = first.topic_missing;
    view.begun.mono += 4999ms;
    const auto early = follow(kTp, e, view, false);
    EXPECT_NE(early.what, What::kChangedOutside) << "not within 5 s";
    EXPECT_NE(early.what, What::kTopicDeleted) << "not within 5 s";
    e.outside = early.outside;
    e.topic_missing = early.topic_missing;
    view.begun.mono += 1ms;
    return follow(kTp, e, view, false).what;
  }

  View view;
  Episode e = episode({1, 2}, {3, 4});
};

TEST_F(FollowDecider, NeverAnsweredIsSubmitted) {
  view.partition(kTp, {1, 2});
  EXPECT_EQ(what(), What::kSubmit);
  EXPECT_EQ(what(true), What::kWait) << "not while a call may be under way";
  view.partition(kTp, {5, 6});
  EXPECT_EQ(what(), What::kSubmit) << "whatever the list: Kafka has not been told";
}

TEST_F(FollowDecider, RunningIsWaitedFor) {
  runs();
  const auto verdict = follow(kTp, e, view, false);
  EXPECT_EQ(verdict.what, What::kWait);
  EXPECT_TRUE(verdict.running);
}

TEST_F(FollowDecider, AnotherTargetRunningIsNotOurs) {
  runs();
  e.data.assignment = {3, 5};
  EXPECT_FALSE(follow(kTp, e, view, false).running);
  EXPECT_EQ(what(), What::kSubmit) << "a change of target that Kafka has not been told";
}

TEST_F(FollowDecider, Completed) {
  view.partition(kTp, {3, 4});
  EXPECT_EQ(what(), What::kCompleted);
  EXPECT_EQ(what(true), What::kWait) << "not while uncertain";
  view.partition(kTp, {4, 3});
  answered(-1s);
  EXPECT_EQ(what(), What::kWait) << "in order";
  view.partition(kTp, {3, 4}, {3});
  EXPECT_EQ(what(), What::kWait) << "target ⊆ ISR";
  view.partition(kTp, {3, 4});
  view.before[kTp] = {{3, 4, 1, 2}, {3, 4}, {1, 2}};
  EXPECT_EQ(what(), What::kWait) << "listed before";
  view.before.clear();
  view.after[kTp] = {{3, 4, 1, 2}, {3, 4}, {1, 2}};
  EXPECT_EQ(what(), What::kWait) << "listed after";
}

TEST_F(FollowDecider, ATargetThatWasLeftBehindBeforeNeedsKafkasYes) {
  view.partition(kTp, {1, 2});
  e.data.assignment = {1, 2};
  EXPECT_EQ(what(), What::kSubmit) << "back to the originals: an old list looks the same";
  e.data.originals = {5, 6};
  EXPECT_EQ(what(), What::kCompleted);
  e.data.earlier = {{3, 4}, {1, 2}};
  EXPECT_EQ(what(), What::kSubmit) << "back to an earlier target";
  answered(-1s);
  EXPECT_EQ(what(), What::kCompleted);
}

TEST_F(FollowDecider, ChangedOutsideNeedsTwoPolls) {
  answered(-1s);
  view.partition(kTp, {1, 5});
  EXPECT_EQ(settled(), What::kChangedOutside);
}

TEST_F(FollowDecider, ChangedOutsideStartsAnewWithAnotherList) {
  answered(-1s);
  view.partition(kTp, {1, 5});
  e.outside = Episode::Sighting{{1, 6}, kStart - 60s};
  const auto verdict = follow(kTp, e, view, false);
  EXPECT_EQ(verdict.what, What::kWait);
  EXPECT_EQ(verdict.outside->first, kStart);
}

TEST_F(FollowDecider, PollOlderThanTheAnswerSaysNothing) {
  answered(1s);
  view.partition(kTp, {1, 2});
  const auto verdict = follow(kTp, e, view, false);
  EXPECT_EQ(verdict.what, What::kWait);
  EXPECT_FALSE(verdict.outside);
}

TEST_F(FollowDecider, BackAtTheOriginalsAfterAnAnswerIsOutside) {
  // Kafka said 0, and then somebody cancelled it.
  answered(-1s);
  view.partition(kTp, {1, 2});
  EXPECT_EQ(settled(), What::kChangedOutside);
}

TEST_F(FollowDecider, MergedListInMetadataIsOnlyLate) {
  answered(-1s);
  view.partition(kTp, {3, 4, 1, 2}, {1, 2, 3, 4});
  const auto verdict = follow(kTp, e, view, false);
  EXPECT_EQ(verdict.what, What::kWait);
  EXPECT_FALSE(verdict.outside);
}

TEST_F(FollowDecider, EndedDuringThePollIsLookedAtAgain) {
  answered(-1s);
  view.partition(kTp, {1, 5});
  view.before[kTp] = {{3, 4, 1, 2}, {3, 4}, {1, 2}};
  EXPECT_FALSE(follow(kTp, e, view, false).outside);
}

TEST_F(FollowDecider, InheritedIsSubmittedOnlyFromAListOfItsOwn) {
  e.inherited = true;
  e.data.earlier = {{5, 6}};
  e.data.step = {3, 4, 5};
  for (const ReplicaList& own : {ReplicaList{1, 2}, ReplicaList{5, 6}, ReplicaList{3, 4, 5}}) {
    view.partition(kTp, own);
    EXPECT_EQ(what(), What::kSubmit) << to_text(own);
  }
  view.partition(kTp, {2, 1});
  EXPECT_EQ(settled(), What::kChangedOutside);
}

TEST_F(FollowDecider, InheritedWithAnotherTargetRunning) {
  e.inherited = true;
  view.moving(kTp, {1, 5, 2}, {5}, {2}, {1, 2});
  EXPECT_EQ(what(), What::kSubmit) << "the list without adding ones is the originals";
  view.moving(kTp, {6, 5}, {5}, {}, {6});
  EXPECT_EQ(settled(), What::kChangedOutside);
}

TEST_F(FollowDecider, TopicDeletedNeedsTwoPolls) {
  view.gone("t");
  EXPECT_EQ(settled(), What::kTopicDeleted);
}

TEST_F(FollowDecider, TopicWithAnotherIdIsDeletedToo) {
  e.data.topic_id = "id-before";
  view.partition(kTp, {1, 2});
  EXPECT_EQ(settled(), What::kTopicDeleted) << "no call for the namesake";
}

TEST_F(FollowDecider, TopicThatHangsInItsDeletionIsWaitedFor) {
  view.gone("t");
  view.before[kTp] = view.after[kTp] = {{3, 4, 1, 2}, {3, 4}, {1, 2}};
  EXPECT_EQ(what(), What::kWait);
  EXPECT_FALSE(follow(kTp, e, view, false).topic_missing);
}

TEST_F(FollowDecider, TopicThatWasNotAskedForIsNotGone) {
  EXPECT_FALSE(topic_gone({"other", 0}, e.data, view));
  EXPECT_EQ(follow({"other", 0}, e, view, false).what, What::kWait);
}

TEST_F(FollowDecider, TopicDeletedIsNoOutcomeWhileUncertain) {
  view.gone("t");
  e.topic_missing = kStart - 60s;
  EXPECT_EQ(what(true), What::kWait);
  EXPECT_EQ(what(), What::kTopicDeleted);
}

}  // namespace
}  // namespace kro::decide::test
