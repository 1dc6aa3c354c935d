#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "decide/controller_model.h"
#include "decide/kafka_view.h"
#include "decide/start_decider.h"
#include "execute/leadership.h"
#include "execute/tree_change.h"
#include "ports/kafka_admin.h"
#include "ports/metrics.h"
#include "ports/zk_session.h"
#include "runtime/lifecycle.h"

namespace kro::execute {

struct ControllerOptions {
  std::string id;  // unique among the controllers of a tree
  std::string host;
  std::string cluster_name;   // label of metrics
  std::string tree = "auto";  // auto, shared, own
  ZkConfig zookeeper;
  decide::StartLimits limits;
  milliseconds poll_active = 1s;
  milliseconds poll_idle = 30s;
  milliseconds glance_every = 2s;  // at API 46 alone, while idle
  milliseconds report_every = 5s;
  milliseconds sizes_every = 30s;
  milliseconds retention_every = 300s;
};

// What one leading controller works with: the model of the tree, the last poll of Kafka, and the only two ways to
// change something: commit() for the tree, call() (call_executor.h) for Kafka. One thread.
struct ControllerContext {
  ZkSession& session;
  Leadership& leadership;
  KafkaAdmin& kafka;
  const Clock& clock;
  Metrics& metrics;
  const ControllerOptions& options;
  std::stop_token stop;
  Heartbeat* heartbeat = nullptr;  // told at every call that came back

  decide::ControllerModel model{};
  std::optional<decide::KafkaView> view{};
  // Episodes whose target Kafka is to be told now.
  std::set<TopicPartition> to_submit{};
  // Results whose partitions made progress (a replica joined or grew) since it was last written.
  std::set<std::string> progressed{};
  // Targets of episodes that ended here a short time ago: a foreign move to one of them is a call of ours that Kafka
  // carried out late (a stray, znodes.md 4.5).
  struct EndedTarget {
    ReplicaList target;
    MonoTime when;
  };
  std::map<TopicPartition, EndedTarget> ended_targets{};
  // What nothing more of a request starts for now: result name → "holding".
  std::map<std::string, std::string> holding{};
  // An outcome, a start or an answer changed something in this step: step again at once.
  bool moved = false;
  // The lock assertion of a write failed: there is a lock that has not been read yet.
  bool lock_seen = false;

  void beat() const {
    if (heartbeat != nullptr) heartbeat->beat(clock.now().mono);
  }
  // Writes one multi at the head of which leadership is checked; empties the record of calls with it where all
  // answers are in.
  Result<std::vector<ZkOpResult>> write(std::vector<ZkOp> ops);
  // The whole change or nothing; what can be amended (TreeChange::amend) is, and written again. A lock in the way is
  // kConflict/kAlreadyExists and sets lock_seen.
  Status commit(TreeChange& change);

  [[nodiscard]] bool uncertain(const TopicPartition& tp) const { return model.uncertain.contains(tp); }
  // The outcome of an episode, for every result that speaks of it, and the end of its znode, in `change`.
  void end_episode(TreeChange& change, const TopicPartition& tp, std::string_view outcome);
  void count_outcome(std::string_view outcome, double n = 1);
};

}  // namespace kro::execute
