#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/topic_partition.h"

// Every znode of the request tree, relative to the cluster's chroot. Topic names reach a path only through
// TopicPartition values that valid_topic_name() let in.
namespace kro::tree {

inline constexpr std::string_view kAdmin = "/admin";
inline constexpr std::string_view kRequests = "/admin/reassignment_requests";
inline constexpr std::string_view kRequestPrefix = "request_";
inline constexpr std::string_view kReassignments = "/admin/reassignments";
inline constexpr std::string_view kLock = "/admin/reassign_cancel";
inline constexpr std::string_view kLegacy = "/admin/reassign_partitions";
inline constexpr std::string_view kResults = "/admin/reassignment_results";
inline constexpr std::string_view kOriginals = "originals";
inline constexpr std::string_view kController = "/admin/reassignment_controller";
inline constexpr std::string_view kControllerEpoch = "/admin/reassignment_controller_epoch";
inline constexpr std::string_view kControllerCall = "/admin/reassignment_controller_call";
inline constexpr std::string_view kForeign = "/admin/reassignment_foreign";
inline constexpr std::string_view kLedger = "/admin/reassignment_ledger";
inline constexpr std::string_view kDeleteTopics = "/admin/delete_topics";
inline constexpr std::string_view kClusterId = "/cluster/id";
inline constexpr std::string_view kKafkaController = "/controller";

std::string request(std::string_view name);
std::string topic(std::string_view topic);
std::string reassignment(const TopicPartition& tp);
std::string result(std::string_view result_name);
std::string originals(std::string_view result_name);
std::string ledger(std::string_view operator_id);
std::string ledger_uid(std::string_view operator_id, std::string_view uid);
std::string marker(std::string_view operator_id, std::string_view uid, std::string_view marker_name);

// Lower case, no 0x: how the tree writes czxids.
std::string hex(std::int64_t value);
std::optional<std::int64_t> parse_hex(std::string_view text);

// "request_0000000007-1f": the request's name and the czxid of its znode. Names repeat after a wrap, czxids never do.
std::string result_name(std::string_view request_name, std::int64_t czxid);
// "cancel_2a" for the lock with that czxid.
std::string cancel_result_name(std::int64_t lock_czxid);

struct ResultName {
  std::string request;  // empty for a cancel
  std::int64_t czxid = 0;
  bool cancel = false;
};
// nullopt: not a result name of a request or a lock.
std::optional<ResultName> parse_result_name(std::string_view name);

// "<generation>-<n>", n from 1.
std::string marker_name(std::int64_t generation, int n);
struct MarkerName {
  std::int64_t generation = 0;
  int n = 0;
  auto operator<=>(const MarkerName&) const = default;
};
std::optional<MarkerName> parse_marker_name(std::string_view name);

// The sequence number of a request name: a signed 32-bit counter printed as %010d. nullopt: not a request.
std::optional<std::int32_t> sequence_of(std::string_view request_name);
// Whether a comes before b, across the wrap from 2147483647 to -2147483648.
bool sequence_before(std::int32_t a, std::int32_t b);
// sequence_before as a total order, seen from any number of those to be sorted: names that somebody made up and that
// span more than half of the circle have no order of their own, and would send std::sort astray.
struct SequenceOrder {
  std::int32_t from = 0;
  [[nodiscard]] bool operator()(std::int32_t a, std::int32_t b) const;
};

}  // namespace kro::tree
