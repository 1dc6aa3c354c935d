// What the client does when brokers misbehave, put to a scripted broker on a real socket.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "adapters/kafka/api.h"
#include "adapters/kafka/kafka_client.h"
#include "contract/kafka/scripted_broker.h"
#include "ports/kafka_admin.h"

namespace kro::kafka {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Deadline in(milliseconds span, std::stop_token stop = {}) {
  return {std::chrono::steady_clock::now() + span, std::move(stop)};
}

std::string frame(std::int32_t correlation, bool tagged, const std::string& body) {
  Writer content(Encoding::kClassic);
  content.i32(correlation);
  if (tagged) content.uvarint(0);
  content.raw(body);
  const std::string bytes = content.take();
  Writer out(Encoding::kClassic);
  out.i32(static_cast<std::int32_t>(bytes.size()));
  out.raw(bytes);
  return out.take();
}

std::string api_versions(const ScriptedRequest& request, const VersionRanges& ranges) {
  Writer out(request.version >= 3 ? Encoding::kFlexible : Encoding::kClassic);
  out.i16(0);
  out.array(ranges.size());
  for (const auto& [key, range] : ranges) {
    out.i16(key);
    out.i16(range.oldest);
    out.i16(range.newest);
    out.tags();
  }
  if (request.version >= 1) out.i32(0);
  out.tags();
  return frame(request.correlation, false, out.take());
}

// Broker 1 at `self`, which is the controller unless said.
std::string metadata(const ScriptedRequest& request, const HostPort& self, BrokerId controller = 1) {
  Writer out(Encoding::kFlexible);
  out.i32(0);
  out.array(1);
  out.i32(1);
  out.string(self.host);
  out.i32(self.port);
  out.null_string();
  out.tags();
  out.string("cluster");
  out.i32(controller);
  out.array(0);
  if (request.version <= 10) out.i32(0);
  out.tags();
  return frame(request.correlation, true, out.take());
}

// API 45 (with t-0 unless there is a top-level error) and 46 (nothing runs) differ only in that.
std::string reassignments(const ScriptedRequest& request, std::int16_t error, bool with_t0) {
  Writer out(Encoding::kFlexible);
  out.i32(0);
  out.i16(error);
  out.null_string();
  out.array(with_t0 ? 1 : 0);
  if (with_t0) {
    out.string("t");
    out.array(1);
    out.i32(0);
    out.i16(0);
    out.null_string();
    out.tags();
    out.tags();
  }
  out.tags();
  return frame(request.correlation, true, out.take());
}

const VersionRanges kModern = {{3, {0, 12}}, {18, {0, 4}}, {32, {0, 4}}, {35, {0, 4}}, {45, {0, 0}}, {46, {0, 0}}};
const AlterRequest kMove = {{{"t", 0}, ReplicaList{1, 2}}};

class LostAnswers : public testing::Test {
 protected:
  // Answers what is needed to get connected; everything else goes to `rest`.
  void start(ScriptedBroker::Script rest, VersionRanges ranges = kModern) {
    broker_ = std::make_unique<ScriptedBroker>(
        [this, rest, ranges](const ScriptedRequest& request) -> std::optional<std::string> {
          if (request.api == 18) return api_versions(request, ranges);
          if (request.api == 3) return metadata(request, broker_->address());
          return rest(request);
        });
    connect(broker_->address().text());
  }
  void connect(const std::string& bootstrap) {
    auto config = parse_kafka_client_config(bootstrap);
    ASSERT_TRUE(config);
    admin_ = make_kafka_admin(*config, [this](std::string_view api, int code) { observed_.emplace_back(api, code); });
  }
  bool until(const std::function<bool()>& true_now) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!true_now()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(5ms);
    }
    return true;
  }

  std::unique_ptr<ScriptedBroker> broker_;
  std::unique_ptr<KafkaAdmin> admin_;
  std::vector<std::pair<std::string, int>> observed_;
};

