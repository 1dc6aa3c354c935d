#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/topic_partition.h"

// The small znodes of the tree (znodes.md 2), one struct each.
namespace kro::tree {

// /admin/reassign_cancel. A person's or the CLI's has no data, and version 0.
struct Lock {
  std::string owner;  // operator id; empty: nobody's
  bool operator==(const Lock&) const = default;
};
// Never fails: whatever is in it, it is a lock; only a well-formed owner is one.
Lock decode_lock(std::string_view text);
std::string encode_lock(const Lock& lock);

// /admin/reassignment_controller, ephemeral: the leader.
struct ControllerNode {
  std::string id;
  std::string host;
  std::int64_t epoch = 0;
  std::string tree;    // "shared" or "own"
  std::string driver;  // "admin-api"
  std::string cluster_id;
  std::string kafka_version;
  std::vector<std::string> features;
  bool operator==(const ControllerNode&) const = default;
};
Result<ControllerNode> decode_controller(std::string_view text);
std::string encode_controller(const ControllerNode& node);

// /admin/reassignment_controller_epoch: a decimal number. 0 for an empty node.
Result<std::int64_t> decode_epoch(std::string_view text);

// /admin/reassignment_controller_call: partitions of calls to Kafka whose answer is not known; empty data: none.
Result<PartitionSets> decode_call(std::string_view text);
std::string encode_call(const PartitionSets& partitions);

// /admin/reassignment_foreign: what Kafka moves that no znode here asked for, at most 1,000 rows of `total`.
struct ForeignMove {
  TopicPartition tp;
  ReplicaList target;
  ReplicaList adding;
  ReplicaList removing;
  bool operator==(const ForeignMove&) const = default;
};
struct Foreign {
  std::int32_t total = 0;
  std::vector<ForeignMove> moves;
  bool operator==(const Foreign&) const = default;
};
Result<Foreign> decode_foreign(std::string_view text);
std::string encode_foreign(const Foreign& foreign);

// /admin/reassignment_ledger/<operator id>: whose ledger this is, and its epoch.
struct LedgerRoot {
  std::int64_t epoch = 0;
  std::string owner;    // uid of the operator's namespace
  std::string cluster;  // configured name
  bool operator==(const LedgerRoot&) const = default;
};
Result<LedgerRoot> decode_ledger_root(std::string_view text);
std::string encode_ledger_root(const LedgerRoot& root);

// /admin/reassignment_ledger/<operator id>/<uid>/<generation>-<n>: the proof that a request was sent.
struct Marker {
  std::string ns;
  std::string name;
  std::string request;       // the request's JSON text, as sent
  std::int64_t attempt = 0;  // spec.attempt it was sent for: a raised one asks again for what did not end well
  bool operator==(const Marker&) const = default;
};
Result<Marker> decode_marker(std::string_view text);
std::string encode_marker(const Marker& marker);

}  // namespace kro::tree
