#include "decide/problem_decider.h"

#include "decide/rollback_decider.h"

namespace kro::decide {
namespace {

tree::Problem describe(const TopicPartition& tp, const Episode& episode, const KafkaPartition& partition,
                       const KafkaView& view) {
  tree::Problem p;
  p.tp = tp;
  p.current = view.settled_replicas(tp);
  p.target = episode.data.assignment;
  p.originals = episode.data.originals;
  p.isr = partition.isr;
  p.leader = partition.leader;
  if (!episode.data.rolling_back())
    p.if_cancelled = may_roll_back(tp, p.originals, static_cast<std::size_t>(episode.data.top), view)
                         ? "restored"
                         : "refused: NoOriginalInSync";
  return p;
}

}  // namespace

std::optional<tree::Problem> find_problem(const TopicPartition& tp, const Episode& episode, const KafkaView& view) {
  const KafkaPartition* partition = view.metadata.find(tp);
  if (partition == nullptr || episode.data.ended) return std::nullopt;
  tree::Problem p = describe(tp, episode, *partition, view);

  for (const BrokerId id : episode.data.assignment)
    if (!view.alive(id) && !contains(partition->isr, id)) p.brokers.push_back(id);
  if (!p.brokers.empty()) {
    p.cause = "TargetBrokerDown";
    return p;
  }
  if (partition->leader < 0) {
    p.cause = "NoLeader";
    p.brokers = partition->isr;
    return p;
  }
  if (episode.last_error && episode.last_error->code != kafka_error::kNone &&
      episode.last_error->code != kafka_error::kNoReassignmentInProgress && !episode.running) {
    p.cause = "KafkaError";
    p.code = episode.last_error->code;
    return p;
  }
  for (const auto& [id, progress] : episode.adding) {
    if (progress.in_sync || !view.alive(id) || contains(partition->isr, id)) continue;
    if (view.begun.mono - progress.last_growth >= kNoGrowth) p.brokers.push_back(id);
  }
  if (!p.brokers.empty()) {
    p.cause = "ReplicaNotInSync";
    return p;
  }
  return std::nullopt;
}

}  // namespace kro::decide