TEST_F(LostAnswers, AnAnswerThatComesLateIsHandedOutAndOtherCallsGoOnMeanwhile) {
  start([](const ScriptedRequest& request) -> std::optional<std::string> {
    if (request.api == 45) return std::nullopt;
    return reassignments(request, 0, false);
  });
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(300ms));
  ASSERT_FALSE(altered);
  EXPECT_EQ(altered.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(altered.error().retry, Retry::kAmbiguous);
  EXPECT_THAT(admin_->late_answers(), IsEmpty());

  EXPECT_TRUE(admin_->list_reassignments(in(10s))) << "over another connection";
  const auto sent = broker_->requests(45);
  ASSERT_EQ(sent.size(), 1U) << "it is never sent again";
  EXPECT_NE(broker_->requests(46).at(0).connection, sent[0].connection);

  const std::string answer = reassignments(sent[0], 0, true);
  broker_->say(sent[0].connection, answer.substr(0, 9));
  EXPECT_THAT(admin_->late_answers(), IsEmpty()) << "a part of it is not it";
  broker_->say(sent[0].connection, answer.substr(9));
  std::vector<AlterAnswers> late;
  ASSERT_TRUE(until([&] { return !(late = admin_->late_answers()).empty(); }));
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0].at({"t", 0}).code, 0);
  EXPECT_THAT(admin_->late_answers(), IsEmpty()) << "each is told once";
  EXPECT_THAT(observed_, Contains(Pair("AlterPartitionReassignments", kNoAnswerCode)));
  EXPECT_THAT(observed_, Contains(Pair("AlterPartitionReassignments", 0)));
}

TEST_F(LostAnswers, ALateRefusalOfTheWholeIsToldForEachPartition) {
  start([](const ScriptedRequest&) { return std::nullopt; });
  ASSERT_FALSE(admin_->alter_reassignments(kMove, 10s, in(300ms)));
  const auto sent = broker_->requests(45).at(0);
  broker_->say(sent.connection, reassignments(sent, kafka_error::kNotController, false));
  std::vector<AlterAnswers> late;
  ASSERT_TRUE(until([&] { return !(late = admin_->late_answers()).empty(); }));
  EXPECT_EQ(late[0].at({"t", 0}).code, kafka_error::kNotController);
}

TEST_F(LostAnswers, AnAlterWhoseConnectionBreaksIsAmbiguousAndNotSentAgain) {
  start([](const ScriptedRequest& request) -> std::optional<std::string> {
    if (request.api == 45) return "";
    return reassignments(request, 0, false);
  });
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(10s));
  ASSERT_FALSE(altered);
  EXPECT_EQ(altered.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(altered.error().retry, Retry::kAmbiguous);
  EXPECT_EQ(broker_->requests(45).size(), 1U);
  EXPECT_TRUE(admin_->list_reassignments(in(10s)));
  EXPECT_EQ(broker_->requests(45).size(), 1U);
}

TEST_F(LostAnswers, AnAlterAfterTheIdleConnectionWasClosedGoesOutOnANewOne) {
  start([](const ScriptedRequest& request) { return reassignments(request, 0, request.api == 45); });
  ASSERT_TRUE(admin_->list_reassignments(in(10s)));
  broker_->hang_up(broker_->requests(46).at(0).connection);
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(10s));
  ASSERT_TRUE(altered) << altered.error().text();
  EXPECT_EQ(altered->at({"t", 0}).code, 0);
  EXPECT_EQ(broker_->requests(45).size(), 1U);
}

TEST_F(LostAnswers, AReadWhoseConnectionBreaksIsSentAgainOnce) {
  int calls = 0;
  start([&calls](const ScriptedRequest& request) -> std::optional<std::string> {
    if (++calls == 1) return "";
    return reassignments(request, 0, false);
  });
  EXPECT_TRUE(admin_->list_reassignments(in(10s)));
  EXPECT_EQ(broker_->requests(46).size(), 2U);
}

TEST_F(LostAnswers, AReadThatFailsTwiceIsTold) {
  start([](const ScriptedRequest&) { return ""; });
  const auto listed = admin_->list_reassignments(in(10s));
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(listed.error().retry, Retry::kTransient);
  EXPECT_EQ(broker_->requests(46).size(), 2U);
}

