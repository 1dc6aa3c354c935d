#include "runtime/reflector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fakes/fake_kube.h"
#include "fakes/manual_clock.h"

namespace kro {
namespace {

using testing::ElementsAre;
using testing::Key;
using testing::UnorderedElementsAre;

const KubeResource kReassignments{"kafka-reassignment.io", "v1alpha1", "kafkareassignments"};

Error error_of(ErrorCode code, std::optional<int> retry_after_ms = std::nullopt) {
  Error error;
  error.code = code;
  error.message = "made by the test";
  error.retry_after_ms = retry_after_ms;
  return error;
}

std::string manifest(const std::string& name, bool suspend = false) {
  return nlohmann::json{{"apiVersion", "kafka-reassignment.io/v1alpha1"},
                        {"kind", "KafkaReassignment"},
                        {"metadata", {{"name", name}, {"namespace", "kafka"}}},
                        {"spec", {{"suspend", suspend}}}}
      .dump();
}

// A consumer as ReflectorSink asks for: what it was not shown between begin and end is gone.
class Mirror : public ReflectorSink {
 public:
  void upsert(std::string_view json) override {
    const auto object = nlohmann::json::parse(json);
    const auto name = object["metadata"]["name"].get<std::string>();
    objects[name] = object;
    seen_.insert(name);
  }
  void remove(std::string_view json) override {
    objects.erase(nlohmann::json::parse(json)["metadata"]["name"].get<std::string>());
  }
  void begin_list() override {
    ++begun;
    seen_.clear();
  }
  void end_list() override {
    ++ended;
    std::erase_if(objects, [this](const auto& entry) { return !seen_.contains(entry.first); });
  }
  std::map<std::string, nlohmann::json> objects;
  int begun = 0;
  int ended = 0;

 private:
  std::set<std::string> seen_;
};

class ReflectorTest : public testing::Test {
 protected:
  ReflectorTest() { kube_.set_blocking_watches(false); }
  milliseconds step() {
    clock_.advance(2s);  // a watch that lasts
    return reflector_.step({});
  }

