#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "contract/kube/kube_world.h"
#include "runtime/event_recorder.h"
#include "runtime/leader_election.h"
#include "runtime/reflector.h"
#include "runtime/status_writer.h"

namespace kro::contract {
namespace {

using nlohmann::json;

const KubeResource kReassignments{"kafka-reassignment.io", "v1alpha1", "kafkareassignments"};
const KubeResource kLeases{"coordination.k8s.io", "v1", "leases"};

class SteadyTestClock final : public Clock {
 public:
  [[nodiscard]] Now now() const override {
    return {std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now()),
            std::chrono::steady_clock::now()};
  }
};

// True as soon as `condition` holds; false after 30 s.
template <class Condition>
bool eventually(Condition&& condition) {
  const auto limit = std::chrono::steady_clock::now() + 30s;
  while (std::chrono::steady_clock::now() < limit) {
    if (condition()) return true;
    std::this_thread::sleep_for(5ms);
  }
  return false;
}

class RuntimeContract : public testing::TestWithParam<std::string> {
 protected:
  std::string reassignment(const std::string& name) {
    return json{{"apiVersion", "kafka-reassignment.io/v1alpha1"},
                {"kind", "KafkaReassignment"},
                {"metadata", {{"name", name}, {"namespace", world_->ns()}}},
                {"spec",
                 {{"clusterRef", {{"name", "prod"}}},
                  {"plan", {{"partitions", {{{"topic", "orders"}, {"partition", 0}, {"replicas", {1, 2, 3}}}}}}}}}}
        .dump();
  }
  json read(const std::string& name) {
    const auto got = world_->api().get(kReassignments, {world_->ns(), name}, clock_.in(10s));
    return got && *got ? json::parse(**got) : json();
  }

