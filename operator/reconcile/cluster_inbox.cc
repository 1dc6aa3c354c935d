#include "reconcile/cluster_inbox.h"

#include <utility>

namespace kro::reconcile {

void ClusterInbox::post(InboxItem item) {
  const std::scoped_lock lock(mutex_);
  items_.push_back(std::move(item));
  changed_.notify_all();
}

std::vector<InboxItem> ClusterInbox::take() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(items_, {});
}

void ClusterInbox::wait(MonoTime until, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, std::move(stop), until, [this] { return !items_.empty(); });
}

}  // namespace kro::reconcile
