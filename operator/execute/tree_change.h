#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "decide/controller_model.h"
#include "ports/zk_session.h"

namespace kro::execute {

// One multi in the making: what is to change in the tree, and the same change of the model, kept together so that the
// model moves exactly when the tree did. Nothing of the model is touched before apply().
//
// The operations are made from the state that was recorded, in this order: lock assertion, znodes of partitions,
// results, originals, requests. Each carries the precondition under which it is right.
class TreeChange {
 public:
  explicit TreeChange(decide::ControllerModel& model) : model_(model) {}

  // Nothing may be written while a lock exists (znodes.md 3.3).
  void assert_no_lock() { lock_ = Lock::kMustNotExist; }
  // Nothing may be written once this lock has gone.
  void assert_lock(std::int32_t version) {
    lock_ = Lock::kMustExist;
    lock_version_ = version;
  }

  void put_episode(const TopicPartition& tp, tree::Reassignment data);
  void end_episode(const TopicPartition& tp);

  // The outcome of a partition in a request's result, and no longer waiting there. Unknown results are done without.
  void finish(const std::string& result_name, const TopicPartition& tp, std::string_view outcome);
  // The same in a cancel's result; `refused`: `outcome` is a reason.
  void finish_cancel(const std::string& cancel_name, const TopicPartition& tp, std::string_view outcome, bool refused);
  void started(const std::string& result_name, const TopicPartition& tp);
  void joined(const std::string& result_name, const TopicPartition& tp);
  // The list from which a waiting partition will start, in every accepted request that still waits for it.
  void set_originals_of_waiting(const TopicPartition& tp, const ReplicaList& now);
  void touch_progress(const std::string& result_name, WallTime now);
  // Direct access for what is told rather than decided (waiting, bytes, problems). nullptr: no such result.
  tree::RequestResult* result(const std::string& result_name);
  tree::RequestResult* cancel_result(const std::string& cancel_name);

  [[nodiscard]] bool empty() const;
  [[nodiscard]] std::vector<ZkOp> ops() const;
  [[nodiscard]] std::size_t partitions() const { return episodes_.size(); }

  // Takes the operation that failed out of the change where that is right (a request that is gone already, a result
  // that somebody deleted, a topic node that is not empty). false: the change as a whole is wrong.
  bool amend(const Error& error);
  // The partition whose znode could not be deleted because of a foreign child.
  [[nodiscard]] std::optional<TopicPartition> undeletable(const Error& error) const;

  // After the multi succeeded. Names of requests that are done now, and of results that changed.
  void apply();

 private:
  enum class Lock { kNoMatter, kMustNotExist, kMustExist };
  struct RequestChange {
    tree::RequestResult result;
    tree::Originals originals;
    Assignments waiting;
    bool originals_changed = false;
    bool delete_request = false;
    bool write_result = true;
  };
  struct CancelChange {
    tree::RequestResult result;
    bool write_result = true;
  };

  RequestChange* request(const std::string& result_name);
  CancelChange* cancel(const std::string& cancel_name);
  void settle(RequestChange& change, const decide::AcceptedRequest& before);
  // The operations with what each belongs to, for amend().
  struct Tagged {
    ZkOp op;
    enum class Kind { kLock, kTopicDir, kEpisode, kTopicDirDelete, kResult, kOriginals, kRequest } kind;
    std::string name;
    TopicPartition tp;
  };
  [[nodiscard]] std::vector<Tagged> tagged() const;

  decide::ControllerModel& model_;
  Lock lock_ = Lock::kNoMatter;
  std::int32_t lock_version_ = 0;
  std::map<TopicPartition, std::optional<tree::Reassignment>> episodes_;  // nullopt: deleted
  std::map<std::string, RequestChange> requests_;
  std::map<std::string, CancelChange> cancels_;
  std::set<std::string> keep_topic_dirs_;  // not to be deleted, although empty as far as we know
};

}  // namespace kro::execute