  ManualClock clock_;
  FakeKube kube_{[this] { return clock_.now().wall; }};
  Mirror mirror_;
  std::vector<ReflectorHealth> told_;
  double random_ = 0;
  Reflector reflector_{kube_,  {kReassignments, ""},       mirror_,
                       clock_, [this] { return random_; }, [this](const ReflectorHealth& h) { told_.push_back(h); }};
};

TEST_F(ReflectorTest, ListsThenFollows) {
  ASSERT_TRUE(kube_.apply(manifest("a")));
  ASSERT_TRUE(kube_.apply(manifest("b")));
  EXPECT_EQ(step(), 0ms);
  EXPECT_THAT(mirror_.objects, UnorderedElementsAre(Key("a"), Key("b")));
  EXPECT_EQ(mirror_.ended, 1);
  ASSERT_TRUE(kube_.apply(manifest("b", true)));
  ASSERT_TRUE(kube_.apply(manifest("c")));
  ASSERT_TRUE(kube_.erase(kReassignments, {"kafka", "a"}));
  EXPECT_EQ(step(), 0ms);
  EXPECT_THAT(mirror_.objects, UnorderedElementsAre(Key("b"), Key("c")));
  EXPECT_EQ(mirror_.objects["b"]["spec"]["suspend"], true);
  EXPECT_EQ(mirror_.begun, 1) << "followed, not listed again";
}

TEST_F(ReflectorTest, TooOldVersionListsAgainAndDropsWhatIsGone) {
  ASSERT_TRUE(kube_.apply(manifest("stays")));
  ASSERT_TRUE(kube_.apply(manifest("goes")));
  step();
  ASSERT_TRUE(kube_.erase(kReassignments, {"kafka", "goes"}));
  kube_.expire_versions();
  EXPECT_EQ(step(), 0ms) << "410 is normal: no pause before the list";
  EXPECT_THAT(mirror_.objects, UnorderedElementsAre(Key("stays"), Key("goes"))) << "still what was known";
  step();
  EXPECT_THAT(mirror_.objects, ElementsAre(Key("stays")));
  EXPECT_EQ(mirror_.ended, 2);
}

TEST_F(ReflectorTest, AListThatBreaksIsNeverShownAsWhole) {
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(kube_.apply(manifest(name)));
  step();
  kube_.expire_versions();
  step();
  // The connection is cut while the second object of the list is handed out.
  class Cutting : public Mirror {
   public:
    explicit Cutting(FakeKube& kube) : kube_(kube) {}
    void upsert(std::string_view json) override {
      Mirror::upsert(json);
      if (objects.size() == 2 && ended == 0 && begun == 1) kube_.cut_watches();
    }

   private:
    FakeKube& kube_;
  } cutting{kube_};
  Reflector other{kube_, {kReassignments, ""}, cutting, clock_, [] { return 0.0; }, nullptr};
  EXPECT_GT(other.step({}), 0ms);
  EXPECT_EQ(cutting.begun, 1);
  EXPECT_EQ(cutting.ended, 0);
  clock_.advance(1s);
  other.step({});
  EXPECT_EQ(cutting.begun, 2);
  EXPECT_EQ(cutting.ended, 1);
  EXPECT_THAT(cutting.objects, UnorderedElementsAre(Key("a"), Key("b"), Key("c")));
}

TEST_F(ReflectorTest, PausesDoubleUpTo30SecondsAndStartOverWhenHealthy) {
  step();
  kube_.set_away(true);
  std::vector<milliseconds> pauses;
  for (int i = 0; i < 8; ++i) pauses.push_back(step());
  EXPECT_THAT(pauses, ElementsAre(800ms, 1600ms, 3200ms, 6400ms, 12800ms, 25600ms, 30000ms, 30000ms));
  random_ = 0.5;
  EXPECT_EQ(step(), 30000ms) << "never longer";
  clock_.advance(2min);
  EXPECT_EQ(step(), 1200ms) << "0.8 s and half of it";
}

TEST_F(ReflectorTest, TheServersWishSetsThePause) {
  step();
  random_ = 0.5;
  kube_.fail_next(3, error_of(ErrorCode::kUnavailable, 1000), true);
  EXPECT_EQ(step(), 1250ms);
  EXPECT_EQ(step(), 1250ms) << "and does not grow";
  EXPECT_EQ(step(), 1250ms);
  kube_.fail_next(1, error_of(ErrorCode::kUnavailable, 0), true);
  EXPECT_GE(step(), 100ms) << "never a busy loop";
  EXPECT_EQ(mirror_.begun, 1) << "none of this needs a new list";
}

TEST_F(ReflectorTest, FailedWatchesAreNotSilentOnes) {
  step();
  kube_.set_away(true);
  for (int i = 0; i < 5; ++i) step();
  kube_.set_away(false);
  step();
  EXPECT_EQ(mirror_.begun, 1);
}

TEST_F(ReflectorTest, TwoSilentWatchesListAgain) {
  ASSERT_TRUE(kube_.apply(manifest("a")));
  step();
  kube_.set_silent_watches(true);
  step();
  EXPECT_EQ(mirror_.begun, 1);
  step();
  kube_.set_silent_watches(false);
  ASSERT_TRUE(kube_.erase(kReassignments, {"kafka", "a"}));
  step();
  EXPECT_EQ(mirror_.begun, 2);
  EXPECT_TRUE(mirror_.objects.empty());
}

TEST_F(ReflectorTest, SaysWhetherTheServerIsThere) {
  step();
  ASSERT_FALSE(told_.empty());
  EXPECT_TRUE(told_.back().connected);
  EXPECT_TRUE(told_.back().synced);
  EXPECT_EQ(told_.back().last_contact, clock_.now().mono);
  const MonoTime contact = told_.back().last_contact;
  kube_.set_away(true);
  step();
  EXPECT_FALSE(told_.back().connected);
  EXPECT_TRUE(told_.back().synced) << "what is known stays in use";
  EXPECT_EQ(told_.back().last_contact, contact);
  EXPECT_NE(told_.back().problem, "");
  kube_.set_away(false);
  step();
  EXPECT_TRUE(told_.back().connected);
  EXPECT_EQ(told_.back().problem, "");
}

TEST(ReflectorFsmTest, TimeoutsAreSpreadOver120To240Seconds) {
  ReflectorFsm fsm;
  EXPECT_EQ(fsm.next_watch("", 0, {}).timeout, 120s);
  EXPECT_EQ(fsm.next_watch("", 0.5, {}).timeout, 180s);
  EXPECT_LT(fsm.next_watch("", 0.999, {}).timeout, 240s);
}

TEST(ReflectorFsmTest, GoesOnFromTheLastVersionSeen) {
  using Type = KubeWatchEvent::Type;
  ReflectorFsm fsm;
  EXPECT_EQ(fsm.next_watch("ns", 0, {}).resource_version, "");
  EXPECT_EQ(fsm.on_event({Type::kOpened, "", ""}), ReflectorFsm::Tell::kBegin);
  EXPECT_EQ(fsm.on_event({Type::kAdded, "{}", "7"}), ReflectorFsm::Tell::kUpsert);
  EXPECT_EQ(fsm.state(), ReflectorFsm::State::kListing);
  EXPECT_EQ(fsm.on_event({Type::kInitialListEnd, "", "9"}), ReflectorFsm::Tell::kEnd);
  EXPECT_EQ(fsm.state(), ReflectorFsm::State::kWatching);
  EXPECT_EQ(fsm.on_event({Type::kDeleted, "{}", "11"}), ReflectorFsm::Tell::kRemove);
  fsm.on_end(Status(), 0, MonoTime(5s));
  EXPECT_EQ(fsm.next_watch("ns", 0, MonoTime(5s)).resource_version, "11");
  EXPECT_EQ(fsm.on_event({Type::kOpened, "", ""}), ReflectorFsm::Tell::kNothing);
  EXPECT_EQ(fsm.on_event({Type::kBookmark, "", "20"}), ReflectorFsm::Tell::kNothing);
  fsm.on_end(tl::unexpected(error_of(ErrorCode::kUnavailable)), 0, MonoTime(6s));
  EXPECT_EQ(fsm.next_watch("ns", 0, MonoTime(7s)).resource_version, "20");
}

TEST(ReflectorFsmTest, AnEventWithoutVersionListsAgainAfterTheWatch) {
  using Type = KubeWatchEvent::Type;
  ReflectorFsm fsm;
  (void)fsm.next_watch("", 0, {});
  fsm.on_event({Type::kOpened, "", ""});
  fsm.on_event({Type::kInitialListEnd, "", "9"});
  EXPECT_EQ(fsm.on_event({Type::kModified, "{}", ""}), ReflectorFsm::Tell::kUpsert);
  fsm.on_end(Status(), 0, MonoTime(5s));
  EXPECT_EQ(fsm.state(), ReflectorFsm::State::kEmpty);
}

TEST(ReflectorFsmTest, AServerThatEndsEveryWatchAtOnceIsNoBusyLoop) {
  using Type = KubeWatchEvent::Type;
  ReflectorFsm fsm;
  for (int i = 0; i < 3; ++i) {
    (void)fsm.next_watch("", 0, MonoTime(1s));
    fsm.on_event({Type::kOpened, "", ""});
    EXPECT_GE(fsm.on_end(Status(), 0, MonoTime(1s)), 800ms);
  }
}

}  // namespace
}  // namespace kro
