// ZkSessionImpl on a scripted client: races and answers that a real server gives too seldom.

#include "adapters/zookeeper/zk_session_impl.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <optional>
#include <thread>

#include "contract/zookeeper/zk_contract_fixture.h"

namespace kro::zk {
namespace {

using test::EventLog;
using test::soon;

// Answers each call at once with the next answer of the script.
class ScriptedClient final : public CClient {
 public:
  struct Step {
    std::string call;  // "get /path watch"
    OpAnswer answer;
    Code refused = Code::kOk;  // by the library, before sending
    bool silent = false;       // no answer ever
  };

  explicit ScriptedClient(std::shared_ptr<SessionCore> core) : core_(std::move(core)) {}
  ~ScriptedClient() override { EXPECT_TRUE(script.empty()) << "not called: " << script.front().call; }

  Code start_get(const std::string& path, bool watch, OpId id) override { return run("get", path, watch, id); }
  Code start_exists(const std::string& path, bool watch, OpId id) override { return run("exists", path, watch, id); }
  Code start_children(const std::string& path, bool watch, OpId id) override {
    return run("children", path, watch, id);
  }
  Code start_sync(const std::string& path, OpId id) override { return run("sync", path, false, id); }
  [[nodiscard]] std::unique_ptr<OpArena> make_arena(std::vector<ZkOp>) const override {
    if (before_send) before_send();
    return std::make_unique<OpArena>();
  }
  Code start_multi(OpArena&, OpId id) override { return run("multi", "", false, id); }
  void close() noexcept override { ++closed; }

  std::deque<Step> script;
  std::function<void()> before_send;  // of a multi, when the session has been checked already
  int closed = 0;

 private:
  Code run(const char* verb, const std::string& path, bool watch, OpId id) {
    const std::string call = std::string(verb) + (path.empty() ? "" : " " + path) + (watch ? " watch" : "");
    if (script.empty()) {
      ADD_FAILURE() << "unexpected " << call;
      return Code::kOther;
    }
    const Step step = script.front();
    script.pop_front();
    EXPECT_EQ(call, step.call);
    if (step.refused == Code::kOk && !step.silent) core_->completed(id, step.answer);
    return step.refused;
  }

  std::shared_ptr<SessionCore> core_;
};

OpAnswer with(Code code, const std::string& data = "") {
  OpAnswer answer;
  answer.code = code;
  answer.data = data;
  return answer;
}

class SessionImplTest : public testing::Test {
 protected:
  SessionImplTest() { core_->session_event(Signal::kUp, 7, 10s); }

