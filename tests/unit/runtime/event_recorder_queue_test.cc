#include "runtime/event_recorder_queue.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fakes/fake_kube.h"
#include "fakes/manual_clock.h"

namespace kro {
namespace {

const KubeResource kEvents{"events.k8s.io", "v1", "events"};

EventNote note_of(const std::string& uid, const std::string& text = "Moving.") {
  return {{"kafka-reassignment.io/v1alpha1", "KafkaReassignment", {"kafka", "drain"}, uid},
          false,
          "Started",
          "Submit",
          text};
}

class EventRecorderQueueTest : public testing::Test {
 protected:
  void add(const EventNote& note) { queue_.add(note, clock_.now()); }
  // Writes what is due to the fake API server; the number of writes.
  int pump() {
    int n = 0;
    while (auto write = queue_.take(clock_.now())) {
      const Deadline deadline = clock_.in(1s);
      const auto answer = write->create ? kube_.create(kEvents, write->name.ns, write->json, deadline)
                                        : kube_.merge_patch(kEvents, write->name, write->json, deadline);
      Status outcome;
      if (!answer) outcome = tl::unexpected(answer.error());
      queue_.done(write->series, outcome, clock_.now());
      ++n;
    }
    return n;
  }
  std::vector<nlohmann::json> events() {
    std::vector<nlohmann::json> out;
    for (const auto& text : kube_.objects(kEvents)) out.push_back(nlohmann::json::parse(text));
    return out;
  }

  ManualClock clock_;
  FakeKube kube_{[this] { return clock_.now().wall; }};
  EventRecorderQueue queue_{{"kafka-reassignment.io/operator", "pod-0"}};
};

TEST_F(EventRecorderQueueTest, OneNoteIsOneEvent) {
  EventNote note = note_of("u1");
  note.warning = true;
  add(note);
  EXPECT_EQ(pump(), 1);
  ASSERT_EQ(events().size(), 1U);
  const auto event = events()[0];
  EXPECT_EQ(event["type"], "Warning");
  EXPECT_EQ(event["reason"], "Started");
  EXPECT_EQ(event["action"], "Submit");
  EXPECT_EQ(event["note"], "Moving.");
  EXPECT_EQ(event["regarding"]["uid"], "u1");
  EXPECT_EQ(event["regarding"]["namespace"], "kafka");
  EXPECT_EQ(event["metadata"]["namespace"], "kafka");
  EXPECT_EQ(event["eventTime"], rfc3339_micro(clock_.now().wall));
  EXPECT_FALSE(event.contains("series"));
  EXPECT_FALSE(queue_.next_due().has_value());
}

TEST_F(EventRecorderQueueTest, RepeatsCountInOneEvent) {
  add(note_of("u1"));
  pump();
  for (int i = 0; i < 5; ++i) add(note_of("u1"));
  EXPECT_EQ(pump(), 0) << "not before 10 s";
  clock_.advance(10s);
  EXPECT_EQ(pump(), 1);
  ASSERT_EQ(events().size(), 1U);
  EXPECT_EQ(events()[0]["series"]["count"], 6);
}

TEST_F(EventRecorderQueueTest, RepeatsBeforeTheFirstWriteAreToldAfterIt) {
  add(note_of("u1"));
  add(note_of("u1"));
  add(note_of("u1"));
  EXPECT_EQ(pump(), 1);
  EXPECT_FALSE(events()[0].contains("series"));
  clock_.advance(10s);
  EXPECT_EQ(pump(), 1);
  EXPECT_EQ(events()[0]["series"]["count"], 3);
}

TEST_F(EventRecorderQueueTest, OtherObjectReasonOrNoteIsAnotherEvent) {
  add(note_of("u1"));
  add(note_of("u2"));
  add(note_of("u1", "Else."));
  EventNote reason = note_of("u1");
  reason.reason = "Stalled";
  add(reason);
  EXPECT_EQ(pump(), 4);
  EXPECT_EQ(events().size(), 4U);
}

TEST_F(EventRecorderQueueTest, LongTextsAreCutAtACharacter) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "ü";
  add(note_of("u1", text));
  EXPECT_EQ(pump(), 1);
  ASSERT_EQ(events().size(), 1U) << "the server takes it";
  const auto note = events()[0]["note"].get<std::string>();
  EXPECT_LE(note.size(), 1024U);
  EXPECT_TRUE(note.ends_with("ü…"));
}

TEST_F(EventRecorderQueueTest, AnEventThatExpiredIsBegunAnew) {
  add(note_of("u1"));
  pump();
  const KubeName name{"kafka", events()[0]["metadata"]["name"].get<std::string>()};
  ASSERT_TRUE(kube_.erase(kEvents, name));
  clock_.advance(20min);
  add(note_of("u1"));
  EXPECT_EQ(pump(), 2) << "a patch that finds nothing, then a new event";
  ASSERT_EQ(events().size(), 1U);
  EXPECT_NE(events()[0]["metadata"]["name"], name.name);
}

TEST_F(EventRecorderQueueTest, FailuresAreRetriedALittleThenDropped) {
  kube_.set_away(true);
  add(note_of("u1"));
  for (int i = 0; i < 10; ++i) {
    pump();
    clock_.advance(1min);
  }
  EXPECT_EQ(kube_.writes(), 5);
  EXPECT_EQ(queue_.dropped(), 1);
  kube_.set_away(false);
  add(note_of("u1"));
  EXPECT_EQ(pump(), 1) << "a new try for a new note";
}

TEST_F(EventRecorderQueueTest, ALostAnswerMakesNoSecondEvent) {
  kube_.lose_answers(1);
  add(note_of("u1"));
  pump();
  clock_.advance(1min);
  pump();
  EXPECT_EQ(events().size(), 1U);
  clock_.advance(1min);
  add(note_of("u1"));
  pump();
  EXPECT_EQ(events()[0]["series"]["count"], 2);
}

TEST_F(EventRecorderQueueTest, IsBounded) {
  kube_.set_away(true);
  for (int i = 0; i < 600; ++i) add(note_of("u" + std::to_string(i)));
  EXPECT_EQ(queue_.dropped(), 100);
  kube_.set_away(false);
  EXPECT_EQ(pump(), 500);
}

TEST_F(EventRecorderQueueTest, ForgetsTheLeastRecentSeries) {
  for (int i = 0; i < 2500; ++i) {
    add(note_of("u" + std::to_string(i)));
    clock_.advance(1ms);
    ASSERT_EQ(pump(), 1);
  }
  // The newest is still known, the oldest starts anew.
  clock_.advance(10s);
  add(note_of("u2499"));
  add(note_of("u0"));
  pump();
  EXPECT_EQ(events().size(), 2501U);
}

}  // namespace
}  // namespace kro
