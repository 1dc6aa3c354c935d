#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/topic_partition.h"

namespace kro::tree {

// Outcomes of a partition: the keys of "finished" (znodes.md 6). Closed list.
namespace outcome {
inline constexpr std::string_view kCompleted = "completed";
inline constexpr std::string_view kRestored = "restored";
inline constexpr std::string_view kSuperseded = "superseded";
inline constexpr std::string_view kWithdrawn = "withdrawn";
inline constexpr std::string_view kChangedOutside = "changed_outside";
inline constexpr std::string_view kTopicDeleted = "topic_deleted";
inline constexpr std::string_view kCompletedFirst = "completed_first";
}  // namespace outcome

// A partition in flight that cannot finish now, and why.
struct Problem {
  TopicPartition tp;
  ReplicaList current;
  ReplicaList target;
  ReplicaList originals;
  ReplicaList isr;
  BrokerId leader = -1;
  std::string cause;                 // TargetBrokerDown, NoLeader, ReplicaNotInSync, KafkaError
  std::optional<std::int16_t> code;  // Kafka's, with KafkaError
  std::vector<BrokerId> brokers;     // whom it waits for
  std::string since;                 // RFC 3339
  std::string if_cancelled;          // "restored", "refused: NoOriginalInSync"; empty: not known

  bool operator==(const Problem&) const = default;
};

struct Bytes {
  std::int64_t moved = 0;
  std::int64_t total = 0;
  bool operator==(const Bytes&) const = default;
};

struct IfCancelled {
  std::int32_t restorable = 0;
  std::int32_t refused = 0;
  bool operator==(const IfCancelled&) const = default;
};

// A znode below /admin/reassignment_results: what the controller says of one request, or of one lock (znodes.md 6).
struct RequestResult {
  std::string request;     // znode name; empty for a lock's result
  std::string czxid;       // hex, of the request or the lock
  std::int64_t ctime = 0;  // ms since the epoch, of the request or the lock
  std::string client;
  std::string received;  // RFC 3339
  std::int32_t partitions = 0;
  std::int32_t waiting = 0;
  std::map<std::string, PartitionSets> refused;   // reason → partitions
  std::map<std::string, PartitionSets> finished;  // outcome → partitions
  PartitionSets joined;
  PartitionSets foreign;  // a lock's result only: partitions that no znode of this tree asked for
  std::optional<Bytes> bytes;
  std::string last_progress;  // RFC 3339; empty: none yet
  std::string holding;        // why nothing new starts; empty: nothing holds
  std::optional<IfCancelled> if_cancelled;
  std::int32_t problems_total = 0;
  std::vector<Problem> problems;
  std::string error;  // MalformedRequest: what, where
  bool done = false;

  bool operator==(const RequestResult&) const = default;

  [[nodiscard]] std::size_t refused_count() const;
  [[nodiscard]] std::size_t finished_count() const;
  [[nodiscard]] std::size_t finished_count(std::string_view outcome) const;
  // The outcome of a partition: "completed", …, "refused"; empty: none yet.
  [[nodiscard]] std::string_view outcome_of(const TopicPartition& tp) const;
  // Started and without an outcome: what is in flight for this request, joined ones included.
  [[nodiscard]] std::int32_t in_flight() const;
};

Result<RequestResult> decode_result(std::string_view text);
std::string encode_result(const RequestResult& result);

// The child "originals" of a result: the lists that the accepted partitions had, and their topics' ids.
struct Originals {
  Assignments originals;
  std::map<std::string, std::string> topic_ids;  // absent where Kafka gives none
  bool operator==(const Originals&) const = default;
};

Result<Originals> decode_originals(std::string_view text);
std::string encode_originals(const Originals& originals);

}  // namespace kro::tree
