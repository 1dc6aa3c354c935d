#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "decide/acceptance_decider.h"
#include "execute/controller_loop.h"
#include "fakes/fake_kafka.h"
#include "fakes/fake_zk.h"
#include "fakes/faulty_zk.h"
#include "fakes/manual_clock.h"
#include "fakes/recording_metrics.h"
#include "unit/execute/invariants.h"

namespace kro::execute::test {

// A whole controller on fakes, stepped on the test's own thread: brokers 1…6, a clock that goes only where the
// controller's next step is due. Whatever happens in a test, Invariants looks at each write and call.
class ControllerRig : public ::testing::Test {
 protected:
  // One controller process.
  struct Process {
    Process(ControllerRig& rig, const std::string& id)
        : connector(std::make_unique<FaultyZkConnector>(std::make_unique<FakeZkConnector>(rig.zk), rig.faults),
                    rig.tap),
          kafka(rig.kafka.make_client(), rig.tap),
          loop(std::make_unique<ControllerLoop>(connector, kafka, rig.clock, rig.metrics, rig.options(id))) {}
    TapConnector connector;
    TapKafka kafka;
    std::unique_ptr<ControllerLoop> loop;
    MonoTime next{};
  };

  ControllerRig() {
    for (BrokerId id = 1; id <= 6; ++id) kafka.add_broker(id, id % 2 == 0 ? "even" : "odd");
    zk->put("/cluster/id", R"({"version":"1","id":"fake-cluster"})");
    zk->put("/admin", "");
    invariants.watch(tap);
    client = std::move(*FakeZkConnector(zk).open({"fake:2181", "", 10s, {}}, [](const ZkEvent&) {}));
    start("first");
  }

  void TearDown() override {
    for (const std::string& what : invariants.broken) ADD_FAILURE() << what;
    if (HasFailure() && print_transcript)
      for (const std::string& line : invariants.transcript) std::fprintf(stderr, "%s\n", line.c_str());
  }

  ControllerOptions options(const std::string& id) const {
    ControllerOptions out;
    out.id = id;
    out.host = "host";
    out.cluster_name = "main";
    out.zookeeper.connect = "fake:2181";
    out.limits = limits;
    return out;
  }

  void start(const std::string& id) { processes.push_back(std::make_unique<Process>(*this, id)); }
  ControllerLoop& loop(std::size_t i = 0) { return *processes[i]->loop; }
  const decide::ControllerModel& model(std::size_t i = 0) { return *loop(i).model(); }

  // The process ends between two effects: nothing of it runs any more, and its session lives on until it times out.
  void kill(std::size_t i) {
    kill_only(i);
    advance(10s);
  }
  void kill_only(std::size_t i) {
    invariants.note("killed");
    tap.kill_at = 0;
    const std::vector<std::int64_t> before = zk->sessions();
    const std::int64_t id = processes[i]->connector.last_session();
    const bool alive = std::find(before.begin(), before.end(), id) != before.end();
    if (alive) zk->suspend(id);
    processes.erase(processes.begin() + static_cast<std::ptrdiff_t>(i));
    if (alive) zk->expire(id);
  }

  void advance(milliseconds span) {
    clock.advance(span);
    kafka.advance(span);
  }

  // One round: every process whose time or event has come makes a step. A process that never rests is a fault.
  void round() {
    for (std::size_t i = 0; i < processes.size(); ++i) {
      Process& p = *processes[i];
      int steps = 0;
      while (p.next <= clock.now().mono || (!p.loop->backing_off() && p.loop->wake().pending())) {
        if (++steps > 300) {
          ADD_FAILURE() << "a controller that never rests";
          break;
        }
        p.next = p.loop->step({});
      }
    }
  }
  void run_for(milliseconds span) {
    const MonoTime end = clock.now().mono + span;
    while (clock.now().mono < end) {
      round();
      advance(std::min<milliseconds>(250ms, std::chrono::duration_cast<milliseconds>(end - clock.now().mono)));
    }
    round();
  }
  template <class Condition>
  ::testing::AssertionResult until(const Condition& condition, milliseconds limit = 120s) {
    const MonoTime end = clock.now().mono + limit;
    for (;;) {
      round();
      if (condition()) return ::testing::AssertionSuccess();
      if (clock.now().mono >= end) break;
      advance(250ms);
    }
    for (const std::string& name : zk->names(std::string(tree::kResults)))
      invariants.note(name + " " + zk->peek(tree::result(name))->data);
    return ::testing::AssertionFailure() << "did not come true within " << limit.count() << " ms";
  }

