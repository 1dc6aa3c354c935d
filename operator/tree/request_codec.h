#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "domain/topic_partition.h"

namespace kro::tree {

// A `request_<seq>` znode (znodes.md 3). Exactly one of assignments, cancel, withdraw is not empty.
struct Request {
  Assignments assignments;
  std::map<std::string, std::map<PartitionId, std::string>> cancel;  // partition → czxid or result name
  std::map<std::string, PartitionSets> withdraw;                     // result name → partitions
  bool legacy = false;
  std::string client;  // "<operator id>/<uid>", empty for a plain KIP request
  std::vector<std::string> check;
  std::vector<std::string> allow;
  bool dry_run = false;
  bool all_or_nothing = false;
  std::int32_t max_in_flight = 0;             // 0: no limit of its own
  std::int32_t max_in_flight_per_broker = 0;  // 0: no limit of its own
  bool health_gate = false;
  std::int64_t throttle_bytes_per_second = 0;  // 0: none

  bool operator==(const Request&) const = default;
};

// Names that a request may use: the keys of `Request` and the check names. What the controller publishes as
// "features" and refuses everything else by (an old controller must never execute what a new client meant otherwise).
struct Features {
  std::vector<std::string> keys;
  std::vector<std::string> checks;

  [[nodiscard]] bool has(std::string_view name) const;
  // keys and checks in one list, as published.
  [[nodiscard]] std::vector<std::string> published() const;
};

struct RequestRefusal {
  std::string reason;  // MalformedRequest or UnsupportedFeature
  std::string error;   // what, where
};

// The whole document is decided: a request, or why it is none (znodes.md 4.2.1).
std::variant<Request, RequestRefusal> decode_request(std::string_view text, const Features& features);

// Compact JSON; keys at their default are left out.
std::string encode_request(const Request& request);

}  // namespace kro::tree
