#include "reconcile/tree_store.h"

#include <vector>

#include "base/log.h"

namespace kro::reconcile {

void TreeStore::reset() {
  dirty_ = {std::string(tree::kLock), std::string(tree::kController), std::string(tree::kForeign)};
  if (!lock_result_path_.empty()) dirty_.insert(lock_result_path_);
  complete_ = false;
}

bool TreeStore::on_event(const ZkEvent& event) {
  if (event.path != tree::kLock && event.path != tree::kController && event.path != tree::kForeign &&
      event.path != lock_result_path_)
    return false;
  dirty_.insert(event.path);
  return true;
}

bool TreeStore::take_lock(const std::optional<ZkNode>& node) {
  const bool had = view_.lock.has_value();
  if (!node) {
    view_.lock.reset();
    return had;
  }
  decide::LockView lock;
  lock.owner = tree::decode_lock(node->data).owner;
  lock.czxid = node->stat.czxid;
  lock.version = node->stat.version;
  lock.created = from_epoch_ms(node->stat.ctime_ms);
  const bool changed = !had || view_.lock->czxid != lock.czxid || view_.lock->version != lock.version;
  view_.lock = std::move(lock);
  const std::string path = tree::result(tree::cancel_result_name(view_.lock->czxid));
  if (path != lock_result_path_) {
    lock_result_path_ = path;
    view_.lock_result.reset();
    dirty_.insert(path);
  }
  return changed;
}

bool TreeStore::take_controller(const std::optional<ZkNode>& node, Now now) {
  if (!node) {
    const bool had = view_.controller.has_value();
    view_.controller.reset();
    if (had || !view_.controller_absent_since) {
      view_.controller_absent_since = now.wall;
      view_.controller_never_seen = !had;
    }
    return had;
  }
  auto decoded = tree::decode_controller(node->data);
  if (!decoded) {
    log::warn("the controller's znode cannot be read", {{"error", decoded.error().text()}});
    decoded = tree::ControllerNode{};
  }
  const bool changed = !view_.controller || *view_.controller != *decoded;
  view_.controller = std::move(*decoded);
  view_.controller_absent_since.reset();
  view_.controller_since = from_epoch_ms(node->stat.ctime_ms);
  return changed;
}

bool TreeStore::take_lock_result(const std::optional<ZkNode>& node) {
  if (!node) return false;  // kept: it says what became of the partitions of the last lock
  auto decoded = tree::decode_result(node->data);
  if (!decoded) {
    log::warn("the lock's result cannot be read", {{"error", decoded.error().text()}});
    return false;
  }
  const bool changed = !view_.lock_result || *view_.lock_result != *decoded;
  view_.lock_result = std::move(*decoded);
  return changed;
}

bool TreeStore::take(const std::string& path, const std::optional<ZkNode>& node, Now now) {
  if (path == tree::kLock) return take_lock(node);
  if (path == tree::kController) return take_controller(node, now);
  if (path == lock_result_path_) return take_lock_result(node);
  tree::Foreign foreign;
  if (node && !node->data.empty())
    if (auto decoded = tree::decode_foreign(node->data)) foreign = std::move(*decoded);
  const bool changed = !(foreign == view_.foreign);
  view_.foreign = std::move(foreign);
  return changed;
}

Result<bool> TreeStore::refresh(ZkSession& zk, Now now, const Deadline& deadline) {
  bool changed = false;
  while (!dirty_.empty()) {
    const std::vector<std::string> paths(dirty_.begin(), dirty_.end());
    dirty_.clear();
    const auto nodes = zk.get_many(paths, true, deadline);
    if (!nodes) {
      dirty_.insert(paths.begin(), paths.end());
      return tl::unexpected(nodes.error());
    }
    for (std::size_t i = 0; i < paths.size(); ++i) changed = take(paths[i], (*nodes)[i], now) || changed;
  }
  changed = changed || !complete_;
  complete_ = true;
  view_.synced = now.wall;
  return changed;
}

}  // namespace kro::reconcile
