#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "api/types.h"
#include "decide/reassignment_observation.h"
#include "ports/kube_api.h"
#include "ports/zk_session.h"

namespace kro::reconcile {

enum class Kind { kReassignment, kCancel };

// A finished KafkaReassignment, without its spec: most of what a watch shows at start.
struct FinishedRecord {
  std::string ns;
  std::string name;
  std::int64_t generation = 0;
  bool succeeded = false;
  std::string phase;  // of one that did not succeed
  WallTime completed{};
};

struct ReassignmentSeen {
  std::unique_ptr<api::KafkaReassignment> cr;
};
struct FinishedSeen {
  std::string uid;
  FinishedRecord record;
};
struct CancelSeen {
  std::unique_ptr<api::KafkaReassignmentCancel> cr;
};
struct Removed {
  Kind kind;
  std::string uid;
};
// Of one namespace, or of all (empty).
struct ListBegins {
  Kind kind;
  std::string ns;
};
struct ListEnds {
  Kind kind;
  std::string ns;
};
// The answer to a status write.
struct StatusWritten {
  Kind kind;
  std::string uid;
  Result<KubeMeta> answer;
};
struct ZkHappened {
  std::uint64_t session;  // which of our sessions, counted from 1: late events of an earlier one mean nothing
  ZkEvent event;
};
// false: write nothing more.
struct Leadership {
  bool leads;
};
struct PolicyChanged {
  decide::Policy policy;
};

using InboxItem = std::variant<ReassignmentSeen, FinishedSeen, CancelSeen, Removed, ListBegins, ListEnds, StatusWritten,
                               ZkHappened, Leadership, PolicyChanged>;

// What other threads tell a cluster's worker, in order. post() never blocks for long and may be called from library
// callbacks. Bounded by what exists: an object's later state waits behind its earlier one, and the worker takes
// everything at once.
class ClusterInbox {
 public:
  void post(InboxItem item);
  // Everything posted so far.
  std::vector<InboxItem> take();
  // Until something is posted, the time has come, or a stop is requested.
  void wait(MonoTime until, std::stop_token stop);

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<InboxItem> items_;
};

}  // namespace kro::reconcile
