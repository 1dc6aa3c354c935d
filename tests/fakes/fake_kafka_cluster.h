#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fakes/fake_kafka.h"

namespace kro {

// Kafka's rules for one cluster, after the controller of 3.9 in ZooKeeper mode. No calls, no faults: FakeKafka adds
// them. Everything is done at once and in a fixed order, so the same inputs give the same cluster.
class FakeKafka::Cluster {
 public:
  struct Partition {
    ReplicaList replicas;
    ReplicaList adding;
    ReplicaList removing;
    ReplicaList isr;
    BrokerId leader = -1;
    std::int64_t bytes = 0;
    std::map<BrokerId, std::int64_t> thousandths;  // of a byte that a replica outside the ISR has
    bool own_speed = false;
    std::optional<std::int64_t> speed;  // in force when own_speed
  };
  struct Topic {
    std::string id;
    bool deleting = false;
    std::map<std::string, std::string> configs;
    std::map<PartitionId, Partition> partitions;
  };
  struct Broker {
    std::string rack;
    bool alive = true;
  };

  void set_alive(BrokerId id, bool alive);
  bool create_topic(const std::string& name, const std::vector<ReplicaList>& partitions);
  void delete_topic(const std::string& name);
  // true: something changed.
  bool advance(milliseconds span);
  AlterAnswer alter(const TopicPartition& tp, const std::optional<ReplicaList>& target);
  void poison(const TopicPartition& tp);

  [[nodiscard]] KafkaMetadata metadata(const std::optional<std::vector<std::string>>& topics) const;
  [[nodiscard]] OngoingReassignments running() const;
  [[nodiscard]] LogDirSizes sizes(BrokerId broker, const std::vector<TopicPartition>& partitions) const;
  [[nodiscard]] bool alive(BrokerId id) const;
  [[nodiscard]] bool any_alive() const;
  // Asserts that it exists.
  Partition& partition(const TopicPartition& tp);

  std::map<BrokerId, Broker> brokers;
  std::map<std::string, Topic, std::less<>> topics;
  std::optional<std::int64_t> speed;  // of all without one of their own

 private:
  [[nodiscard]] std::optional<BrokerId> electable(const Partition& p) const;
  void elect(Partition& p) const;
  void take_offline(Partition& p, BrokerId id) const;
  void reassign(Partition& p, const ReplicaList& target) const;
  bool finish_if_due(Partition& p) const;
  bool catch_up(Partition& p, milliseconds span) const;
  void finish_deletions();

  int ids_given_ = 0;
};

}  // namespace kro