  EventLog log_;
  std::shared_ptr<SessionCore> core_ = std::make_shared<SessionCore>("/kafka", log_.sink());
  std::shared_ptr<ScriptedClient> client_ = std::make_shared<ScriptedClient>(core_);
  ZkSessionImpl session_{core_, client_};
};

TEST_F(SessionImplTest, ANodeThatComesBetweenGetAndExistsIsReadAgain) {
  client_->script = {{"get /kafka/n watch", with(Code::kNoNode)},
                     {"exists /kafka/n watch", with(Code::kOk)},
                     {"get /kafka/n watch", with(Code::kOk, "new")}};
  const auto node = session_.get("/n", true, soon());
  ASSERT_TRUE(node && *node);
  EXPECT_EQ((*node)->data, "new");
}

TEST_F(SessionImplTest, OnlyTheNodesThatCameAreReadAgainAndInTheirPlace) {
  client_->script = {{"get /kafka/a watch", with(Code::kNoNode)}, {"get /kafka/b watch", with(Code::kOk, "B")},
                     {"get /kafka/c watch", with(Code::kNoNode)}, {"exists /kafka/a watch", with(Code::kNoNode)},
                     {"exists /kafka/c watch", with(Code::kOk)},  {"get /kafka/c watch", with(Code::kOk, "C")}};
  const auto nodes = session_.get_many({"/a", "/b", "/c"}, true, soon());
  ASSERT_TRUE(nodes);
  EXPECT_FALSE((*nodes)[0]);
  EXPECT_EQ((*nodes)[1]->data, "B");
  EXPECT_EQ((*nodes)[2]->data, "C");
}

TEST_F(SessionImplTest, AParentThatComesBetweenChildrenAndExistsIsReadAgain) {
  client_->script = {{"children /kafka watch", with(Code::kNoNode)},
                     {"exists /kafka watch", with(Code::kOk)},
                     {"children /kafka watch", with(Code::kOk)}};
  const auto children = session_.children("/", true, soon());
  ASSERT_TRUE(children);
  EXPECT_TRUE(*children);
}

TEST_F(SessionImplTest, AFailedReadFailsTheWholeAndIsTransient) {
  client_->script = {{"get /kafka/a", with(Code::kOk)}, {"get /kafka/b", with(Code::kConnectionLoss)}};
  const auto nodes = session_.get_many({"/a", "/b"}, false, soon());
  ASSERT_FALSE(nodes);
  EXPECT_EQ(nodes.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(nodes.error().retry, Retry::kTransient);
}

TEST_F(SessionImplTest, AMultiFailsByItsFirstOwnCodeOnly) {
  OpAnswer answer = with(Code::kBadVersion);
  answer.parts.resize(3);
  answer.parts[1].code = Code::kBadVersion;
  answer.parts[2].code = Code::kOther;
  client_->script = {{"multi", answer}};
  const auto failed = session_.multi({ZkCheck{"/a"}, ZkCheck{"/b", 1}, ZkCheck{"/c"}}, soon());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().op_index, 1);
  EXPECT_EQ(failed.error().code, ErrorCode::kVersion);
  EXPECT_NE(failed.error().text().find("/b"), std::string::npos);
}

TEST_F(SessionImplTest, WhatConcernsTheWholeMultiBlamesNoOperation) {
  struct Case {
    Code code;
    ErrorCode error;
    Retry retry;
  };
  for (const Case each : {Case{Code::kConnectionLoss, ErrorCode::kUnavailable, Retry::kAmbiguous},
                          Case{Code::kExpired, ErrorCode::kGone, Retry::kAmbiguous},
                          Case{Code::kClosing, ErrorCode::kCancelled, Retry::kAmbiguous},
                          Case{Code::kNotServed, ErrorCode::kUnavailable, Retry::kTransient},
                          Case{Code::kOther, ErrorCode::kInternal, Retry::kAmbiguous}}) {
    OpAnswer answer = with(each.code);
    answer.parts.resize(1);
    answer.parts[0].code = each.code;  // the library copies it to all of them
    client_->script = {{"multi", answer}};
    const auto failed = session_.multi({ZkCheck{"/a"}}, soon());
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, each.error);
    EXPECT_EQ(failed.error().retry, each.retry);
    EXPECT_FALSE(failed.error().op_index);
  }
}

TEST_F(SessionImplTest, AWriteThatTheLibraryRefusedWasNotSent) {
  client_->script = {{"multi", {}, Code::kDeadHandle}};
  const auto failed = session_.multi({ZkCheck{"/a"}}, soon());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kGone);
  EXPECT_EQ(failed.error().retry, Retry::kTransient);
  EXPECT_EQ(core_->ops().size(), 0U);
}

TEST_F(SessionImplTest, ARequiredLoginEndsTheSession) {
  client_->script = {{"sync /kafka", with(Code::kLoginRequired)}};
  const Status synced = session_.sync(soon());
  ASSERT_FALSE(synced);
  EXPECT_EQ(synced.error().code, ErrorCode::kUnauthorized);
  EXPECT_EQ(synced.error().retry, Retry::kPermanent);
  EXPECT_EQ(session_.state(), ZkState::kAuthFailed);
  EXPECT_TRUE(log_.wait_for_state(ZkState::kAuthFailed));
  core_->session_event(Signal::kUp, 8, 10s);  // the library goes on
  EXPECT_EQ(session_.state(), ZkState::kAuthFailed);
}

