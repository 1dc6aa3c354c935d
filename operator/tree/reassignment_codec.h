#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/topic_partition.h"

namespace kro::tree {

// /admin/reassignments/<topic>/<partition>: one episode of one partition, written by the controller alone
// (znodes.md 2). Its identity is the znode's czxid.
struct Reassignment {
  std::int32_t top = 0;    // number of originals at the start of the episode
  ReplicaList assignment;  // the target
  ReplicaList originals;   // "original_replicas", in order, from the start of the episode
  bool legacy = false;
  std::string request;               // result name of the request whose target this is
  std::string topic_id;              // empty where Kafka gives none
  ReplicaList step;                  // empty: none
  std::vector<ReplicaList> earlier;  // targets that this episode had before, newest first, at most 8
  std::string cancel;                // result name of the cancel that rolls it back; empty: none
  bool order_known = true;
  bool ended = false;  // in flight for nobody; only the znode could not be deleted

  bool operator==(const Reassignment&) const = default;
  [[nodiscard]] bool rolling_back() const { return !cancel.empty(); }
};

Result<Reassignment> decode_reassignment(std::string_view text);
std::string encode_reassignment(const Reassignment& reassignment);

}  // namespace kro::tree
