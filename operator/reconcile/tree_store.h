#pragma once

#include <set>
#include <string>

#include "decide/reassignment_observation.h"
#include "ports/zk_session.h"

namespace kro::reconcile {

// The few znodes of a tree that matter to every resource: lock, its result, controller, foreign moves.
//
// Each is watched and re-read after its watch fired, and only then. Our own request multis fire the lock's watch (they
// create and delete it), so an event says nothing but "look again". One thread.
class TreeStore {
 public:
  // A new session: everything is to be read anew.
  void reset();
  // False: not a node of these.
  bool on_event(const ZkEvent& event);
  [[nodiscard]] bool dirty() const { return !dirty_.empty(); }
  // Everything was read at least once in this session.
  [[nodiscard]] bool complete() const { return complete_; }
  // Reads what is dirty, watches armed. Returns whether anything changed.
  Result<bool> refresh(ZkSession& zk, Now now, const Deadline& deadline);

  [[nodiscard]] const decide::TreeView& view() const { return view_; }
  [[nodiscard]] decide::TreeView& view() { return view_; }

 private:
  bool take(const std::string& path, const std::optional<ZkNode>& node, Now now);
  bool take_lock(const std::optional<ZkNode>& node);
  bool take_controller(const std::optional<ZkNode>& node, Now now);
  bool take_lock_result(const std::optional<ZkNode>& node);

  std::set<std::string> dirty_;
  std::string lock_result_path_;
  bool complete_ = false;
  decide::TreeView view_;
};

}  // namespace kro::reconcile
