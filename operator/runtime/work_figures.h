#pragma once

#include <mutex>
#include <set>
#include <string>

#include "ports/clock.h"
#include "ports/metrics.h"

namespace kro {

// The figures of one controller under controller-runtime's names (workqueue_*, controller_runtime_*), all its queues
// and workers together. Counters and histograms are told at once; gauges, which several workers share, by report().
// Thread safe.
class WorkFigures {
 public:
  enum class Outcome {
    kSuccess,
    kError,          // comes back after a pause
    kTerminalError,  // the same, and the same input will fail again
    kRequeue,        // looked at again at once
    kRequeueAfter,   // looked at again by the clock, at the latest
  };

  // `controller` is the label, such as "kafkareassignment". `metrics` and `clock` must outlive this.
  WorkFigures(Metrics& metrics, const Clock& clock, std::string controller);
  WorkFigures(const WorkFigures&) = delete;
  WorkFigures& operator=(const WorkFigures&) = delete;

  void set_workers(int n);
  void added();
  void retried();
  // So many more keys wait, or fewer.
  void waiting(long change);
  // Before each scrape: what is only known by looking, such as how long a worker is at something that does not end.
  void report();

  // Says that a worker is at something, as long as it lives.
  class Busy {
   public:
    explicit Busy(WorkFigures& figures);
    ~Busy();
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   protected:
    WorkFigures& figures_;
    MonoTime since_;
  };

  // One look at one key, from construction to destruction.
  class Reconcile final : public Busy {
   public:
    Reconcile(WorkFigures& figures, milliseconds waited);
    ~Reconcile();
    void ended(Outcome outcome) { outcome_ = outcome; }

   private:
    Outcome outcome_ = Outcome::kRequeue;
  };

 private:
  [[nodiscard]] MetricLabels controller() const { return {{"controller", controller_}}; }
  [[nodiscard]] MetricLabels queue() const { return {{"name", controller_}, {"controller", controller_}}; }
  void count(Outcome outcome, double took);

  Metrics& metrics_;
  const Clock& clock_;
  const std::string controller_;
  std::mutex mutex_;
  int workers_ = 0;
  long waiting_ = 0;
  std::multiset<MonoTime> busy_;
};

}  // namespace kro
