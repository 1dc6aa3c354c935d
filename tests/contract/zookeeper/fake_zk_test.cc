// What the fakes can do beyond the port: sessions that end, time, sequence numbers at the end, faults by number.

#include <gtest/gtest.h>

#include <chrono>

#include "contract/zookeeper/zk_contract_fixture.h"
#include "fakes/fake_zk.h"
#include "fakes/faulty_zk.h"

namespace kro::test {
namespace {

class FakeZkTest : public testing::Test {
 protected:
  FakeZkTest() { config_.connect = "fake:2181"; }

  std::unique_ptr<ZkSession> open(EventLog& log) {
    auto session = connector_.open(config_, log.sink());
    EXPECT_TRUE(session);
    return std::move(*session);
  }

  ZkConfig config_;
  std::shared_ptr<FakeZk> server_ = std::make_shared<FakeZk>();
  FakeZkConnector connector_{server_};
  EventLog log_;
};

TEST_F(FakeZkTest, ExpiryTakesEphemeralNodesAndTellsOthers) {
  const auto session = open(log_);
  EventLog other_log;
  const auto other = open(other_log);
  ASSERT_TRUE(session->multi({ZkCreate{"/leader", "", ZkMode::kEphemeral}, ZkCreate{"/stays", ""}}, soon()));
  ASSERT_TRUE(other->get("/leader", true, soon()));
  server_->expire(session->session_id());
  EXPECT_EQ(session->state(), ZkState::kExpired);
  EXPECT_TRUE(log_.wait_for_state(ZkState::kExpired, 0ms));
  EXPECT_EQ(other_log.count(ZkEvent::Type::kDeleted, "/leader"), 1U);
  EXPECT_TRUE(server_->peek("/stays"));
  const auto answer = session->multi({ZkCheck{"/stays"}}, soon());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kGone);
  EXPECT_EQ(server_->sessions(), std::vector<std::int64_t>{other->session_id()});
}

TEST_F(FakeZkTest, ASuspendedSessionHearsOfItsExpiryWhenItIsBack) {
  const auto session = open(log_);
  ASSERT_TRUE(session->multi({ZkCreate{"/leader", "", ZkMode::kEphemeral}}, soon()));
  server_->suspend(session->session_id());
  EXPECT_EQ(session->state(), ZkState::kSuspended);
  EXPECT_EQ(session->get("/", false, soon()).error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(server_->peek("/leader"));
  server_->expire(session->session_id());
  EXPECT_FALSE(server_->peek("/leader"));
  EXPECT_EQ(session->state(), ZkState::kSuspended);
  server_->resume(session->session_id());
  EXPECT_EQ(session->state(), ZkState::kExpired);
}

TEST_F(FakeZkTest, WatchesThatWereMissedFireOnResume) {
  for (const char* path : {"/changed", "/same", "/deleted", "/parent", "/quiet"}) server_->put(path, "");
  const auto session = open(log_);
  ASSERT_TRUE(session->get_many({"/changed", "/same", "/deleted", "/comes", "/comes-and-goes"}, true, soon()));
  ASSERT_TRUE(session->children("/parent", true, soon()));
  ASSERT_TRUE(session->children("/quiet", true, soon()));
  server_->suspend(session->session_id());
  server_->put("/changed", "x");
  server_->remove("/deleted");
  server_->put("/comes", "");
  server_->put("/comes-and-goes", "");
  server_->remove("/comes-and-goes");
  server_->put("/parent/child", "");
  EXPECT_EQ(log_.watch_events(), 0U);
  server_->resume(session->session_id());
  EXPECT_EQ(log_.watch_events(), 4U);
  EXPECT_EQ(log_.count(ZkEvent::Type::kChanged, "/changed"), 1U);
  EXPECT_EQ(log_.count(ZkEvent::Type::kDeleted, "/deleted"), 1U);
  EXPECT_EQ(log_.count(ZkEvent::Type::kCreated, "/comes"), 1U);
  EXPECT_EQ(log_.count(ZkEvent::Type::kChildren, "/parent"), 1U);
  server_->put("/same", "x");  // still armed
  EXPECT_EQ(log_.count(ZkEvent::Type::kChanged, "/same"), 1U);
}

TEST_F(FakeZkTest, AnUnavailableServerSuspendsAndKeepsNewSessionsWaiting) {
  const auto session = open(log_);
  server_->set_available(false);
  EXPECT_EQ(session->state(), ZkState::kSuspended);
  EventLog other_log;
  const auto other = open(other_log);
  EXPECT_EQ(other->state(), ZkState::kConnecting);
  EXPECT_EQ(other->session_id(), 0);
  EXPECT_EQ(other->wait_connected(soon()).error().retry, Retry::kTransient);
  server_->set_available(true);
  EXPECT_EQ(session->state(), ZkState::kConnected);
  EXPECT_EQ(other->state(), ZkState::kConnected);
  EXPECT_NE(other->session_id(), 0);
}

TEST_F(FakeZkTest, ASessionGivenUpOrClosedWhileSuspendedLivesOnInTheServer) {
  auto session = open(log_);
  const std::int64_t id = session->session_id();
  ASSERT_TRUE(session->multi({ZkCreate{"/leader", "", ZkMode::kEphemeral}}, soon()));
  server_->suspend(id);
  server_->give_up(id);
  EXPECT_EQ(session->state(), ZkState::kExpired);
  session.reset();
  EXPECT_TRUE(server_->peek("/leader"));
  server_->expire(id);
  EXPECT_FALSE(server_->peek("/leader"));
  EXPECT_TRUE(server_->sessions().empty());
}

TEST_F(FakeZkTest, RefusedCredentialsEndTheSession) {
  connector_.refuse_credentials(true);
  const auto session = open(log_);
  EXPECT_EQ(session->state(), ZkState::kAuthFailed);
  const Status connected = session->wait_connected(soon());
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code, ErrorCode::kUnauthorized);
  EXPECT_EQ(connected.error().retry, Retry::kPermanent);
}

TEST_F(FakeZkTest, TheSequenceSticksAtItsEnd) {
  server_->put("/queue", "");
  server_->set_sequence("/queue", 2'147'483'646);
  const auto session = open(log_);
  const std::vector<ZkOp> next = {ZkCreate{"/queue/r_", "", ZkMode::kPersistentSequential}};
  EXPECT_EQ(session->multi(next, soon())->front().path, "/queue/r_2147483646");
  EXPECT_EQ(session->multi(next, soon())->front().path, "/queue/r_2147483647");
  EXPECT_EQ(session->multi(next, soon()).error().code, ErrorCode::kAlreadyExists);
  server_->set_sequence("/queue", -7);
  EXPECT_EQ(session->multi(next, soon())->front().path, "/queue/r_-000000007");
}

TEST_F(FakeZkTest, HookCountersAndTime) {
  std::vector<std::vector<ZkOp>> commits;
  server_->on_commit([&](const std::vector<ZkOp>& ops) { commits.push_back(ops); });
  server_->set_now({from_epoch_ms(1'900'000'000'000), MonoTime{5s}});
  const auto session = open(log_);
  ASSERT_TRUE(session->multi({ZkCreate{"/s_", "", ZkMode::kPersistentSequential}}, soon()));
  ASSERT_FALSE(session->multi({ZkDelete{"/absent"}}, soon()));
  ASSERT_EQ(commits.size(), 1U);
  EXPECT_EQ(std::get<ZkCreate>(commits[0][0]).path, "/s_0000000000");
  EXPECT_EQ(server_->peek("/s_0000000000")->stat.ctime_ms, 1'900'000'000'000);
  EXPECT_EQ(session->get("/", false, Deadline{MonoTime{5s}}).error().code, ErrorCode::kTimeout);
  ASSERT_TRUE(session->get_many({"/", "/a"}, false, Deadline{MonoTime{6s}}));
  const FakeZk::Counters counters = server_->counters();
  EXPECT_EQ(counters.multis, 2U);
  EXPECT_EQ(counters.failed_multis, 1U);
  EXPECT_EQ(counters.ops, 1U);
  EXPECT_EQ(counters.gets, 2U);
  EXPECT_EQ(counters.get_calls, 1U);
}

TEST_F(FakeZkTest, TheHookMayWriteBetweenTransactionAndEvent) {
  const auto session = open(log_);
  server_->on_commit([&](const std::vector<ZkOp>&) {
    server_->on_commit(nullptr);
    server_->put("/answer", "from the other side");
  });
  ASSERT_TRUE(session->multi({ZkCreate{"/question", ""}}, soon()));
  EXPECT_TRUE(server_->peek("/answer"));
}

TEST_F(FakeZkTest, TwentyThousandNodesAreCheap) {
  const auto session = open(log_);
  server_->put("/dir", "");
  std::vector<std::string> paths;
  for (int chunk = 0; chunk < 20; ++chunk) {
    std::vector<ZkOp> ops;
    for (int i = 0; i < 1000; ++i) {
      paths.push_back("/dir/topic-" + std::to_string(chunk * 1000 + i));
      ops.emplace_back(ZkCreate{paths.back(), "data"});
    }
    ASSERT_TRUE(session->multi(ops, soon()));
  }
  EXPECT_EQ((*session->children("/dir", true, soon()))->names.size(), 20'000U);
  EXPECT_EQ(session->get_many(paths, true, soon())->size(), 20'000U);
  server_->remove("/dir");
  EXPECT_EQ(log_.count(ZkEvent::Type::kChildren, "/dir"), 1U);
  EXPECT_EQ(log_.watch_events(), 20'001U);
  EXPECT_EQ(server_->node_count(), 1U);
}

class FaultyZkTest : public FakeZkTest {
 protected:
  std::unique_ptr<ZkSession> open_faulty() {
    FaultyZkConnector connector(std::make_unique<FakeZkConnector>(server_), faults_);
    auto session = connector.open(config_, log_.sink());
    EXPECT_TRUE(session);
    return std::move(*session);
  }

  std::shared_ptr<ZkFaults> faults_ = std::make_shared<ZkFaults>();
};

TEST_F(FaultyZkTest, EachFaultSaysWhatItDid) {
  struct Case {
    ZkFault fault;
    bool applied;
    ErrorCode code;
    Retry retry;
    ZkState state;
  };
  for (const Case& each : {
           Case{ZkFault::kBefore, false, ErrorCode::kUnavailable, Retry::kTransient, ZkState::kConnected},
           Case{ZkFault::kLost, false, ErrorCode::kUnavailable, Retry::kAmbiguous, ZkState::kConnected},
           Case{ZkFault::kAfter, true, ErrorCode::kUnavailable, Retry::kAmbiguous, ZkState::kConnected},
           Case{ZkFault::kTimeoutAfter, true, ErrorCode::kTimeout, Retry::kAmbiguous, ZkState::kConnected},
           Case{ZkFault::kExpireBefore, false, ErrorCode::kGone, Retry::kAmbiguous, ZkState::kExpired},
           Case{ZkFault::kExpireAfter, true, ErrorCode::kGone, Retry::kAmbiguous, ZkState::kExpired},
       }) {
    SCOPED_TRACE(static_cast<int>(each.fault));
    faults_->reset();
    server_->remove("/n");
    const auto session = open_faulty();
    ASSERT_TRUE(session->multi({ZkCreate{"/e", "", ZkMode::kEphemeral}}, soon()));
    faults_->at(2, each.fault);
    const auto answer = session->multi({ZkCreate{"/n", ""}}, soon());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, each.code);
    EXPECT_EQ(answer.error().retry, each.retry);
    EXPECT_EQ(server_->peek("/n").has_value(), each.applied);
    EXPECT_EQ(session->state(), each.state);
    EXPECT_EQ(server_->peek("/e").has_value(), each.state == ZkState::kConnected);
    EXPECT_EQ(session->get("/", false, soon()).has_value(), each.state == ZkState::kConnected);
    EXPECT_EQ(faults_->injected(), 1U);
  }
}

TEST_F(FaultyZkTest, ReadsAreNeverAmbiguous) {
  const auto session = open_faulty();
  for (const ZkFault fault : {ZkFault::kBefore, ZkFault::kLost, ZkFault::kAfter, ZkFault::kTimeoutAfter}) {
    faults_->script({fault, fault, fault});
    EXPECT_EQ(session->get("/", false, soon()).error().retry, Retry::kTransient);
    EXPECT_EQ(session->children("/", false, soon()).error().retry, Retry::kTransient);
    EXPECT_EQ(session->sync(soon()).error().retry, Retry::kTransient);
    EXPECT_TRUE(session->sync(soon()));
  }
}

TEST_F(FaultyZkTest, EveryNumberOfACrashMatrixIsHit) {
  const auto program = [this] {
    const auto session = open_faulty();
    return session->get("/", false, soon()).has_value() && session->multi({ZkCreate{"/a", ""}}, soon()).has_value() &&
           session->sync(soon()).has_value();
  };
  ASSERT_TRUE(program());
  const std::uint64_t operations = faults_->operations();
  ASSERT_EQ(operations, 3U);
  for (std::uint64_t n = 1; n <= operations; ++n) {
    faults_->reset();
    server_->remove("/a");
    faults_->at(n, ZkFault::kAfter);
    EXPECT_FALSE(program());
    EXPECT_EQ(faults_->operations(), n);
  }
  faults_->reset();
  faults_->only_writes();
  server_->remove("/a");
  EXPECT_TRUE(program());
  EXPECT_EQ(faults_->operations(), 1U);
}

TEST_F(FaultyZkTest, TheSameSeedMakesTheSameFaults) {
  const auto outcome = [this](std::uint64_t seed) {
    faults_->reset();
    faults_->random(seed, {.before = 0.2, .lost = 0.1, .after = 0.2, .expire = 0});
    const auto session = open_faulty();
    std::string text;
    for (int i = 0; i < 200; ++i) text += session->sync(soon()) ? '.' : 'x';
    return text;
  };
  EXPECT_EQ(outcome(7), outcome(7));
  EXPECT_NE(outcome(7), outcome(8));
  EXPECT_NE(outcome(7).find('x'), std::string::npos);
}

TEST_F(FaultyZkTest, LosesTheConnectionVisiblyButNotTheWatches) {
  const auto session = open_faulty();
  ASSERT_TRUE(session->get("/n", true, soon()));
  faults_->script({ZkFault::kAfter});
  log_.clear();
  ASSERT_FALSE(session->multi({ZkCreate{"/n", ""}}, soon()));
  EXPECT_TRUE(log_.wait_for_state(ZkState::kSuspended, 0ms));
  EXPECT_TRUE(log_.wait_for_state(ZkState::kConnected, 0ms));
  EXPECT_EQ(log_.count(ZkEvent::Type::kCreated, "/n"), 1U);
}

}  // namespace
}  // namespace kro::test