TEST_F(LostAnswers, NotController41RefreshesTheController) {
  int calls = 0;
  start([&calls](const ScriptedRequest& request) {
    return reassignments(request, ++calls == 1 ? kafka_error::kNotController : std::int16_t{0}, false);
  });
  EXPECT_TRUE(admin_->list_reassignments(in(10s)));
  EXPECT_EQ(broker_->requests(46).size(), 2U);
  EXPECT_EQ(broker_->requests(3).size(), 2U) << "the controller was asked for again";
}

TEST_F(LostAnswers, AnAlterRefusedWith41IsSurelyNotApplied) {
  start([](const ScriptedRequest& request) { return reassignments(request, kafka_error::kNotController, false); });
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(10s));
  ASSERT_FALSE(altered);
  EXPECT_EQ(altered.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(altered.error().retry, Retry::kTransient);
  EXPECT_EQ(broker_->requests(45).size(), 1U);
  EXPECT_EQ(broker_->requests(3).size(), 2U);
  EXPECT_THAT(admin_->late_answers(), IsEmpty());
}

TEST_F(LostAnswers, NotAuthorized31IsPermanent) {
  start([](const ScriptedRequest& request) {
    return reassignments(request, kafka_error::kClusterAuthorizationFailed, request.api == 45);
  });
  const auto listed = admin_->list_reassignments(in(10s));
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kUnauthorized);
  EXPECT_EQ(listed.error().retry, Retry::kPermanent);
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(10s));
  ASSERT_FALSE(altered);
  EXPECT_EQ(altered.error().code, ErrorCode::kUnauthorized);
  EXPECT_EQ(altered.error().retry, Retry::kPermanent);
}

TEST_F(LostAnswers, AnAnswerToAnotherRequestIsRefused) {
  start([](const ScriptedRequest& request) {
    ScriptedRequest other = request;
    other.correlation += 1;
    return reassignments(other, 0, request.api == 45);
  });
  const auto listed = admin_->list_reassignments(in(10s));
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kProtocol);
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(10s));
  ASSERT_FALSE(altered);
  EXPECT_EQ(altered.error().code, ErrorCode::kProtocol);
  EXPECT_EQ(altered.error().retry, Retry::kAmbiguous);
}

TEST_F(LostAnswers, AnAlterAnswerThatLacksAPartitionIsAmbiguous) {
  start([](const ScriptedRequest& request) { return reassignments(request, 0, false); });
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(10s));
  ASSERT_FALSE(altered);
  EXPECT_EQ(altered.error().code, ErrorCode::kProtocol);
  EXPECT_EQ(altered.error().retry, Retry::kAmbiguous);
}

TEST_F(LostAnswers, SomethingThatIsNoKafkaIsToldAsSuch) {
  ScriptedBroker web([](const ScriptedRequest&) { return "HTTP/1.1 400 Bad Request\r\n\r\n"; });
  connect(web.address().text());
  const auto seen = admin_->metadata(std::nullopt, in(10s));
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().code, ErrorCode::kProtocol);
  EXPECT_THAT(seen.error().text(), HasSubstr("plaintext Kafka listener"));
}

TEST_F(LostAnswers, ABrokerWithoutTheReassignmentApisIsUnsupported) {
  start([](const ScriptedRequest&) { return std::nullopt; }, {{3, {0, 9}}, {18, {0, 2}}, {32, {0, 2}}});
  const auto listed = admin_->list_reassignments(in(10s));
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(listed.error().retry, Retry::kPermanent);
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(10s));
  ASSERT_FALSE(altered);
  EXPECT_EQ(altered.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(altered.error().retry, Retry::kPermanent);
  EXPECT_EQ(admin_->kafka_version(), "<2.4");
  EXPECT_TRUE(admin_->metadata(std::nullopt, in(10s))) << "the rest goes on";
}

