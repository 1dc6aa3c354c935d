#include "reconcile/cluster_worker.h"

namespace kro::reconcile {

ClusterWorker::ClusterWorker(std::unique_ptr<ClusterReconciler> reconciler, const Clock& clock,
                             std::shared_ptr<Heartbeat> heartbeat)
    : reconciler_(std::move(reconciler)),
      clock_(clock),
      heartbeat_(std::move(heartbeat)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void ClusterWorker::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    heartbeat_->beat(clock_.now().mono);
    const MonoTime next = reconciler_->step(stop);
    heartbeat_->idle();
    reconciler_->inbox().wait(next, stop);
  }
  heartbeat_->idle();
}

}  // namespace kro::reconcile
