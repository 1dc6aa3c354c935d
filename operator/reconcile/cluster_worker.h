#pragma once

#include <memory>
#include <thread>

#include "reconcile/cluster_reconciler.h"
#include "runtime/lifecycle.h"

namespace kro::reconcile {

// The thread around one ClusterReconciler. Stops and joins when destroyed; the reconciler's session is closed then.
class ClusterWorker {
 public:
  ClusterWorker(std::unique_ptr<ClusterReconciler> reconciler, const Clock& clock,
                std::shared_ptr<Heartbeat> heartbeat);
  [[nodiscard]] ClusterInbox& inbox() { return reconciler_->inbox(); }
  void request_stop() { thread_.request_stop(); }

 private:
  void run(const std::stop_token& stop);

  std::unique_ptr<ClusterReconciler> reconciler_;
  const Clock& clock_;
  std::shared_ptr<Heartbeat> heartbeat_;
  std::jthread thread_;  // last: it uses everything above
};

}  // namespace kro::reconcile
