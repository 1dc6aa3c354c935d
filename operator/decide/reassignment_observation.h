#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/types.h"
#include "base/time.h"
#include "tree/node_codecs.h"
#include "tree/paths.h"
#include "tree/request_codec.h"
#include "tree/result_codec.h"

// What the operator knows when it decides about one resource, and what it may decide. Plain values.
namespace kro::decide {

// kStarting: not read yet, or away for so short that nobody needs to hear of it.
enum class TreeHealth { kStarting, kConnected, kUnreachable };

struct LockView {
  std::string owner;  // operator id; empty: a person's
  std::int64_t czxid = 0;
  std::int32_t version = 0;
  WallTime created{};
};

// One cluster's tree, as far as it is the same for all resources.
struct TreeView {
  TreeHealth health = TreeHealth::kStarting;
  std::string trouble;      // why it cannot be reached, for people
  bool conflicted = false;  // the ledger root is somebody else's: an error for a person
  std::optional<LockView> lock;
  std::optional<tree::RequestResult> lock_result;  // of the lock that stands, or that stood last
  std::optional<tree::ControllerNode> controller;
  std::optional<WallTime> controller_absent_since;
  bool controller_never_seen = false;  // nobody led already when we first looked, at that time
  WallTime controller_since{};         // when its node was created
  tree::Foreign foreign;
  WallTime synced{};
};

// One marker of the ledger, and what became of its request.
struct SentRequest {
  tree::MarkerName marker;
  std::int32_t marker_version = 0;
  std::int64_t attempt = 0;
  std::int64_t czxid = 0;  // of marker and request; 0: not read back yet
  std::string name;        // request_<seq>; empty: not found yet
  bool lost = false;       // neither in the inbox nor among the results
  WallTime sent{};
  std::shared_ptr<const tree::Request> request;
  std::optional<tree::RequestResult> result;

  [[nodiscard]] bool done() const { return lost || (result && result->done); }
  [[nodiscard]] std::string result_name() const { return tree::result_name(name, czxid); }
};

// A dry run of a piece of a large plan. It has no marker: repeating it is harmless.
struct DryRun {
  std::string name;
  std::int64_t czxid = 0;
  std::optional<tree::RequestResult> result;
};

struct ReassignmentObservation {
  const api::KafkaReassignment& cr;
  const std::vector<SentRequest>& requests;  // by (generation, n)
  const std::vector<DryRun>& dry_runs;       // of this generation, in plan order
  const TreeView& tree;
  bool gone = false;         // deleted: only the ledger is left to clean up
  bool ledger_read = false;  // `requests` is complete
  bool ask_again = false;    // a partition it found busy is free, or 30 s have passed
};

// The operator's configuration, as far as it decides about one resource.
struct Policy {
  std::string operator_id;
  bool cluster_known = true;
  std::vector<std::string> allowed_namespaces;
  std::vector<std::string> allowed_topics;  // globs; internal topics only when named
};

struct SendRequest {
  bool dry_run = false;
  tree::MarkerName marker;  // not for a dry run
  std::int64_t attempt = 0;
  tree::Request request;
  std::vector<std::size_t> replaces;  // indices of refused requests whose marker and result go in the same multi
};
// Results of dry runs that were read.
struct DropDryRuns {};
// Markers with their results, by index; with `root` the resource's ledger node too.
struct CleanUp {
  std::vector<std::size_t> requests;
  bool root = false;
};
// At most one write that changes the outside world.
using TreeWrite = std::variant<std::monostate, SendRequest, DropDryRuns, CleanUp>;

struct Note {
  bool warning = false;
  std::string reason;
  std::string text;
  bool operator==(const Note&) const = default;
};

struct ReassignmentPlan {
  TreeWrite write;
  std::optional<api::ReassignmentStatus> status;  // what it should be; nullopt: nothing to say yet
  std::optional<WallTime> look_again;             // at the latest
  std::vector<TopicPartition> busy;               // what it waits for under conflictPolicy Wait
};

}  // namespace kro::decide
