#include "decide/follow_decider.h"

#include <algorithm>

namespace kro::decide {
namespace {

using What = FollowVerdict::What;

// Kafka's list while the present target is on its way: the target first, then what is going.
bool is_merged_list(const ReplicaList& list, const tree::Reassignment& data) {
  ReplicaList merged = data.assignment;
  for (const BrokerId id : data.originals)
    if (!contains(merged, id)) merged.push_back(id);
  return list == merged && list != data.originals;
}

// After a failover a target is sent again only from a list that this episode can have left behind.
bool list_of_this_episode(const ReplicaList& settled, const tree::Reassignment& data) {
  return settled == data.originals || (!data.step.empty() && settled == data.step) ||
         std::find(data.earlier.begin(), data.earlier.end(), settled) != data.earlier.end();
}

bool left_behind_before(const tree::Reassignment& data) {
  return data.assignment == data.originals ||
         std::find(data.earlier.begin(), data.earlier.end(), data.assignment) != data.earlier.end();
}

// changed_outside needs two polls, kSettleTime apart, with the same list.
FollowVerdict outside(FollowVerdict verdict, const ReplicaList& list, const Episode& episode, const KafkaView& view) {
  const auto& seen = episode.outside;
  if (!seen || seen->list != list) {
    verdict.outside = Episode::Sighting{list, view.begun.mono};
    return verdict;
  }
  verdict.outside = seen;
  if (view.begun.mono - seen->first >= kSettleTime) verdict.what = What::kChangedOutside;
  return verdict;
}

}  // namespace

bool topic_gone(const TopicPartition& tp, const tree::Reassignment& data, const KafkaView& view) {
  const auto topic = view.metadata.topics.find(tp.topic);
  if (topic == view.metadata.topics.end()) return false;  // not asked for
  if (!data.topic_id.empty() && !topic->second.id.empty() && topic->second.id != data.topic_id) return true;
  return view.metadata.find(tp) == nullptr && !view.listed(tp);
}

FollowVerdict follow(const TopicPartition& tp, const Episode& episode, const KafkaView& view, bool uncertain) {
  FollowVerdict verdict;
  if (topic_gone(tp, episode.data, view)) {
    verdict.topic_missing = episode.topic_missing ? episode.topic_missing : view.begun.mono;
    if (!uncertain && view.begun.mono - *verdict.topic_missing >= kSettleTime) verdict.what = What::kTopicDeleted;
    return verdict;
  }
  const KafkaPartition* partition = view.metadata.find(tp);
  if (partition == nullptr) return verdict;

  const auto* row = view.running(tp);
  verdict.running = row != nullptr && row->target() == episode.data.assignment;
  if (uncertain || verdict.running) return verdict;

  const bool answered = episode.answered && view.begun.mono > *episode.answered;
  if (episode.answered && !answered) return verdict;  // this poll is older than the answer
  const bool at_target = partition->replicas == episode.data.assignment;
  if (at_target && !view.listed(tp)) {
    // Metadata lags. Where this episode has left the target behind before, an old list looks like the target
    // reached: then only Kafka's yes to it is proof. A call with the list that a partition has already does nothing.
    if (!answered && left_behind_before(episode.data))
      verdict.what = What::kSubmit;
    else if (subset(episode.data.assignment, partition->isr))
      verdict.what = What::kCompleted;
    return verdict;  // else Kafka has done its part, and a replica has fallen behind
  }

  const ReplicaList settled = row != nullptr ? row->origin() : partition->replicas;
  if (!answered && (!episode.inherited || list_of_this_episode(settled, episode.data))) {
    verdict.what = What::kSubmit;
    return verdict;
  }
  if (row == nullptr && view.before.contains(tp)) return verdict;         // it ended during this poll: look again
  if (is_merged_list(partition->replicas, episode.data)) return verdict;  // Metadata lags
  return outside(std::move(verdict), partition->replicas, episode, view);
}

}  // namespace kro::decide
