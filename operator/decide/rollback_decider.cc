#include "decide/rollback_decider.h"

#include <algorithm>

#include "decide/follow_decider.h"

namespace kro::decide {

bool may_roll_back(const TopicPartition& tp, const ReplicaList& originals, std::size_t top, const KafkaView& view) {
  const auto* partition = view.metadata.find(tp);
  if (partition == nullptr) return false;
  const auto safe = static_cast<std::size_t>(std::count_if(
      originals.begin(), originals.end(), [&](BrokerId id) { return view.alive(id) && contains(partition->isr, id); }));
  return safe >= std::max<std::size_t>(1, std::min(view.min_insync(tp.topic), top));
}

namespace {

// Metadata lags, and what it shows of old is most likely just the originals: so their order counts only when Kafka's
// controller itself said so. Either it answered 0 to the explicit originals (at no cost where nothing is to be done),
// or it listed, when null went out, what null leaves.
bool order_proven(const Episode& episode) {
  return episode.originals_answered || (episode.null_answered && episode.null_leaves == episode.data.originals);
}

}  // namespace

RollbackVerdict roll_back(const TopicPartition& tp, const Episode& episode, const KafkaView& view, bool uncertain) {
  using What = RollbackVerdict::What;
  RollbackVerdict verdict;
  const tree::Reassignment& data = episode.data;
  if (topic_gone(tp, data, view)) {
    verdict.topic_missing = episode.topic_missing ? episode.topic_missing : view.begun.mono;
    if (!uncertain && view.begun.mono - *verdict.topic_missing >= kSettleTime) verdict.what = What::kTopicDeleted;
    return verdict;
  }
  const KafkaPartition* partition = view.metadata.find(tp);
  if (partition == nullptr || uncertain) return verdict;
  if (episode.answered && view.begun.mono <= *episode.answered) return verdict;  // older than the last answer

  if (const auto* row = view.running(tp)) {
    // Its own explicit originals on their way, or a forward move that null has yet to stop.
    const bool own = episode.originals_answered && row->target() == data.originals;
    // Decided when the originals were in sync; if they have died since, null would take the partition offline. It runs
    // on until they are back, or until it is completed.
    if (!own && may_roll_back(tp, data.originals, static_cast<std::size_t>(data.top), view))
      verdict.what = What::kSendNull;
    return verdict;
  }
  if (view.before.contains(tp)) return verdict;  // it ended during this poll: look again
  const ReplicaList& list = partition->replicas;
  if (!episode.null_answered && !episode.last_error) {
    verdict.what = What::kSendNull;  // never asked: Kafka may not have begun, so the list proves nothing yet
    return verdict;
  }
  // After 85 an earlier target was completed; after 0 the same list is only what null left of the originals.
  const bool earlier = std::find(data.earlier.begin(), data.earlier.end(), list) != data.earlier.end();
  if (earlier && !(episode.null_answered && permutation(list, data.originals))) {
    verdict.what = What::kCompletedFirst;
    return verdict;
  }
  if (list == data.originals && order_proven(episode)) {
    verdict.what = What::kRestored;
    return verdict;
  }
  if (permutation(list, data.originals) && !order_proven(episode)) {
    verdict.what = What::kSendOriginals;
    return verdict;
  }
  if (episode.null_answered && !episode.originals_answered && subset(list, data.originals) &&
      may_roll_back(tp, data.originals, static_cast<std::size_t>(data.top), view)) {
    verdict.what = What::kSendOriginals;  // null left fewer than the originals, and the rule still holds
    return verdict;
  }
  const auto& seen = episode.outside;
  if (!seen || seen->list != list) {
    verdict.outside = Episode::Sighting{list, view.begun.mono};
    return verdict;
  }
  verdict.outside = seen;
  if (view.begun.mono - seen->first < kSettleTime) return verdict;
  // Another order after Kafka's 0 is Metadata that lags, or somebody else's: asking again is right for both.
  verdict.what = permutation(list, data.originals) ? What::kSendOriginals : What::kChangedOutside;
  return verdict;
}

ForeignVerdict roll_back_foreign(const TopicPartition& tp, const ReplicaList& originals, const ForeignRollback& state,
                                 const KafkaView& view, bool uncertain) {
  using What = ForeignVerdict::What;
  ForeignVerdict verdict;
  if (uncertain) return verdict;
  if (view.listed(tp)) {
    if (!may_roll_back(tp, originals, originals.size(), view)) {
      verdict.what = What::kRefused;
      return verdict;
    }
    if (view.begun.mono >= state.next_call) verdict.what = What::kSendNull;
    return verdict;
  }
  const auto* partition = view.metadata.find(tp);
  if (partition == nullptr) {
    verdict.unlisted = state.unlisted ? state.unlisted : view.begun.mono;
    if (view.begun.mono - *verdict.unlisted >= kSettleTime) verdict.what = What::kCompletedFirst;
    return verdict;
  }
  // Metadata may lag: without Kafka's 0 to null only a list that stays so tells how the move ended.
  const bool back = permutation(partition->replicas, originals);
  verdict.unlisted = state.unlisted ? state.unlisted : view.begun.mono;
  const bool settled = view.begun.mono - *verdict.unlisted >= kSettleTime;
  if (back && (state.null_answered || settled)) verdict.what = What::kRestored;
  if (!back && settled) verdict.what = What::kCompletedFirst;
  return verdict;
}

}  // namespace kro::decide
