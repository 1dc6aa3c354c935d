#include "unit/execute/controller_rig.h"

namespace kro::execute::test {
namespace {

// 6 partitions, 2 requests (the second takes one partition over), then a lock, then the lock goes. The controller is
// killed at one of its effects, and another one goes on; whatever the moment, the end is right.
class CrashMatrix : public ControllerRig {
 protected:
  CrashMatrix() { build(); }

  void build() {
    kafka.create_topic("orders", {{1, 2}, {2, 3}, {3, 1}, {1, 3}, {2, 1}, {3, 2}});
    kafka.set_speed(0);
    for (const int fast : {0, 3}) kafka.set_speed({"orders", fast}, std::nullopt);
  }

  // Lets the scenario run to its end; a Killed controller is replaced.
  void play(int kill_at, bool after) {
    tap.effects = 0;
    tap.kill_at = kill_at;
    tap.kill_after = after;
    first_ = move("orders", R"("0":[4,5],"1":[5,4],"2":[6,3],"3":[4,6])", R"(,"max_in_flight":3)");
    go_on([&] {
      return result(first_) && result(first_)->finished_count("completed") == 2 &&
             kafka.running().contains({"orders", 2});
    });
    second_ = move("orders", R"("2":[1,6],"4":[4,1],"5":[6,5])");
    go_on([&] {
      return kafka.running().contains({"orders", 5}) && znode({"orders", 2}) &&
             znode({"orders", 2})->request == second_;
    });
    cancel_ = lock();
    go_on([&] { return done(cancel_); });
    unlock();
    go_on([&] { return done(first_) && done(second_) && topics_in_flight().empty(); });
  }

  template <class Condition>
  void go_on(const Condition& condition) {
    for (int tries = 0; tries < 3; ++tries) {
      try {
        ASSERT_TRUE(until(condition, 400s)) << "killed at " << killed_at_;
        return;
      } catch (const Killed&) {
        killed_at_ = tap.kill_at;
        kill(0);
        start("after");
      }
    }
    FAIL() << "killed more than once";
  }

  void check(int kill_at, bool after) {
    const std::string where =
        "killed " + std::string(after ? "after" : "before") + " effect " + std::to_string(kill_at);
    const std::map<TopicPartition, ReplicaList> originals{{{"orders", 0}, {1, 2}}, {{"orders", 1}, {2, 3}},
                                                          {{"orders", 2}, {3, 1}}, {{"orders", 3}, {1, 3}},
                                                          {{"orders", 4}, {2, 1}}, {{"orders", 5}, {3, 2}}};
    const std::map<TopicPartition, ReplicaList> targets{{{"orders", 0}, {4, 5}}, {{"orders", 3}, {4, 6}}};
    for (const auto& [tp, original] : originals) {
      const auto target = targets.find(tp);
      EXPECT_EQ(list(tp), target == targets.end() ? original : target->second) << tp.text() << " " << where;
    }
    EXPECT_TRUE(kafka.running().empty()) << where;
    EXPECT_EQ(outcome(first_, {"orders", 0}), "completed") << where;
    EXPECT_EQ(outcome(first_, {"orders", 1}), "restored") << where;
    EXPECT_EQ(outcome(first_, {"orders", 2}), "superseded") << where;
    EXPECT_EQ(outcome(first_, {"orders", 3}), "completed") << where;
    for (const int p : {2, 4, 5}) EXPECT_EQ(outcome(second_, {"orders", p}), "restored") << p << where;
    EXPECT_EQ(result(cancel_)->finished_count("restored"), 4U) << where;
    EXPECT_FALSE(in_inbox(first_)) << where;
    EXPECT_FALSE(in_inbox(second_)) << where;
    run_for(70s);
    EXPECT_EQ(zk->peek(std::string(tree::kControllerCall))->data, "") << where;
    EXPECT_TRUE(invariants.broken.empty()) << where;
  }

  std::string first_, second_, cancel_;
  int killed_at_ = 0;
};

// The test body of one crash point, in a rig of its own.
class OnePoint final : public CrashMatrix {
 public:
  OnePoint() { print_transcript = false; }
  void TestBody() override {}
  int count() {
    play(0, false);
    const int effects = tap.effects;
    check(0, false);
    return effects;
  }
  void run(int kill_at, bool after) {
    play(kill_at, after);
    if (!HasFailure()) check(kill_at, after);
    for (const std::string& what : invariants.broken) ADD_FAILURE() << what << " at " << kill_at;
  }
  [[nodiscard]] bool was_killed() const { return killed_at_ > 0; }
  void print() const {
    for (const std::string& line : invariants.transcript) std::fprintf(stderr, "%s\n", line.c_str());
  }
};

TEST(CrashMatrixOf, EveryWriteAndEveryCall) {
  const int effects = OnePoint().count();
  ASSERT_GT(effects, 15);
  int killed = 0;
  for (int n = 1; n <= effects; ++n) {
    for (const bool after : {false, true}) {
      OnePoint point;
      point.run(n, after);
      killed += point.was_killed() ? 1 : 0;
      if (::testing::Test::HasFailure()) {
        point.print();
        FAIL() << "at effect " << n << (after ? " after" : " before");
      }
    }
  }
  EXPECT_GE(killed, 2 * effects - 8) << "nearly every point was hit";
}

}  // namespace
}  // namespace kro::execute::test
