#pragma once

#include <optional>

#include "decide/controller_model.h"
#include "decide/kafka_view.h"

namespace kro::decide {

// The rule for every roll back: at least max(1, min(min.insync.replicas, top)) of the originals are alive and in the
// ISR. Otherwise the move is left running: Kafka itself would answer 0 and lose the partition (znodes.md 4.7).
bool may_roll_back(const TopicPartition& tp, const ReplicaList& originals, std::size_t top, const KafkaView& view);

// What one poll says of an episode under roll back.
struct RollbackVerdict {
  enum class What {
    kWait,
    kSendNull,       // first of all, so that it cannot become a forward move
    kSendOriginals,  // null left a permutation: only the order is to be mended
    kRestored,
    kCompletedFirst,  // Kafka had finished a target of this episode before null reached it
    kChangedOutside,
    kTopicDeleted,
  };
  What what = What::kWait;
  std::optional<Episode::Sighting> outside;
  std::optional<MonoTime> topic_missing;
};

RollbackVerdict roll_back(const TopicPartition& tp, const Episode& episode, const KafkaView& view, bool uncertain);

// A move of somebody outside this tree, under a lock: null, under the same rule; its order is not proven.
struct ForeignVerdict {
  enum class What { kWait, kSendNull, kRestored, kCompletedFirst, kRefused };
  What what = What::kWait;
  std::optional<MonoTime> unlisted;
};

ForeignVerdict roll_back_foreign(const TopicPartition& tp, const ReplicaList& originals, const ForeignRollback& state,
                                 const KafkaView& view, bool uncertain);

}  // namespace kro::decide