  // Puts a request in the inbox; the name of its result.
  std::string send(const std::string& json) {
    zk->put(std::string(tree::kRequests), "");
    // Larger than our own client sends: as somebody else's would.
    const bool large = json.size() > kMostMultiBytes / 2;
    const auto made = client->multi(
        {ZkCreate{std::string(tree::kRequests) + "/request_", large ? "" : json, ZkMode::kPersistentSequential}},
        clock.in(1s));
    if (large) zk->put(made->front().path, json);
    const std::string path = made->front().path;
    return tree::result_name(path.substr(path.rfind('/') + 1), zk->peek(path)->stat.czxid);
  }
  std::string move(const std::string& topic, const std::string& partitions, const std::string& more = "") {
    return send(R"({"version":1,"assignments":{")" + topic + "\":{" + partitions + "}}" + more + "}");
  }
  static std::string request_of(const std::string& result) {
    return tree::request(result.substr(0, result.rfind('-')));
  }
  bool in_inbox(const std::string& result) { return zk->peek(request_of(result)).has_value(); }

  std::string lock() {
    zk->put(std::string(tree::kLock), "");
    return tree::cancel_result_name(zk->peek(std::string(tree::kLock))->stat.czxid);
  }
  void unlock() { zk->remove(std::string(tree::kLock)); }

  std::optional<tree::RequestResult> result(const std::string& name) {
    const auto node = zk->peek(tree::result(name));
    if (!node) return std::nullopt;
    auto out = tree::decode_result(node->data);
    return out ? std::optional(*out) : std::nullopt;
  }
  bool done(const std::string& name) {
    const auto r = result(name);
    return r && r->done;
  }
  std::string outcome(const std::string& name, const TopicPartition& tp) {
    const auto r = result(name);
    if (!r) return "no result";
    for (const auto& [reason, sets] : r->refused)
      if (contains(sets, tp)) return reason;
    return std::string(r->outcome_of(tp));
  }
  std::optional<tree::Reassignment> znode(const TopicPartition& tp) {
    const auto node = zk->peek(tree::reassignment(tp));
    if (!node) return std::nullopt;
    auto out = tree::decode_reassignment(node->data);
    return out ? std::optional(*out) : std::nullopt;
  }
  std::vector<std::string> topics_in_flight() { return zk->names(std::string(tree::kReassignments)); }
  ReplicaList list(const TopicPartition& tp) {
    const auto truth = kafka.truth();
    const auto* p = truth.find(tp);
    return p == nullptr ? ReplicaList{} : p->replicas;
  }
  // What was asked of Kafka for one partition, in order: "2,3", "null".
  std::vector<std::string> calls(const TopicPartition& tp) {
    std::vector<std::string> out;
    for (const FakeKafka::Call& call : kafka.history())
      if (const auto at = call.request.find(tp); at != call.request.end())
        out.push_back(at->second ? to_text(*at->second) : "null");
    return out;
  }

  ManualClock clock;
  std::shared_ptr<FakeZk> zk = std::make_shared<FakeZk>(&clock);
  std::shared_ptr<ZkFaults> faults = std::make_shared<ZkFaults>();
  FakeKafka kafka;
  RecordingMetrics metrics;
  decide::StartLimits limits;
  Tap tap;
  Invariants invariants{*zk, kafka, clock};
  std::unique_ptr<ZkSession> client;
  std::deque<std::unique_ptr<Process>> processes;
  bool print_transcript = true;
};

}  // namespace kro::execute::test