TEST_F(SessionImplTest, NothingReachesTheLibraryWhileSuspendedOrLater) {
  for (const Signal signal : {Signal::kDown, Signal::kOverdue}) {
    core_->signal(signal);
    EXPECT_FALSE(session_.get("/n", true, soon()));
    EXPECT_FALSE(session_.children("/n", true, soon()));
    EXPECT_FALSE(session_.sync(soon()));
    EXPECT_EQ(session_.multi({ZkCheck{"/n"}}, soon()).error().retry, Retry::kTransient);
  }
  EXPECT_EQ(session_.state(), ZkState::kExpired);
}

TEST_F(SessionImplTest, EventsHaveThePathsOfTheCaller) {
  core_->watch_event(ZkEvent::Type::kChildren, "/kafka");
  core_->watch_event(ZkEvent::Type::kChanged, "/kafka/n");
  EXPECT_EQ(log_.count(ZkEvent::Type::kChildren, "/"), 1U);
  EXPECT_EQ(log_.count(ZkEvent::Type::kChanged, "/n"), 1U);
}

TEST_F(SessionImplTest, CallsInFlightEndWithTheSession) {
  client_->script = {{"multi", {}, Code::kOk, true}, {"get /kafka/n", {}, Code::kOk, true}};
  std::optional<Error> write;
  std::optional<Error> read;
  std::jthread writer([&] { write = session_.multi({ZkCheck{"/n"}}, soon()).error(); });
  while (core_->ops().size() < 1) std::this_thread::yield();
  std::jthread reader([&] { read = session_.get("/n", false, soon()).error(); });
  while (core_->ops().size() < 2) std::this_thread::yield();
  core_->signal(Signal::kExpired);
  writer.join();
  reader.join();
  EXPECT_EQ(write->code, ErrorCode::kGone);
  EXPECT_EQ(write->retry, Retry::kAmbiguous);
  EXPECT_EQ(read->code, ErrorCode::kGone);
  EXPECT_EQ(read->retry, Retry::kTransient);
}

TEST_F(SessionImplTest, ACallThatMissedTheEndOfTheSessionEndsAllTheSame) {
  client_->before_send = [this] { core_->signal(Signal::kExpired); };
  client_->script = {{"multi", {}, Code::kOk, true}};
  const auto write = session_.multi({ZkCheck{"/n"}}, soon());
  ASSERT_FALSE(write);
  EXPECT_EQ(write.error().code, ErrorCode::kGone);
}

TEST_F(SessionImplTest, CloseEndsCallsThatTheLibraryNeverCompletes) {
  client_->script = {{"multi", {}, Code::kOk, true}};
  std::optional<Error> write;
  std::jthread writer([&] { write = session_.multi({ZkCheck{"/n"}}, soon()).error(); });
  while (core_->ops().size() < 1) std::this_thread::yield();
  session_.close();
  writer.join();
  EXPECT_EQ(write->code, ErrorCode::kCancelled);
  EXPECT_EQ(write->retry, Retry::kAmbiguous);
  EXPECT_EQ(core_->ops().size(), 0U);
}

TEST_F(SessionImplTest, NothingIsToldAfterTheClose) {
  session_.close();
  const std::size_t before = log_.size();
  core_->watch_event(ZkEvent::Type::kChanged, "/kafka/n");
  core_->session_event(Signal::kExpired, 7, 10s);
  EXPECT_EQ(log_.size(), before);
}

TEST_F(SessionImplTest, ClosesTheLibraryOnce) {
  session_.close();
  session_.close();
  EXPECT_EQ(client_->closed, 1);
}

}  // namespace
}  // namespace kro::zk
