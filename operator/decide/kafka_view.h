#pragma once

#include "ports/kafka_admin.h"

namespace kro::decide {

// What Kafka said in one poll: API 46, then Metadata, then API 46 again. Metadata lags, so it ends nothing alone;
// what neither list names while Metadata was read was not moving then (znodes.md 4.5).
struct KafkaView {
  OngoingReassignments before;
  KafkaMetadata metadata;
  OngoingReassignments after;
  TopicConfigs configs;     // min.insync.replicas of the topics that were asked for
  bool all_topics = false;  // metadata covers the whole cluster
  Now begun;                // before the first call

  [[nodiscard]] bool listed(const TopicPartition& tp) const { return before.contains(tp) || after.contains(tp); }

  // The row of the later list; nullptr: not there.
  [[nodiscard]] const OngoingReassignment* running(const TopicPartition& tp) const {
    const auto it = after.find(tp);
    return it == after.end() ? nullptr : &it->second;
  }

  [[nodiscard]] bool alive(BrokerId id) const { return metadata.brokers.contains(id); }

  // The list that Kafka goes back to when nothing is added: current replicas without the adding ones.
  [[nodiscard]] ReplicaList settled_replicas(const TopicPartition& tp) const {
    if (const auto* row = running(tp)) return row->origin();
    const auto* partition = metadata.find(tp);
    return partition == nullptr ? ReplicaList{} : partition->replicas;
  }

  // Kafka's default is 1.
  [[nodiscard]] std::size_t min_insync(std::string_view topic) const;
};

}  // namespace kro::decide
