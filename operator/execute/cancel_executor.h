#pragma once

#include "execute/call_executor.h"
#include "execute/controller_context.h"

namespace kro::execute {

// The lock /admin/reassign_cancel (znodes.md 4.7): while it exists nothing starts, and everything in flight is rolled
// back, durably: first the lock's result with all affected partitions, then the znodes, then Kafka.
//
//   lock appears ──► result cancel_<czxid> + originals ──► znodes get "cancel" ──► roll backs (follow_executor)
//                        │ lock goes before a znode was set: refused LockRemoved
//                        └ foreign moves: no znode; null under the same rule, from here
// A decided roll back (its znode says so) is finished whatever becomes of the lock.
class CancelExecutor {
 public:
  CancelExecutor(ControllerContext& context, CallExecutor& calls) : c_(context), calls_(calls) {}

  // Reads the lock, arming its watch.
  Status read_lock();
  // One poll's worth of work, with context.view read after the lock was.
  Status step();
  // Whether something of a lock is still undecided or on its way.
  [[nodiscard]] bool busy() const;

 private:
  Status open_record(const std::string& name);
  Status remove_unreadable(const std::string& name);
  Status add_late_foreign(const std::string& name);
  Status mark_episodes(const std::string& name);
  Status withdraw_rest();
  Status close_removed(const std::string& name);
  Status roll_back_foreign(const std::string& name);
  Status finish_empty(const std::string& name);
  void forget_finished();
  [[nodiscard]] std::vector<TopicPartition> undecided(const std::string& name) const;

  ControllerContext& c_;
  CallExecutor& calls_;
};

}  // namespace kro::execute
