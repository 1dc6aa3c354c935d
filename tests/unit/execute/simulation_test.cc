#include <cstdlib>
#include <random>

#include "unit/execute/controller_rig.h"

namespace kro::execute::test {
namespace {

// Random requests, locks, deletions, deaths, lost answers, expiries and restarts, from a seed. Invariants looks at
// each write and call; at the end the faults stop, and everything must come to rest.
class World final : public ControllerRig {
 public:
  explicit World(std::uint64_t seed) : random_(seed) {
    print_transcript = false;
    for (int t = 0; t < 3; ++t) make_topic("t" + std::to_string(t));
    kafka.set_speed(4000);
  }
  void TestBody() override {}

  std::string run() {
    for (int event = 0; event < 60; ++event) {
      happen();
      go(milliseconds(static_cast<int>(below(12)) * 500));
      if (!invariants.broken.empty()) return invariants.broken.front();
    }
    return calm();
  }
  void print() const {
    for (const std::string& line : invariants.transcript) std::fprintf(stderr, "%s\n", line.c_str());
  }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool chance(int percent) { return below(100) < static_cast<std::uint64_t>(percent); }

  ReplicaList some_replicas() {
    ReplicaList out;
    const std::size_t n = 1 + below(3);
    while (out.size() < n) {
      const auto id = static_cast<BrokerId>(1 + below(6));
      if (!contains(out, id)) out.push_back(id);
    }
    return out;
  }
  void make_topic(const std::string& name) {
    std::vector<ReplicaList> partitions;
    for (int p = 0; p < 3; ++p) {
      ReplicaList replicas;
      while (replicas.empty() || std::none_of(replicas.begin(), replicas.end(),
                                              [&](BrokerId id) { return kafka.truth().brokers.contains(id); }))
        replicas = some_replicas();
      partitions.push_back(replicas);
    }
    if (!kafka.create_topic(name, partitions)) return;
    for (int p = 0; p < 3; ++p) kafka.set_bytes({name, p}, 10'000);
    invariants.note("topic " + name);
  }
  TopicPartition some_partition() { return {"t" + std::to_string(below(3)), static_cast<PartitionId>(below(3))}; }

  void request() {
    std::string parts;
    std::map<TopicPartition, ReplicaList> wanted;
    for (std::size_t n = 1 + below(4); n > 0; --n) wanted[some_partition()] = some_replicas();
    Assignments assignments;
    for (const auto& [tp, replicas] : wanted) assignments[tp.topic][tp.partition] = replicas;
    tree::Request r;
    r.assignments = assignments;
    if (chance(30)) r.max_in_flight = 1;
    if (chance(20)) r.health_gate = true;
    if (chance(20)) r.all_or_nothing = true;
    if (chance(10)) r.dry_run = true;
    if (chance(40)) r.client = "op/u" + std::to_string(below(3));
    const std::string text = tree::encode_request(r);
    // As every client must: not while a lock exists.
    if (zk->peek(std::string(tree::kLock)) && !r.dry_run) return;
    sent_.push_back(send(text));
    invariants.note("request " + sent_.back() + " " + text);
  }

  void happen() {
    const std::uint64_t what = below(100);
    if (what < 40) return request();
    if (what < 48) {
      const bool locked = zk->peek(std::string(tree::kLock)).has_value();
      invariants.note(locked ? "unlock" : "lock");
      if (locked) {
        unlock();
      } else {
        lock();
      }
    } else if (what < 51) {
      const std::string name = "t" + std::to_string(below(3));
      invariants.note("delete topic " + name);
      kafka.delete_topic(name);
      if (chance(60)) make_topic(name);
    } else if (what < 61) {
      const auto id = static_cast<BrokerId>(1 + below(6));
      const bool alive = kafka.truth().brokers.contains(id);
      if (alive && kafka.truth().brokers.size() <= 4) return;
      invariants.note((alive ? "dies: broker " : "returns: broker ") + std::to_string(id));
      kafka.set_alive(id, !alive);
    } else if (what < 69) {
      kafka.next_alter({chance(50) ? std::optional<milliseconds>(below(20) * 1000) : std::nullopt,
                        chance(50) ? std::optional<milliseconds>(20'000 + below(20) * 1000) : std::nullopt});
      invariants.note("the next answer of Kafka is lost");
    } else if (what < 76) {
      for (const std::int64_t id : zk->sessions())
        if (id != client->session_id()) zk->expire(id);
      invariants.note("sessions expire");
    } else if (what < 84) {
      static constexpr ZkFault kFaults[] = {ZkFault::kBefore, ZkFault::kLost, ZkFault::kAfter, ZkFault::kTimeoutAfter};
      faults->script({kFaults[below(4)], ZkFault::kNone, ZkFault::kNone, kFaults[below(4)]});
      invariants.note("ZooKeeper answers get lost");
    } else if (what < 90) {
      tap.kill_at = tap.effects + 1 + static_cast<int>(below(4));
      tap.kill_after = chance(50);
    } else if (what < 93) {
      const TopicPartition tp = some_partition();
      const ReplicaList target = some_replicas();
      invariants.note("foreign " + tp.text() + " " + to_text(target));
      (void)kafka.foreign_alter(tp, target);
    } else if (what < 95) {
      kafka.fail_next(static_cast<int>(1 + below(5)));
    } else if (what < 97 && processes.size() < 2) {
      start("other");
    } else {
      const TopicPartition tp = some_partition();
      if (!kafka.truth().find(tp)) return;
      kafka.set_speed(tp, chance(50) ? std::optional<std::int64_t>(0) : std::optional<std::int64_t>(4000));
    }
  }

  void go(milliseconds span) {
    const MonoTime end = clock.now().mono + span;
    for (;;) {
      try {
        run_for(std::chrono::duration_cast<milliseconds>(std::max(end - clock.now().mono, MonoTime::duration{})));
        return;
      } catch (const Killed&) {
        while (!processes.empty()) kill(0);
        start("again");
      }
    }
  }

  // The faults stop: everything is decided, and nothing is written any more.
  std::string calm() {
    invariants.note("calm");
    faults->reset();
    tap.kill_at = 0;
    unlock();
    for (BrokerId id = 1; id <= 6; ++id) kafka.set_alive(id, true);
    for (int t = 0; t < 3; ++t)
      for (int p = 0; p < 3; ++p)
        if (kafka.truth().find({"t" + std::to_string(t), p}))
          kafka.set_speed({"t" + std::to_string(t), p}, std::nullopt);
    kafka.set_speed(std::nullopt);
    // Answers that are still to be lost cost 60 s each.
    for (int i = 0; i < 40 && !(topics_in_flight().empty() && zk->names(std::string(tree::kRequests)).empty()); ++i)
      go(60s);
    go(60s);
    if (!invariants.broken.empty()) return invariants.broken.front();
    for (const std::string& topic : topics_in_flight())
      for (const std::string& p : zk->names(tree::topic(topic))) return "still in flight: " + topic + "-" + p;
    if (const auto left = zk->names(std::string(tree::kRequests)); !left.empty())
      return "still in the inbox: " + left[0];
    for (const std::string& name : zk->names(std::string(tree::kResults))) {
      const auto r = result(name);
      if (!r || !r->done) return "not done: " + name + " " + zk->peek(tree::result(name))->data;
      if (r->request.empty() || r->partitions == 0) continue;
      const bool dry = r->refused_count() + r->finished_count() == 0;
      if (!dry && r->finished_count() > static_cast<std::size_t>(r->partitions)) return "too many outcomes: " + name;
    }
    zk->reset_counters();
    go(120s);
    if (zk->counters().multis > 0) return "not at rest: " + std::to_string(zk->counters().multis) + " writes";
    return {};
  }

  std::mt19937_64 random_;
  std::vector<std::string> sent_;
};

TEST(Simulation, OfSeeds) {
  const char* given = std::getenv("KRO_SIM_SEEDS");
  const std::uint64_t seeds = given != nullptr ? std::strtoull(given, nullptr, 10) : 40;
  const char* first_text = std::getenv("KRO_SIM_FIRST_SEED");
  const std::uint64_t first = first_text != nullptr ? std::strtoull(first_text, nullptr, 10) : 1;
  for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
    World world(seed);
    const std::string problem = world.run();
    if (problem.empty() && !::testing::Test::HasFailure()) continue;
    world.print();
    FAIL() << "seed " << seed << ": " << problem << " (KRO_SIM_FIRST_SEED=" << seed << " KRO_SIM_SEEDS=1)";
  }
}

}  // namespace
}  // namespace kro::execute::test
