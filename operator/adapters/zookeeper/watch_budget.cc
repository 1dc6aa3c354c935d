#include "adapters/zookeeper/watch_budget.h"

namespace kro::zk {

Status WatchBudget::arm(const std::string& path, Kind kind) {
  const std::lock_guard lock(mutex_);
  const auto found = armed_.find(path);
  if (found != armed_.end() && (found->second & kind) != 0) return {};
  const std::size_t cost = path.size() + 4;
  if (bytes_ + cost > kMostBytes) {
    return fail(ErrorCode::kTooLarge, Retry::kPermanent,
                "no room to watch " + path + ": " + std::to_string(bytes_) + " bytes of paths are watched already");
  }
  bytes_ += cost;
  armed_[path] |= kind;
  return {};
}

void WatchBudget::fired(std::string_view path, ZkEvent::Type type) {
  const std::lock_guard lock(mutex_);
  const auto found = armed_.find(std::string(path));
  if (found == armed_.end()) return;
  unsigned used = kNode;
  if (type == ZkEvent::Type::kDeleted) used = kNode | kChildren;
  if (type == ZkEvent::Type::kChildren) used = kChildren;
  for (const unsigned kind : {unsigned{kNode}, unsigned{kChildren}}) {
    if ((found->second & used & kind) != 0) bytes_ -= path.size() + 4;
  }
  found->second &= ~used;
  if (found->second == 0) armed_.erase(found);
}

std::size_t WatchBudget::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace kro::zk
