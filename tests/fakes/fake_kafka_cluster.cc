#include "fakes/fake_kafka_cluster.h"

#include <algorithm>
#include <cstdio>

#include "base/assert.h"

namespace kro {

namespace {

template <class P>
bool moving(const P& p) {
  return !p.adding.empty() || !p.removing.empty();
}

}  // namespace

bool FakeKafka::Cluster::alive(BrokerId id) const {
  const auto broker = brokers.find(id);
  return broker != brokers.end() && broker->second.alive;
}

bool FakeKafka::Cluster::any_alive() const {
  return std::any_of(brokers.begin(), brokers.end(), [](const auto& entry) { return entry.second.alive; });
}

FakeKafka::Cluster::Partition& FakeKafka::Cluster::partition(const TopicPartition& tp) {
  const auto topic = topics.find(tp.topic);
  KRO_ASSERT(topic != topics.end() && topic->second.partitions.contains(tp.partition));
  return topic->second.partitions.at(tp.partition);
}

std::optional<BrokerId> FakeKafka::Cluster::electable(const Partition& p) const {
  for (const BrokerId id : p.replicas)
    if (alive(id) && contains(p.isr, id)) return id;
  return std::nullopt;
}

// OfflinePartitionLeaderElectionStrategy without unclean elections.
void FakeKafka::Cluster::elect(Partition& p) const {
  const auto leader = electable(p);
  p.leader = leader.value_or(-1);
  if (leader) std::erase_if(p.isr, [this](BrokerId id) { return !alive(id); });
}

// OfflineReplica of the replica state machine: the last of an ISR stays in it, without leading.
void FakeKafka::Cluster::take_offline(Partition& p, BrokerId id) const {
  if (!contains(p.isr, id)) return;
  if (p.leader == id) p.leader = -1;
  if (p.isr.size() > 1) p.isr = without(p.isr, {id});
  p.thousandths[id] = p.bytes * 1000;
}

void FakeKafka::Cluster::set_alive(BrokerId id, bool is_alive) {
  const auto broker = brokers.find(id);
  KRO_ASSERT(broker != brokers.end());
  if (broker->second.alive == is_alive) return;
  broker->second.alive = is_alive;
  for (auto& [name, topic] : topics) {
    for (auto& [index, p] : topic.partitions) {
      if (topic.deleting) continue;
      if (is_alive) {
        if (p.leader == -1) elect(p);
      } else {
        if (p.leader == id) elect(p);
        take_offline(p, id);
      }
    }
  }
  finish_deletions();
}

bool FakeKafka::Cluster::create_topic(const std::string& name, const std::vector<ReplicaList>& partitions) {
  KRO_ASSERT(valid_topic_name(name) && !partitions.empty());
  if (topics.contains(name)) return false;
  Topic topic;
  char id[37];
  (void)std::snprintf(id, sizeof id, "00000000-0000-4000-8000-%012x", static_cast<unsigned>(++ids_given_));
  topic.id = id;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    KRO_ASSERT(!replica_list_problem(partitions[i]));
    Partition p;
    p.replicas = partitions[i];
    std::copy_if(p.replicas.begin(), p.replicas.end(), std::back_inserter(p.isr),
                 [this](BrokerId broker) { return alive(broker); });
    if (p.isr.empty()) p.isr = p.replicas;
    elect(p);
    topic.partitions[static_cast<PartitionId>(i)] = std::move(p);
  }
  topics[name] = std::move(topic);
  return true;
}

void FakeKafka::Cluster::delete_topic(const std::string& name) {
  const auto topic = topics.find(name);
  if (topic == topics.end()) return;
  topic->second.deleting = true;
  for (auto& [index, p] : topic->second.partitions) p.leader = -1;
  finish_deletions();
}

void FakeKafka::Cluster::finish_deletions() {
  std::erase_if(topics, [this](const auto& entry) {
    const Topic& topic = entry.second;
    return topic.deleting && std::all_of(topic.partitions.begin(), topic.partitions.end(), [this](const auto& item) {
             const ReplicaList& replicas = item.second.replicas;
             return std::all_of(replicas.begin(), replicas.end(), [this](BrokerId id) { return alive(id); });
           });
  });
}

bool FakeKafka::Cluster::catch_up(Partition& p, milliseconds span) const {
  const auto rate = p.own_speed ? p.speed : speed;
  if (p.leader == -1 || rate == 0) return false;
  bool changed = false;
  for (const BrokerId id : p.replicas) {
    if (contains(p.isr, id) || !alive(id)) continue;
    std::int64_t& has = p.thousandths[id];
    has = rate ? has + *rate * span.count() : p.bytes * 1000;
    if (has < p.bytes * 1000) continue;
    p.isr.push_back(id);
    p.thousandths.erase(id);
    changed = true;
  }
  return changed;
}

bool FakeKafka::Cluster::advance(milliseconds span) {
  bool changed = false;
  for (auto& [name, topic] : topics) {
    if (topic.deleting) continue;
    for (auto& [index, p] : topic.partitions) {
      changed = catch_up(p, span) || changed;
      changed = finish_if_due(p) || changed;
    }
  }
  return changed;
}

