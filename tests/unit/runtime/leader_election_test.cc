#include "runtime/leader_election.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fakes/fake_kube.h"
#include "fakes/manual_clock.h"

namespace kro {
namespace {

const KubeResource kLeases{"coordination.k8s.io", "v1", "leases"};

class LeaderElectionTest : public testing::Test {
 protected:
  struct Candidate {
    Candidate(FakeKube& kube, const Clock& clock, const std::string& identity)
        : election(kube, clock, {"ns", "lead", identity},
                   {[this] { ++started; }, [this](const std::string& why) { lost.push_back(why); }},
                   [] { return 0.0; }) {}
    int started = 0;
    std::vector<std::string> lost;
    LeaderElection election;
  };
  nlohmann::json spec() { return nlohmann::json::parse(kube_.object(kLeases, {"ns", "lead"}).value())["spec"]; }

  ManualClock clock_;
  FakeKube kube_{[this] { return clock_.now().wall; }};
  Candidate a_{kube_, clock_, "a"};
  Candidate b_{kube_, clock_, "b"};
};

TEST_F(LeaderElectionTest, TheFirstTakesTheLeaseAndTheSecondWaits) {
  EXPECT_EQ(a_.election.step({}), 2s);
  EXPECT_TRUE(a_.election.leads());
  EXPECT_EQ(a_.started, 1);
  EXPECT_EQ(spec()["holderIdentity"], "a");
  EXPECT_EQ(spec()["leaseDurationSeconds"], 15);
  EXPECT_EQ(spec()["leaseTransitions"], 0);
  b_.election.step({});
  EXPECT_FALSE(b_.election.leads());
  EXPECT_EQ(b_.election.holder(), "a");
}

TEST_F(LeaderElectionTest, ALivingLeaderKeepsTheLeaseForEver) {
  const std::string acquired = (a_.election.step({}), spec()["acquireTime"].get<std::string>());
  for (int i = 0; i < 30; ++i) {
    clock_.advance(2s);
    a_.election.step({});
    b_.election.step({});
    ASSERT_TRUE(a_.election.leads());
    ASSERT_FALSE(b_.election.leads());
  }
  EXPECT_EQ(spec()["acquireTime"], acquired);
  EXPECT_NE(spec()["renewTime"], acquired);
  EXPECT_EQ(a_.started, 1);
  EXPECT_TRUE(a_.lost.empty());
}

TEST_F(LeaderElectionTest, ADeadLeaderIsReplacedAfterTheLeaseDurationNotBefore) {
  a_.election.step({});
  b_.election.step({});
  clock_.advance(14s);
  b_.election.step({});
  EXPECT_FALSE(b_.election.leads());
  clock_.advance(1s);
  b_.election.step({});
  EXPECT_TRUE(b_.election.leads());
  EXPECT_EQ(spec()["leaseTransitions"], 1);
  EXPECT_FALSE(a_.election.leads()) << "by its own clock, without asking anyone";
}

TEST_F(LeaderElectionTest, ALeaseIsAsOldAsWeHaveSeenItUnchanged) {
  a_.election.step({});
  clock_.advance(60s);  // long dead, but b sees it for the first time
  b_.election.step({});
  EXPECT_FALSE(b_.election.leads());
  kube_.set_away(true);  // failed looks in between do not make it younger
  clock_.advance(10s);
  b_.election.step({});
  kube_.set_away(false);
  clock_.advance(5s);
  b_.election.step({});
  EXPECT_TRUE(b_.election.leads());
}

TEST_F(LeaderElectionTest, ALeaderThatCannotRenewStopsBeforeOthersStart) {
  a_.election.step({});
  b_.election.step({});
  kube_.set_away(true);
  for (int i = 0; i < 4; ++i) {
    clock_.advance(2s);
    EXPECT_LE(a_.election.step({}), 2s);
    EXPECT_TRUE(a_.election.leads());
  }
  EXPECT_TRUE(a_.lost.empty());
  clock_.advance(2s);
  EXPECT_FALSE(a_.election.leads()) << "at the deadline, even before the next step";
  a_.election.step({});
  ASSERT_EQ(a_.lost.size(), 1U);
  EXPECT_NE(a_.lost[0].find("10 s"), std::string::npos);
  EXPECT_NE(a_.lost[0].find("away"), std::string::npos) << "says why: " << a_.lost[0];
  kube_.set_away(false);
  b_.election.step({});
  EXPECT_FALSE(b_.election.leads()) << "15 s are not over";
}

TEST_F(LeaderElectionTest, ALeaderAsksNoFurtherThanItsDeadline) {
  a_.election.step({});
  kube_.set_away(true);
  clock_.advance(9s);
  EXPECT_LE(a_.election.step({}), 1s);
}

TEST_F(LeaderElectionTest, ALostAnswerDoesNotEndTheLeadership) {
  a_.election.step({});
  clock_.advance(2s);
  kube_.lose_answers(1);
  a_.election.step({});
  clock_.advance(2s);
  a_.election.step({});
  EXPECT_TRUE(a_.election.leads());
  EXPECT_TRUE(a_.lost.empty());
  EXPECT_EQ(a_.started, 1);
}

TEST_F(LeaderElectionTest, ALostAnswerToTheFirstWriteIsFoundOut) {
  kube_.lose_answers(1);
  a_.election.step({});
  EXPECT_FALSE(a_.election.leads()) << "not known to have it";
  clock_.advance(2s);
  a_.election.step({});
  EXPECT_TRUE(a_.election.leads());
}

TEST_F(LeaderElectionTest, ALeaseThatAnotherTookEndsTheLeadership) {
  a_.election.step({});
  auto lease = nlohmann::json::parse(kube_.object(kLeases, {"ns", "lead"}).value());
  lease["spec"]["holderIdentity"] = "thief";
  ASSERT_TRUE(kube_.apply(lease.dump()));
  clock_.advance(2s);
  a_.election.step({});  // 409
  clock_.advance(2s);
  a_.election.step({});
  EXPECT_FALSE(a_.election.leads());
  ASSERT_EQ(a_.lost.size(), 1U);
  EXPECT_NE(a_.lost[0].find("thief"), std::string::npos);
}

TEST_F(LeaderElectionTest, ReleaseLetsTheNextInAtOnce) {
  a_.election.step({});
  b_.election.step({});
  a_.election.release(clock_.in(2s));
  EXPECT_EQ(a_.lost.size(), 1U);
  EXPECT_EQ(spec()["holderIdentity"], "");
  clock_.advance(2s);
  b_.election.step({});
  EXPECT_TRUE(b_.election.leads());
}

TEST_F(LeaderElectionTest, ReleaseOfACandidateTouchesNothing) {
  a_.election.step({});
  b_.election.step({});
  const int writes = kube_.writes();
  b_.election.release(clock_.in(2s));
  EXPECT_EQ(kube_.writes(), writes);
  EXPECT_EQ(spec()["holderIdentity"], "a");
}

TEST_F(LeaderElectionTest, ReleaseFindsALeaseThatAStopLeftInDoubt) {
  a_.election.step({});
  clock_.advance(2s);
  kube_.lose_answers(1);
  a_.election.step({});
  a_.election.release(clock_.in(2s));
  EXPECT_EQ(spec()["holderIdentity"], "");
}

TEST_F(LeaderElectionTest, ADeletedLeaseIsMadeAgain) {
  a_.election.step({});
  ASSERT_TRUE(kube_.erase(kLeases, {"ns", "lead"}));
  clock_.advance(2s);
  a_.election.step({});
  clock_.advance(2s);
  a_.election.step({});
  EXPECT_TRUE(a_.election.leads());
  EXPECT_EQ(spec()["holderIdentity"], "a");
}

TEST(LeaderIdentityTest, IsHostAndUuid) {
  EXPECT_EQ(leader_identity("pod-0", std::string(16, '\xAB')), "pod-0_abababab-abab-abab-abab-abababababab");
}

TEST(LeaseCodecTest, RefusesWhatIsNoLease) {
  EXPECT_FALSE(decode_lease("[]").has_value());
  EXPECT_FALSE(decode_lease("{").has_value());
  EXPECT_FALSE(decode_lease(R"({"metadata":7})").has_value());
  const auto empty = decode_lease(R"({"metadata":{},"spec":{"holderIdentity":3,"leaseTransitions":"x"}})");
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(empty->holder, "");
  EXPECT_EQ(empty->transitions, 0);
}

}  // namespace
}  // namespace kro
