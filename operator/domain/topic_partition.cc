#include "domain/topic_partition.h"

#include <algorithm>

namespace kro {

bool valid_topic_name(std::string_view name) {
  if (name.empty() || name.size() > 249 || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

bool internal_topic(std::string_view name) {
  return name == "__consumer_offsets" || name == "__transaction_state" || name == "__share_group_state";
}

std::string TopicPartition::text() const { return topic + "-" + std::to_string(partition); }

std::optional<std::string> replica_list_problem(const ReplicaList& replicas) {
  if (replicas.empty()) return "the replica list is empty";
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i] < 0) return "broker id " + std::to_string(replicas[i]) + " is negative";
    for (std::size_t j = 0; j < i; ++j)
      if (replicas[i] == replicas[j])
        return "broker " + std::to_string(replicas[i]) + " stands twice in the replica list";
  }
  return std::nullopt;
}

std::string to_text(const ReplicaList& replicas) {
  std::string out;
  for (const BrokerId id : replicas) {
    if (!out.empty()) out += ',';
    out += std::to_string(id);
  }
  return out;
}

bool contains(const ReplicaList& replicas, BrokerId id) {
  return std::find(replicas.begin(), replicas.end(), id) != replicas.end();
}

ReplicaList without(const ReplicaList& a, const ReplicaList& b) {
  ReplicaList out;
  std::copy_if(a.begin(), a.end(), std::back_inserter(out), [&](BrokerId id) { return !contains(b, id); });
  return out;
}

bool subset(const ReplicaList& part, const ReplicaList& whole) {
  return std::all_of(part.begin(), part.end(), [&](BrokerId id) { return contains(whole, id); });
}

bool permutation(const ReplicaList& a, const ReplicaList& b) {
  return a.size() == b.size() && subset(a, b) && subset(b, a);
}

std::size_t count(const Assignments& assignments) {
  std::size_t n = 0;
  for (const auto& [topic, partitions] : assignments) n += partitions.size();
  return n;
}

std::size_t count(const PartitionSets& sets) {
  std::size_t n = 0;
  for (const auto& [topic, partitions] : sets) n += partitions.size();
  return n;
}

const ReplicaList* find(const Assignments& assignments, const TopicPartition& tp) {
  const auto topic = assignments.find(tp.topic);
  if (topic == assignments.end()) return nullptr;
  const auto partition = topic->second.find(tp.partition);
  return partition == topic->second.end() ? nullptr : &partition->second;
}

bool contains(const PartitionSets& sets, const TopicPartition& tp) {
  const auto topic = sets.find(tp.topic);
  return topic != sets.end() && std::binary_search(topic->second.begin(), topic->second.end(), tp.partition);
}

bool insert(PartitionSets& sets, const TopicPartition& tp) {
  auto& numbers = sets[tp.topic];
  const auto at = std::lower_bound(numbers.begin(), numbers.end(), tp.partition);
  if (at != numbers.end() && *at == tp.partition) return false;
  numbers.insert(at, tp.partition);
  return true;
}

bool erase(PartitionSets& sets, const TopicPartition& tp) {
  const auto topic = sets.find(tp.topic);
  if (topic == sets.end()) return false;
  const auto at = std::lower_bound(topic->second.begin(), topic->second.end(), tp.partition);
  if (at == topic->second.end() || *at != tp.partition) return false;
  topic->second.erase(at);
  if (topic->second.empty()) sets.erase(topic);
  return true;
}

bool erase(Assignments& assignments, const TopicPartition& tp) {
  const auto topic = assignments.find(tp.topic);
  if (topic == assignments.end() || topic->second.erase(tp.partition) == 0) return false;
  if (topic->second.empty()) assignments.erase(topic);
  return true;
}

std::vector<TopicPartition> flatten(const PartitionSets& sets) {
  std::vector<TopicPartition> out;
  out.reserve(count(sets));
  for (const auto& [topic, partitions] : sets)
    for (const PartitionId p : partitions) out.push_back({topic, p});
  return out;
}

std::vector<Assignments> cut(const Assignments& whole, std::size_t most) {
  std::vector<Assignments> pieces;
  std::size_t in_piece = most;
  for (const auto& [topic, partitions] : whole) {
    for (const auto& [partition, replicas] : partitions) {
      if (in_piece == most) {
        pieces.emplace_back();
        in_piece = 0;
      }
      pieces.back()[topic].emplace(partition, replicas);
      ++in_piece;
    }
  }
  return pieces;
}

}  // namespace kro