// KafkaController.onPartitionReassignment, phase B.
bool FakeKafka::Cluster::finish_if_due(Partition& p) const {
  const ReplicaList target = without(p.replicas, p.removing);
  if (!moving(p) || target.empty() || !subset(target, p.isr)) return false;
  const ReplicaList removed = p.removing;
  p.replicas = target;
  p.adding.clear();
  p.removing.clear();
  if (!contains(target, p.leader) || !alive(p.leader))
    if (const auto leader = electable(p)) p.leader = *leader;
  for (const BrokerId id : removed) {
    take_offline(p, id);
    p.thousandths.erase(id);
  }
  return true;
}

// ReplicaAssignment.reassignTo and updateCurrentReassignment.
void FakeKafka::Cluster::reassign(Partition& p, const ReplicaList& target) const {
  const ReplicaList before = p.replicas;
  const ReplicaList origin = without(p.replicas, p.adding);
  p.replicas = target;
  for (const BrokerId id : without(origin, target)) p.replicas.push_back(id);
  p.adding = without(p.replicas, origin);
  p.removing = without(p.replicas, target);
  for (const BrokerId id : without(before, p.replicas)) {
    take_offline(p, id);
    p.thousandths.erase(id);
  }
  if (moving(p)) {
    finish_if_due(p);
  } else if (!contains(p.replicas, p.leader) || !alive(p.leader)) {
    if (const auto leader = electable(p)) p.leader = *leader;
  }
}

AlterAnswer FakeKafka::Cluster::alter(const TopicPartition& tp, const std::optional<ReplicaList>& target) {
  const auto topic = topics.find(tp.topic);
  const bool exists = topic != topics.end() && topic->second.partitions.contains(tp.partition);
  Partition* p = exists ? &topic->second.partitions.at(tp.partition) : nullptr;
  const ReplicaList origin = p != nullptr ? without(p->replicas, p->adding) : ReplicaList{};
  if (target) {
    if (auto problem = replica_list_problem(*target)) return {kafka_error::kInvalidReplicaAssignment, *problem};
    for (const BrokerId id : without(*target, origin))
      if (!alive(id))
        return {kafka_error::kInvalidReplicaAssignment,
                "Replica assignment has brokers that are not alive. Replica list: " + to_text(*target)};
  } else if (p == nullptr || !moving(*p)) {
    return {kafka_error::kNoReassignmentInProgress, "No partition reassignment is in progress."};
  }
  if (p == nullptr || topic->second.deleting)
    return {kafka_error::kUnknownTopicOrPartition, "The partition does not exist."};
  reassign(*p, target.value_or(origin));
  return {};
}

void FakeKafka::Cluster::poison(const TopicPartition& tp) {
  Partition& p = partition(tp);
  p.adding.clear();
  p.removing = p.replicas;
}

KafkaMetadata FakeKafka::Cluster::metadata(const std::optional<std::vector<std::string>>& names) const {
  KafkaMetadata out;
  out.cluster_id = "fake-cluster";
  for (const auto& [id, broker] : brokers) {
    if (!broker.alive) continue;
    if (out.controller_id == -1) out.controller_id = id;
    out.brokers[id] = {"broker-" + std::to_string(id), 9092, broker.rack};
  }
  const auto add = [&](const std::string& name) {
    KafkaTopic& topic = out.topics[name];
    topic.internal = internal_topic(name);
    const auto found = topics.find(name);
    if (found == topics.end() || found->second.deleting) {
      topic.error = kafka_error::kUnknownTopicOrPartition;
      return;
    }
    topic.id = found->second.id;
    for (const auto& [index, p] : found->second.partitions)
      topic.partitions[index] = {p.leader == -1 ? kafka_error::kLeaderNotAvailable : kafka_error::kNone, p.leader,
                                 p.replicas, p.isr};
  };
  if (names) {
    for (const std::string& name : *names) add(name);
  } else {
    for (const auto& [name, topic] : topics)
      if (!topic.deleting) add(name);
  }
  return out;
}

OngoingReassignments FakeKafka::Cluster::running() const {
  OngoingReassignments out;
  for (const auto& [name, topic] : topics)
    for (const auto& [index, p] : topic.partitions)
      if (moving(p)) out[{name, index}] = {p.replicas, p.adding, p.removing};
  return out;
}

LogDirSizes FakeKafka::Cluster::sizes(BrokerId broker, const std::vector<TopicPartition>& partitions) const {
  LogDirSizes out;
  for (const TopicPartition& tp : partitions) {
    const auto topic = topics.find(tp.topic);
    if (topic == topics.end() || topic->second.deleting) continue;
    const auto found = topic->second.partitions.find(tp.partition);
    if (found == topic->second.partitions.end() || !contains(found->second.replicas, broker)) continue;
    const Partition& p = found->second;
    const auto part = p.thousandths.find(broker);
    const bool whole = contains(p.isr, broker);
    out[tp] = whole ? p.bytes : part == p.thousandths.end() ? 0 : std::min(p.bytes, part->second / 1000);
  }
  return out;
}

}  // namespace kro
