#include "runtime/work_queue_metrics.h"

namespace kro {
namespace {

double in_seconds(milliseconds span) { return static_cast<double>(span.count()) / 1000.0; }

}  // namespace

WorkQueueMetrics::WorkQueueMetrics(Metrics& metrics, std::string controller)
    : metrics_(metrics), controller_(std::move(controller)) {}

void WorkQueueMetrics::on_depth(std::size_t waiting) {
  metrics_.set("workqueue_depth", labels(), static_cast<double>(waiting));
}
void WorkQueueMetrics::on_add() { metrics_.add("workqueue_adds_total", labels()); }
void WorkQueueMetrics::on_retry() { metrics_.add("workqueue_retries_total", labels()); }
void WorkQueueMetrics::on_start(milliseconds waited) {
  metrics_.observe("workqueue_queue_duration_seconds", labels(), in_seconds(waited));
}
void WorkQueueMetrics::on_done(milliseconds worked) {
  metrics_.observe("workqueue_work_duration_seconds", labels(), in_seconds(worked));
}
void WorkQueueMetrics::report(const WorkQueueCore::Load& load) {
  metrics_.set("workqueue_unfinished_work_seconds", labels(), load.unfinished_seconds);
  metrics_.set("workqueue_longest_running_processor_seconds", labels(), load.longest_seconds);
}

}  // namespace kro
