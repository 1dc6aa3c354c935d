#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "ports/kafka_admin.h"
#include "tree/node_codecs.h"
#include "tree/reassignment_codec.h"
#include "tree/request_codec.h"
#include "tree/result_codec.h"

namespace kro::decide {

// How far a replica that is being added has come, as DescribeLogDirs and the ISR told.
struct ReplicaProgress {
  std::int64_t bytes = -1;  // -1: not known
  bool in_sync = false;
  MonoTime last_growth{};  // when it last grew, joined, or was first looked at
};

// One znode /admin/reassignments/<topic>/<partition>, and what this leader has learnt about it. Only `data` and
// `version` are in the tree; the rest starts empty after a failover and may be lost at any time.
struct Episode {
  tree::Reassignment data;
  std::int32_t version = 0;
  bool inherited = false;  // older than this leadership

  std::optional<MonoTime> answered;       // Kafka answered 0 to a call with the present target
  bool running = false;                   // API 46 listed the present target
  std::optional<AlterAnswer> last_error;  // answer to the last call, if it was a refusal
  WallTime error_since{};
  MonoTime next_call{};  // not before; for refusals that are tried again
  int refusals = 0;
  bool null_answered = false;       // roll back: Kafka answered 0 to null
  ReplicaList null_leaves;          // roll back: what Kafka listed, when null went out, without the adding replicas
  bool originals_answered = false;  // roll back: Kafka answered 0 to the explicit originals

  struct Sighting {
    ReplicaList list;
    MonoTime first;
  };
  std::optional<Sighting> outside;        // a list that is none of ours, and since when it has been seen
  std::optional<MonoTime> topic_missing;  // since when Metadata has not known the topic, or knows another id

  std::map<BrokerId, ReplicaProgress> adding;
  std::int64_t leader_bytes = -1;
  std::string problem_cause;  // what `since` belongs to
  WallTime problem_since{};
};

// A request that has a result which is not done.
struct AcceptedRequest {
  std::string name;  // znode name; gone from the inbox when `in_inbox` is false
  std::int32_t sequence = 0;
  bool in_inbox = false;
  tree::Request request;  // empty assignments when the request is gone from the inbox
  tree::RequestResult result;
  tree::Originals originals;
  Assignments waiting;       // not started, finished, refused or withdrawn
  bool undecodable = false;  // in the inbox, but only another release can read it
  bool result_gone = false;  // somebody deleted the result: it is done without (znodes.md 4.5)
};

// A lock's result, and the lists that its partitions go back to.
struct CancelRecord {
  tree::RequestResult result;
  tree::Originals originals;  // every affected partition
  bool result_gone = false;

  [[nodiscard]] bool undecided(const TopicPartition& tp) const { return result.outcome_of(tp).empty(); }
};

struct LockSeen {
  std::int64_t czxid = 0;
  std::int32_t version = 0;
  std::int64_t ctime = 0;
};

// A partition of a call to Kafka whose answer is not known: no other call and no outcome until then.
using Uncertain = std::map<TopicPartition, MonoTime>;

// A move that no znode here asked for and that a lock cancels.
struct ForeignRollback {
  bool null_answered = false;
  bool refused_by_rule = false;
  std::optional<AlterAnswer> last_error;
  MonoTime next_call{};
  std::optional<MonoTime> unlisted;  // since when neither list names it
};

// Everything the leading controller knows of its tree. It is the only writer of all of it but the inbox, the lock and
// the deletion of results, so after loading it stays true as long as every write is fenced and answered.
struct ControllerModel {
  std::map<TopicPartition, Episode> in_flight;
  std::map<std::string, AcceptedRequest, std::less<>> requests;  // by result name, not done
  std::map<std::string, CancelRecord, std::less<>> cancels;      // by result name: not done, or the present lock's
  std::map<TopicPartition, ForeignRollback> foreign_rollbacks;
  std::optional<LockSeen> lock;
  std::set<std::string, std::less<>> topic_dirs;  // known children of /admin/reassignments
  std::set<std::string, std::less<>> topics_being_deleted;
  Uncertain uncertain;
  std::optional<tree::Foreign> published_foreign;  // what the tree says; nullopt: node absent
  bool call_recorded = false;                      // controller_call is not empty in the tree

  // The newest accepted request in which the partition waits; nullptr: none.
  [[nodiscard]] const AcceptedRequest* newest_waiting(const TopicPartition& tp) const;
  // Episodes that count as in flight (znodes kept only because they cannot be deleted do not).
  [[nodiscard]] std::size_t in_flight_count() const;
};

// What still waits in a request: its assignments without what was refused, finished, joined, or has a znode that
// names it (znodes.md 4.2.4).
Assignments waiting_of(const AcceptedRequest& request, const std::string& result_name,
                       const std::map<TopicPartition, Episode>& in_flight);

}  // namespace kro::decide