// 2.3 answers ApiVersions v3 with 35 in the form of v0.
TEST_F(LostAnswers, ABrokerThatDoesNotKnowApiVersions3IsAskedWithVersion0) {
  ScriptedBroker old([&](const ScriptedRequest& request) -> std::optional<std::string> {
    if (request.api == 18 && request.version == 3)
      return frame(request.correlation, false, std::string("\0\43\0\0\0\0", 6));
    if (request.api == 18) return api_versions(request, kModern);
    if (request.api == 3) return metadata(request, {"127.0.0.1", 1}, -1);
    return std::nullopt;
  });
  connect(old.address().text());
  const auto listed = admin_->list_reassignments(in(10s));
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().text(), HasSubstr("no active controller"));
  ASSERT_EQ(old.requests(18).size(), 2U);
  EXPECT_EQ(old.requests(18)[1].version, 0);
  EXPECT_EQ(old.requests(18)[1].connection, old.requests(18)[0].connection);
}

TEST_F(LostAnswers, ADeadAndAMuteBootstrapServerDoNotHideTheLivingOne) {
  start([](const ScriptedRequest& request) { return reassignments(request, 0, false); });
  ScriptedBroker mute([](const ScriptedRequest&) { return std::nullopt; });
  connect("127.0.0.1:1," + mute.address().text() + "," + broker_->address().text());
  EXPECT_TRUE(admin_->list_reassignments(in(4s)));
}

TEST_F(LostAnswers, NobodyThereIsUnavailable) {
  connect("127.0.0.1:1");
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(10s));
  ASSERT_FALSE(altered);
  EXPECT_EQ(altered.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(altered.error().retry, Retry::kTransient) << "nothing was sent";
}

TEST_F(LostAnswers, NamesAreLookedUpAndAnUnknownOneIsUnavailable) {
  start([](const ScriptedRequest& request) { return reassignments(request, 0, false); });
  connect("no-such-host.invalid:9092,localhost:" + std::to_string(broker_->address().port));
  EXPECT_TRUE(admin_->list_reassignments(in(20s)));
  connect("no-such-host.invalid:9092");
  const auto listed = admin_->list_reassignments(in(20s));
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().code, testing::AnyOf(ErrorCode::kUnavailable, ErrorCode::kTimeout));
  EXPECT_EQ(listed.error().retry, Retry::kTransient);
}

TEST_F(LostAnswers, AStopEndsAWaitAtOnceAndKeepsTheAnswerForLater) {
  start([](const ScriptedRequest&) { return std::nullopt; });
  std::stop_source stop;
  std::thread stopper([&] {
    until([&] { return !broker_->requests(45).empty(); });
    stop.request_stop();
  });
  const auto altered = admin_->alter_reassignments(kMove, 10s, in(60s, stop.get_token()));
  stopper.join();
  ASSERT_FALSE(altered);
  EXPECT_EQ(altered.error().code, ErrorCode::kCancelled);
  EXPECT_EQ(altered.error().retry, Retry::kAmbiguous);
  const auto sent = broker_->requests(45).at(0);
  broker_->say(sent.connection, reassignments(sent, 0, true));
  EXPECT_TRUE(until([&] { return !admin_->late_answers().empty(); }));
}

TEST_F(LostAnswers, ALargeAnswerComesInPieces) {
  start([](const ScriptedRequest& request) {
    Writer out(Encoding::kFlexible);
    out.i32(0);
    out.i16(0);
    out.null_string();
    out.array(1);
    out.string("t");
    out.array(50'000);
    for (std::int32_t i = 0; i < 50'000; ++i) {
      out.i32(i);
      out.ids({1, 2, 3});
      out.ids({1});
      out.ids({3});
      out.tags();
    }
    out.tags();
    out.tags();
    return frame(request.correlation, true, out.take());
  });
  const auto listed = admin_->list_reassignments(in(20s));
  ASSERT_TRUE(listed) << listed.error().text();
  EXPECT_EQ(listed->size(), 50'000U);
  EXPECT_EQ(listed->at({"t", 49'999}).target(), (ReplicaList{1, 2}));
}

}  // namespace
}  // namespace kro::kafka
