#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/conditions.h"
#include "domain/topic_partition.h"

// The two custom resources as plain values (crds/*.yaml is the source of truth; a test compares them).
namespace kro::api {

inline constexpr std::string_view kGroup = "kafka-reassignment.io";
inline constexpr std::string_view kVersion = "v1alpha1";
inline constexpr std::string_view kReassignmentPlural = "kafkareassignments";
inline constexpr std::string_view kCancelPlural = "kafkareassignmentcancels";
inline constexpr std::string_view kFinalizer = "kafka-reassignment.io/operator";
// An object beyond this is refused: at etcd's edge it could be created, but its status no longer written.
inline constexpr std::size_t kMostObjectBytes = 1280 * 1024;

namespace phase {
inline constexpr std::string_view kPending = "Pending";
inline constexpr std::string_view kRunning = "Running";
inline constexpr std::string_view kCancelling = "Cancelling";
inline constexpr std::string_view kSucceeded = "Succeeded";
inline constexpr std::string_view kFailed = "Failed";
inline constexpr std::string_view kCancelled = "Cancelled";
inline constexpr std::string_view kPartiallyCancelled = "PartiallyCancelled";
inline constexpr std::string_view kAwaitingAcknowledgement = "AwaitingAcknowledgement";
// Whether it is one of the four in which nothing more is done.
bool final(std::string_view phase);
}  // namespace phase

struct ObjectMeta {
  std::string ns;
  std::string name;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  bool deleting = false;
  std::vector<std::string> finalizers;
  std::size_t object_bytes = 0;  // of its JSON text

  [[nodiscard]] bool has_finalizer() const;
};

struct ReassignmentSpec {
  std::string cluster;
  Assignments assignments;  // the normalised plan, whichever form it came in
  int forms = 0;            // how many of plan, assignments, rollbackOf are set
  bool log_dirs = false;    // an entry names a directory
  std::string rollback_of;
  std::string reason;
  bool suspend = false;
  bool dry_run = false;
  std::string approval = "Automatic";
  std::string approved_plan;
  std::int32_t attempt = 0;
  std::int32_t max_in_flight = 100;
  std::int32_t max_in_flight_per_broker = 0;
  bool health_gate = true;
  bool throttle = false;
  std::vector<std::string> allow;
  std::string conflict_policy = "Wait";
  std::string stall_after = "30m";
  std::string deadline;
  std::string deletion_policy = "Orphan";
  std::string problem;  // the first thing that is wrong, for people; empty: nothing
};

struct Progress {
  std::string display;
  std::int64_t total = 0, waiting = 0, in_flight = 0, completed = 0, restored = 0, failed = 0;
  std::optional<std::int64_t> bytes_moved, bytes_total;
  bool operator==(const Progress&) const = default;
};

struct RequestRef {
  std::string name;
  std::string czxid;
  std::int64_t partitions = 0;
  bool done = false;
  bool operator==(const RequestRef&) const = default;
};

struct ProblemPartition {
  std::string topic;
  std::int64_t partition = 0;
  std::string current, target, originals, isr, reason, if_cancelled;
  bool operator==(const ProblemPartition&) const = default;
};

struct TreeInfo {
  std::string kind, controller, driver;
  std::string last_sync;
  bool operator==(const TreeInfo&) const = default;
};

struct ReassignmentStatus {
  std::int64_t observed_generation = -1;
  std::string phase, summary, plan_hash;
  Progress progress;
  std::string start, last_progress, completion;  // RFC 3339
  std::vector<RequestRef> requests;              // the newest 20
  std::vector<ProblemPartition> problems;        // at most 50
  TreeInfo tree;
  std::vector<Condition> conditions;
};

struct KafkaReassignment {
  ObjectMeta meta;
  ReassignmentSpec spec;
  ReassignmentStatus status;

  // Nothing more will be done for this generation.
  [[nodiscard]] bool finished() const {
    return status.observed_generation == meta.generation && phase::final(status.phase);
  }
};

struct CancelSpec {
  std::string cluster;
  bool all = false;
  bool reassignments = false;  // these two scopes are only told apart, not yet carried out
  bool partitions = false;
  std::string reason;
  bool acknowledge_foreign = false;
  std::string problem;
};

struct CancelProgress {
  std::int64_t affected = 0, restored = 0, withdrawn = 0, completed_first = 0, refused = 0, foreign = 0;
  bool operator==(const CancelProgress&) const = default;
};

struct CancelPreview {
  std::int64_t restorable = -1, not_restorable = -1;  // -1: not counted, and not written
  std::int64_t foreign = 0;
  bool operator==(const CancelPreview&) const = default;
};

struct LockRef {
  std::string path, czxid, owner;
  bool operator==(const LockRef&) const = default;
};

struct CancelStatus {
  std::int64_t observed_generation = -1;
  std::string phase, scope, summary;
  std::string start, completion;
  std::optional<CancelPreview> preview;
  CancelProgress progress;
  std::optional<LockRef> lock;
  std::vector<ProblemPartition> problems;
  std::vector<Condition> conditions;
};

struct KafkaReassignmentCancel {
  ObjectMeta meta;
  CancelSpec spec;
  CancelStatus status;
};

// Whether writing `b` over `a` would tell anybody anything new: lastSyncTime alone does not.
bool same(const ReassignmentStatus& a, const ReassignmentStatus& b);
bool same(const CancelStatus& a, const CancelStatus& b);

}  // namespace kro::api
