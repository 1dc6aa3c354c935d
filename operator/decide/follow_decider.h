#pragma once

#include <optional>

#include "decide/controller_model.h"
#include "decide/kafka_view.h"

namespace kro::decide {

// Two polls at least so far apart must agree before a list that is none of ours, or a topic that is missing, ends an
// episode (znodes.md 4.5).
inline constexpr milliseconds kSettleTime = 5s;

// What one poll says of an episode that is not under roll back.
struct FollowVerdict {
  enum class What {
    kWait,    // nothing to do: it runs, waits for the ISR, or is uncertain
    kSubmit,  // Kafka has not been told, or not accepted, the present target
    kCompleted,
    kChangedOutside,
    kTopicDeleted,
  };
  What what = What::kWait;
  bool running = false;                      // API 46 lists the present target
  std::optional<Episode::Sighting> outside;  // to remember until the next poll
  std::optional<MonoTime> topic_missing;     // to remember until the next poll
};

// Pure: `episode` is not changed; the caller stores what is to be remembered.
FollowVerdict follow(const TopicPartition& tp, const Episode& episode, const KafkaView& view, bool uncertain);

// The same topic is gone, or another of that name stands in its place. For roll backs too.
bool topic_gone(const TopicPartition& tp, const tree::Reassignment& data, const KafkaView& view);

}  // namespace kro::decide
