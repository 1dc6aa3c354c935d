#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "domain/topic_partition.h"
#include "ports/clock.h"

namespace kro {

struct KafkaBroker {
  std::string host;
  std::int32_t port = 0;
  std::string rack;  // empty: none
};

struct KafkaPartition {
  std::int16_t error = 0;  // Kafka's code; 5 = no leader, with the lists still valid
  BrokerId leader = -1;
  ReplicaList replicas;  // adding and removing replicas included while one runs
  ReplicaList isr;
};

struct KafkaTopic {
  std::int16_t error = 0;
  bool internal = false;
  std::string id;  // canonical uuid text; empty where Metadata is older than v10
  std::map<PartitionId, KafkaPartition> partitions;
};

struct KafkaMetadata {
  std::string cluster_id;
  BrokerId controller_id = -1;
  std::map<BrokerId, KafkaBroker> brokers;  // the live ones
  std::map<std::string, KafkaTopic, std::less<>> topics;

  [[nodiscard]] const KafkaPartition* find(const TopicPartition& tp) const {
    const auto topic = topics.find(tp.topic);
    if (topic == topics.end()) return nullptr;
    const auto partition = topic->second.partitions.find(tp.partition);
    return partition == topic->second.partitions.end() ? nullptr : &partition->second;
  }
};

// One row of ListPartitionReassignments (46).
struct OngoingReassignment {
  ReplicaList replicas;
  ReplicaList adding;
  ReplicaList removing;

  // What Kafka moves to: replicas without the removing ones.
  [[nodiscard]] ReplicaList target() const { return without(replicas, removing); }
  // Where null goes back to: replicas without the adding ones.
  [[nodiscard]] ReplicaList origin() const { return without(replicas, adding); }
};
using OngoingReassignments = std::map<TopicPartition, OngoingReassignment>;

// nullopt = null on the wire: cancel.
using AlterRequest = std::map<TopicPartition, std::optional<ReplicaList>>;

// Kafka's codes that callers tell apart (Errors.java); the adapter passes every other code through as a number.
namespace kafka_error {
constexpr std::int16_t kUnknownServerError = -1;
constexpr std::int16_t kNone = 0;
constexpr std::int16_t kUnknownTopicOrPartition = 3;
constexpr std::int16_t kLeaderNotAvailable = 5;
constexpr std::int16_t kClusterAuthorizationFailed = 31;
constexpr std::int16_t kInvalidReplicaAssignment = 39;
constexpr std::int16_t kNotController = 41;
constexpr std::int16_t kNoReassignmentInProgress = 85;
}  // namespace kafka_error

struct AlterAnswer {
  std::int16_t code = 0;
  std::string message;
};
using AlterAnswers = std::map<TopicPartition, AlterAnswer>;

// topic → config key → value
using TopicConfigs = std::map<std::string, std::map<std::string, std::string>, std::less<>>;
// bytes of each replica of one broker
using LogDirSizes = std::map<TopicPartition, std::int64_t>;

// Kafka's Admin API, always at the active controller (or, for log dirs, at the named broker). Blocking; one thread
// at a time. An implementation refreshes the controller's address by itself on 41 and lost connections, and
// negotiates versions by ApiVersions per connection.
//
// Errors: no broker answers → kUnavailable/Transient; no answer to a call that changes Kafka → kTimeout or
// kUnavailable with Ambiguous; 31 → kUnauthorized/Permanent; a broker without API 45/46 → kUnsupported/Permanent.
class KafkaAdmin {
 public:
  virtual ~KafkaAdmin() = default;

  // `topics` nullopt: all. Unknown topics come back with error 3 and no partitions.
  virtual Result<KafkaMetadata> metadata(const std::optional<std::vector<std::string>>& topics,
                                         const Deadline& deadline) = 0;
  // Everything that runs: API 46 with null.
  virtual Result<OngoingReassignments> list_reassignments(const Deadline& deadline) = 0;

  // API 45, at most 200 partitions; never an empty list (asserted). The request carries `timeout` as timeout_ms.
  // On Ambiguous the connection stays open and `late_answers` tells when the answer came after all.
  // Top-level 41 is not Ambiguous: nothing was done, kUnavailable/Transient after a refresh.
  virtual Result<AlterAnswers> alter_reassignments(const AlterRequest& request, milliseconds timeout,
                                                   const Deadline& deadline) = 0;
  // Non-blocking: answers to earlier Ambiguous alter calls that have arrived since the last call of this.
  virtual std::vector<AlterAnswers> late_answers() = 0;

  // DescribeConfigs of topics, the named keys only. A topic that does not exist is absent.
  virtual Result<TopicConfigs> topic_configs(const std::vector<std::string>& topics,
                                             const std::vector<std::string>& keys, const Deadline& deadline) = 0;
  // DescribeLogDirs at one broker for the named partitions; a partition that it does not hold is absent.
  virtual Result<LogDirSizes> log_dir_sizes(BrokerId broker, const std::vector<TopicPartition>& partitions,
                                            const Deadline& deadline) = 0;
  // "3.9", or a lower bound such as ">=2.4", from the ApiVersions of the controller; empty before the first call.
  [[nodiscard]] virtual std::string kafka_version() const = 0;
};

}  // namespace kro
