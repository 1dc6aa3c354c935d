#include "runtime/work_figures.h"

#include <gtest/gtest.h>

#include <optional>

#include "fakes/manual_clock.h"
#include "fakes/recording_metrics.h"

namespace kro {
namespace {

using Outcome = WorkFigures::Outcome;

class WorkFiguresTest : public testing::Test {
 protected:
  [[nodiscard]] double total(std::string result) const {
    return metrics_.value("controller_runtime_reconcile_total", {{"controller", "kra"}, {"result", std::move(result)}});
  }
  void look(Outcome outcome) {
    WorkFigures::Reconcile look(figures_, 0ms);
    look.ended(outcome);
  }
  ManualClock clock_;
  RecordingMetrics metrics_;
  WorkFigures figures_{metrics_, clock_, "kra"};
  const MetricLabels queue_{{"name", "kra"}, {"controller", "kra"}};
  const MetricLabels controller_{{"controller", "kra"}};
};

TEST_F(WorkFiguresTest, LookIsCountedByItsOutcomeWithWaitAndWork) {
  {
    WorkFigures::Reconcile look(figures_, 250ms);
    clock_.advance(40ms);
    look.ended(Outcome::kRequeueAfter);
  }
  EXPECT_EQ(metrics_.observed("workqueue_queue_duration_seconds", queue_), std::vector<double>{0.25});
  EXPECT_EQ(metrics_.observed("workqueue_work_duration_seconds", queue_), std::vector<double>{0.04});
  EXPECT_EQ(metrics_.observed("controller_runtime_reconcile_time_seconds", controller_), std::vector<double>{0.04});
  look(Outcome::kSuccess);
  look(Outcome::kRequeue);
  EXPECT_EQ(total("requeue_after"), 1);
  EXPECT_EQ(total("success"), 1);
  EXPECT_EQ(total("requeue"), 1);
  EXPECT_EQ(metrics_.value("controller_runtime_reconcile_errors_total", controller_), 0);
}

TEST_F(WorkFiguresTest, ErrorsAreCountedAndTerminalOnesTwice) {
  look(Outcome::kError);
  look(Outcome::kTerminalError);
  EXPECT_EQ(total("error"), 2);
  EXPECT_EQ(metrics_.value("controller_runtime_reconcile_errors_total", controller_), 2);
  EXPECT_EQ(metrics_.value("controller_runtime_terminal_reconcile_errors_total", controller_), 1);
}

TEST_F(WorkFiguresTest, WorkThatDoesNotEndShowsAtTheScrape) {
  std::optional<WorkFigures::Busy> hangs(std::in_place, figures_);
  clock_.advance(300s);
  std::optional<WorkFigures::Busy> later(std::in_place, figures_);
  clock_.advance(10s);
  figures_.report();
  EXPECT_EQ(metrics_.value("workqueue_longest_running_processor_seconds", queue_), 310);
  EXPECT_EQ(metrics_.value("workqueue_unfinished_work_seconds", queue_), 320);
  EXPECT_EQ(metrics_.value("controller_runtime_active_workers", controller_), 2);
  hangs.reset();
  figures_.report();
  EXPECT_EQ(metrics_.value("workqueue_longest_running_processor_seconds", queue_), 10);
  later.reset();
  figures_.report();
  EXPECT_EQ(metrics_.value("workqueue_unfinished_work_seconds", queue_), 0);
  EXPECT_EQ(metrics_.value("controller_runtime_active_workers", controller_), 0);
}

TEST_F(WorkFiguresTest, DepthIsTheSumOfAllQueues) {
  figures_.waiting(3);
  figures_.waiting(2);
  figures_.waiting(-1);
  figures_.set_workers(5);
  figures_.report();
  EXPECT_EQ(metrics_.value("workqueue_depth", queue_), 4);
  EXPECT_EQ(metrics_.value("controller_runtime_max_concurrent_reconciles", controller_), 5);
}

}  // namespace
}  // namespace kro
