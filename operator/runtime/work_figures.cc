#include "runtime/work_figures.h"

namespace kro {
namespace {

double seconds_between(MonoTime from, MonoTime to) { return std::chrono::duration<double>(to - from).count(); }

std::string_view label(WorkFigures::Outcome outcome) {
  switch (outcome) {
    case WorkFigures::Outcome::kSuccess: return "success";
    case WorkFigures::Outcome::kError:
    case WorkFigures::Outcome::kTerminalError: return "error";
    case WorkFigures::Outcome::kRequeue: return "requeue";
    case WorkFigures::Outcome::kRequeueAfter: return "requeue_after";
  }
  return "error";
}

}  // namespace

WorkFigures::WorkFigures(Metrics& metrics, const Clock& clock, std::string controller)
    : metrics_(metrics), clock_(clock), controller_(std::move(controller)) {}

void WorkFigures::set_workers(int n) {
  const std::scoped_lock lock(mutex_);
  workers_ = n;
}

void WorkFigures::added() { metrics_.add("workqueue_adds_total", queue()); }

void WorkFigures::retried() { metrics_.add("workqueue_retries_total", queue()); }

void WorkFigures::waiting(long change) {
  const std::scoped_lock lock(mutex_);
  waiting_ += change;
}

void WorkFigures::count(Outcome outcome, double took) {
  metrics_.observe("workqueue_work_duration_seconds", queue(), took);
  metrics_.observe("controller_runtime_reconcile_time_seconds", controller(), took);
  MetricLabels total = controller();
  total.emplace_back("result", label(outcome));
  metrics_.add("controller_runtime_reconcile_total", total);
  if (outcome != Outcome::kError && outcome != Outcome::kTerminalError) return;
  metrics_.add("controller_runtime_reconcile_errors_total", controller());
  if (outcome == Outcome::kTerminalError)
    metrics_.add("controller_runtime_terminal_reconcile_errors_total", controller());
}

void WorkFigures::report() {
  const MonoTime now = clock_.now().mono;
  double unfinished = 0, longest = 0, active = 0, depth = 0, workers = 0;
  {
    const std::scoped_lock lock(mutex_);
    for (const MonoTime since : busy_) unfinished += seconds_between(since, now);
    if (!busy_.empty()) longest = seconds_between(*busy_.begin(), now);
    active = static_cast<double>(busy_.size());
    depth = static_cast<double>(waiting_);
    workers = workers_;
  }
  metrics_.set("workqueue_depth", queue(), depth);
  metrics_.set("workqueue_unfinished_work_seconds", queue(), unfinished);
  metrics_.set("workqueue_longest_running_processor_seconds", queue(), longest);
  metrics_.set("controller_runtime_active_workers", controller(), active);
  metrics_.set("controller_runtime_max_concurrent_reconciles", controller(), workers);
}

WorkFigures::Busy::Busy(WorkFigures& figures) : figures_(figures), since_(figures.clock_.now().mono) {
  const std::scoped_lock lock(figures_.mutex_);
  figures_.busy_.insert(since_);
}

WorkFigures::Busy::~Busy() {
  const std::scoped_lock lock(figures_.mutex_);
  figures_.busy_.erase(figures_.busy_.find(since_));
}

WorkFigures::Reconcile::Reconcile(WorkFigures& figures, milliseconds waited) : Busy(figures) {
  figures_.metrics_.observe("workqueue_queue_duration_seconds", figures_.queue(),
                            std::chrono::duration<double>(waited).count());
}

WorkFigures::Reconcile::~Reconcile() { figures_.count(outcome_, seconds_between(since_, figures_.clock_.now().mono)); }

}  // namespace kro
