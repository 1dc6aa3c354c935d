#pragma once

#include <string>
#include <vector>

#include "decide/controller_model.h"
#include "decide/kafka_view.h"

namespace kro::decide::test {

inline const MonoTime kStart = MonoTime(std::chrono::hours(1));

// A cluster as one poll saw it: brokers 1…6 alive, topics as the test says.
struct View : KafkaView {
  View() {
    for (BrokerId id = 1; id <= 6; ++id) metadata.brokers[id] = {"b", 9092, id % 2 == 0 ? "even" : "odd"};
    begun = {from_epoch_ms(1'800'000'000'000), kStart};
  }
  View& partition(const TopicPartition& tp, ReplicaList replicas, ReplicaList isr, BrokerId leader = 0) {
    KafkaTopic& topic = metadata.topics[tp.topic];
    if (topic.id.empty()) topic.id = "id-" + tp.topic;
    if (leader == 0) leader = isr.empty() ? -1 : isr.front();
    topic.partitions[tp.partition] = {0, leader, std::move(replicas), std::move(isr)};
    return *this;
  }
  View& partition(const TopicPartition& tp, const ReplicaList& replicas) { return partition(tp, replicas, replicas); }
  // Listed by both calls of API 46.
  View& moving(const TopicPartition& tp, const ReplicaList& replicas, const ReplicaList& adding,
               const ReplicaList& removing, const ReplicaList& isr) {
    before[tp] = after[tp] = {replicas, adding, removing};
    return partition(tp, replicas, isr);
  }
  View& dead(BrokerId id) {
    metadata.brokers.erase(id);
    return *this;
  }
  View& min_isr(const std::string& topic, const std::string& value) {
    configs[topic]["min.insync.replicas"] = value;
    return *this;
  }
  View& at(milliseconds after_start) {
    begun.mono = kStart + after_start;
    return *this;
  }
  View& gone(const std::string& topic) {
    metadata.topics[topic] = {};
    metadata.topics[topic].error = kafka_error::kUnknownTopicOrPartition;
    return *this;
  }
};

inline Episode episode(ReplicaList originals, ReplicaList target, const std::string& request = "request_0000000001-1") {
  Episode out;
  out.data.top = static_cast<std::int32_t>(originals.size());
  out.data.originals = std::move(originals);
  out.data.assignment = std::move(target);
  out.data.request = request;
  return out;
}

inline Episode rolling_back(ReplicaList originals, ReplicaList target) {
  Episode out = episode(originals, originals);
  out.data.earlier = {std::move(target)};
  out.data.cancel = "cancel_2a";
  return out;
}

// A request that was accepted with the present lists of `view`, all of it waiting.
inline AcceptedRequest& accept(ControllerModel& model, std::int32_t sequence, const Assignments& targets,
                               const KafkaView& view, const std::string& client = "") {
  AcceptedRequest& out = model.requests["request_" + std::to_string(sequence) + "-" + std::to_string(sequence)];
  out.name = "request_" + std::to_string(sequence);
  out.sequence = sequence;
  out.in_inbox = true;
  out.request.assignments = targets;
  out.request.client = out.result.client = client;
  out.result.partitions = static_cast<std::int32_t>(count(targets));
  out.waiting = targets;
  for (const auto& [topic, partitions] : targets)
    for (const auto& [partition, replicas] : partitions) {
      const auto running = model.in_flight.find({topic, partition});
      out.originals.originals[topic][partition] =
          running != model.in_flight.end() ? running->second.data.originals : view.settled_replicas({topic, partition});
      if (const auto known = view.metadata.topics.find(topic); known != view.metadata.topics.end())
        out.originals.topic_ids[topic] = known->second.id;
    }
  return out;
}

}  // namespace kro::decide::test
