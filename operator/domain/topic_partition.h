#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kro {

using PartitionId = std::int32_t;
using BrokerId = std::int32_t;

// Kafka's rule for topic names: [a-zA-Z0-9._-]{1,249}, and neither "." nor "..". Checked wherever a name
// enters, so that a path can never be built from anything else (znodes.md 3.1).
bool valid_topic_name(std::string_view name);
// Topics whose names Kafka itself uses: they are moved only when somebody says so by name.
bool internal_topic(std::string_view name);

struct TopicPartition {
  std::string topic;
  PartitionId partition = 0;

  auto operator<=>(const TopicPartition&) const = default;
  // "orders-0", as Kafka's tools print it.
  [[nodiscard]] std::string text() const;
};

// Broker ids in order: the first is the preferred leader.
using ReplicaList = std::vector<BrokerId>;

// Why a replica list cannot be a target; nullopt: it can. Not empty, no duplicate, no negative id: on stock
// Kafka an empty list destroys data or makes elections loop.
std::optional<std::string> replica_list_problem(const ReplicaList& replicas);
// "7,3,5"
std::string to_text(const ReplicaList& replicas);
bool contains(const ReplicaList& replicas, BrokerId id);
// `a` without the elements of `b`, order of `a` kept.
ReplicaList without(const ReplicaList& a, const ReplicaList& b);
bool subset(const ReplicaList& part, const ReplicaList& whole);
bool permutation(const ReplicaList& a, const ReplicaList& b);

// topic → partition → replicas: the KIP's shape. Topics bytewise, partitions numeric: the order of all our walks.
using Assignments = std::map<std::string, std::map<PartitionId, ReplicaList>, std::less<>>;
// topic → sorted partition numbers: how results name partitions.
using PartitionSets = std::map<std::string, std::vector<PartitionId>, std::less<>>;

std::size_t count(const Assignments& assignments);
std::size_t count(const PartitionSets& sets);
const ReplicaList* find(const Assignments& assignments, const TopicPartition& tp);
bool contains(const PartitionSets& sets, const TopicPartition& tp);
// Keeps the numbers sorted; false: was there already.
bool insert(PartitionSets& sets, const TopicPartition& tp);
bool erase(PartitionSets& sets, const TopicPartition& tp);
bool erase(Assignments& assignments, const TopicPartition& tp);
std::vector<TopicPartition> flatten(const PartitionSets& sets);

// Cuts by sorted (topic, partition) into pieces of at most `most` partitions (znodes.md 3.2).
std::vector<Assignments> cut(const Assignments& whole, std::size_t most);

}  // namespace kro

template <>
struct std::hash<kro::TopicPartition> {
  std::size_t operator()(const kro::TopicPartition& tp) const noexcept {
    return std::hash<std::string>{}(tp.topic) * 31U +
           static_cast<std::size_t>(static_cast<std::uint32_t>(tp.partition));
  }
};
