#pragma once

#include <string>

#include "ports/metrics.h"
#include "runtime/work_queue_core.h"

namespace kro {

// Tells a queue's figures under controller-runtime's names (workqueue_*). `metrics` must outlive it.
class WorkQueueMetrics final : public WorkQueueObserver {
 public:
  // `controller` is both labels, such as "kafkareassignment".
  WorkQueueMetrics(Metrics& metrics, std::string controller);

  void on_depth(std::size_t waiting) override;
  void on_add() override;
  void on_retry() override;
  void on_start(milliseconds waited) override;
  void on_done(milliseconds worked) override;
  // What is only known by looking: call before each scrape.
  void report(const WorkQueueCore::Load& load);

 private:
  [[nodiscard]] MetricLabels labels() const { return {{"name", controller_}, {"controller", controller_}}; }
  Metrics& metrics_;
  std::string controller_;
};

}  // namespace kro