  SteadyTestClock clock_;
  std::unique_ptr<KubeWorld> world_ = make_world(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Worlds, RuntimeContract, testing::ValuesIn(world_names()),
                         [](const auto& param) { return param.param; });

TEST_P(RuntimeContract, OneCandidateLeadsAndHandsOver) {
  LeaderElectionConfig config{world_->ns(), "lead", "a", 3s, 2s, 1s};
  LeaderElection a(world_->api(), clock_, config, {}, [] { return 0.0; });
  config.identity = "b";
  LeaderElection b(world_->api(), clock_, config, {}, [] { return 0.0; });
  a.step({});
  b.step({});
  ASSERT_TRUE(a.leads());
  EXPECT_FALSE(b.leads());
  for (int i = 0; i < 3; ++i) {
    a.step({});
    b.step({});
  }
  ASSERT_TRUE(a.leads());
  a.release(clock_.in(5s));
  EXPECT_FALSE(a.leads());
  b.step({});
  EXPECT_TRUE(b.leads());
  const auto lease = world_->api().get(kLeases, {world_->ns(), "lead"}, clock_.in(5s));
  ASSERT_TRUE(lease && *lease);
  EXPECT_EQ(json::parse(**lease)["spec"]["holderIdentity"], "b");
  EXPECT_EQ(json::parse(**lease)["spec"]["leaseTransitions"], 1);
  // b dies: a follows when the lease has not changed for its duration.
  EXPECT_TRUE(eventually([&] {
    a.step({});
    return a.leads();
  }));
  EXPECT_FALSE(b.leads());
}

TEST_P(RuntimeContract, AReflectorMirrorsWhatHappens) {
  class Names : public ReflectorSink {
   public:
    void upsert(std::string_view text) override {
      const std::scoped_lock lock(mutex);
      names.insert(json::parse(text)["metadata"]["name"].get<std::string>());
    }
    void remove(std::string_view text) override {
      const std::scoped_lock lock(mutex);
      names.erase(json::parse(text)["metadata"]["name"].get<std::string>());
    }
    void begin_list() override {}
    void end_list() override { listed = true; }
    bool has(const std::string& name) {
      const std::scoped_lock lock(mutex);
      return names.contains(name);
    }
    std::mutex mutex;
    std::set<std::string> names;
    std::atomic<bool> listed = false;
  } names;
  ASSERT_TRUE(world_->apply(reassignment("first")));
  std::atomic<bool> connected = false;
  ReflectorThread thread(std::make_unique<Reflector>(
      world_->api(), ReflectorConfig{kReassignments, world_->ns()}, names, clock_, [] { return 0.5; },
      [&](const ReflectorHealth& health) { connected = health.connected; }));
  ASSERT_TRUE(eventually([&] { return names.listed.load(); }));
  EXPECT_TRUE(names.has("first"));
  EXPECT_TRUE(connected);
  ASSERT_TRUE(world_->apply(reassignment("second")));
  EXPECT_TRUE(eventually([&] { return names.has("second"); }));
  ASSERT_TRUE(world_->erase(kReassignments, {world_->ns(), "first"}));
  EXPECT_TRUE(eventually([&] { return !names.has("first"); }));
}

TEST_P(RuntimeContract, StatusesAreWrittenTheNewestLast) {
  ASSERT_TRUE(world_->apply(reassignment("written")));
  const std::string version = read("written")["metadata"]["resourceVersion"].get<std::string>();
  std::mutex mutex;
  int answers = 0, written = 0, odd = 0;
  const auto submit = [&](StatusWriter& writer, const std::string& from, int number) {
    writer.submit("written", {kReassignments,
                              {world_->ns(), "written"},
                              from,
                              json{{"phase", "Running"}, {"summary", std::to_string(number)}}.dump(),
                              [&](const Result<KubeMeta>& outcome) {
                                const std::scoped_lock lock(mutex);
                                ++answers;
                                written += outcome ? 1 : 0;
                                const bool expected = outcome || outcome.error().code == ErrorCode::kCancelled ||
                                                      outcome.error().code == ErrorCode::kVersion;
                                odd += expected ? 0 : 1;
                              }});
  };
  const auto count = [&] {
    const std::scoped_lock lock(mutex);
    return answers;
  };
  {
    StatusWriter writer(world_->api(), clock_);
    // All from the first version: those that wait behind one of ours follow it, later ones are conflicts.
    for (int i = 0; i < 50; ++i) submit(writer, version, i);
    ASSERT_TRUE(eventually([&] { return count() == 50; }));
    submit(writer, read("written")["metadata"]["resourceVersion"].get<std::string>(), 50);
    writer.stop(clock_.in(20s));
  }
  EXPECT_EQ(answers, 51) << "each exactly once";
  EXPECT_GE(written, 2);
  EXPECT_EQ(odd, 0);
  EXPECT_EQ(read("written")["status"]["summary"], "50");
}

TEST_P(RuntimeContract, AStoppedWriterAnswersEveryWrite) {
  int cancelled = 0;
  StatusWriter writer(world_->api(), clock_);
  writer.stop(clock_.in(1s));
  writer.submit("late", {kReassignments, {world_->ns(), "late"}, "1", "{}", [&](const Result<KubeMeta>& outcome) {
                           cancelled += !outcome && outcome.error().code == ErrorCode::kCancelled ? 1 : 0;
                         }});
  EXPECT_EQ(cancelled, 1);
}

TEST_P(RuntimeContract, EventsArriveWithTheirObject) {
  ASSERT_TRUE(world_->apply(reassignment("told")));
  const std::string uid = read("told")["metadata"]["uid"].get<std::string>();
  {
    EventRecorder recorder(world_->api(), clock_, {"kafka-reassignment.io/operator", "pod-0"});
    const EventObject object{"kafka-reassignment.io/v1alpha1", "KafkaReassignment", {world_->ns(), "told"}, uid};
    recorder.record({object, true, "Stalled", "Watch", std::string(2000, 'n')});
    recorder.record({object, false, "Started", "Submit", "Moving."});
    recorder.stop(clock_.in(10s));
    EXPECT_EQ(recorder.dropped(), 0);
  }
  std::map<std::string, json> events;
  (void)world_->api().watch({"events.k8s.io", "v1", "events"}, {world_->ns(), "", 5s},
                            [&](const KubeWatchEvent& event) {
                              if (!event.object.empty()) {
                                const json object = json::parse(event.object);
                                events[object["reason"].get<std::string>()] = object;
                              }
                              return event.type != KubeWatchEvent::Type::kInitialListEnd;
                            },
                            {});
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events["Stalled"]["type"], "Warning");
  EXPECT_EQ(events["Started"]["note"], "Moving.");
  EXPECT_EQ(events["Started"]["regarding"]["uid"], uid);
}

}  // namespace
}  // namespace kro::contract
