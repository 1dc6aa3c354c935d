#pragma once

#include <memory>
#include <optional>

#include "execute/acceptance_executor.h"
#include "execute/call_executor.h"
#include "execute/cancel_executor.h"
#include "execute/controller_context.h"
#include "execute/controller_wake.h"
#include "execute/follow_executor.h"
#include "execute/report_executor.h"
#include "execute/start_executor.h"
#include "runtime/lifecycle.h"

namespace kro::execute {

// The reassignment controller of one tree: standby until it leads, then observe → decide → act (znodes.md 4).
//
//   no session ──connected──► standby ──campaign won──► leading ──fenced, session gone──► no session / standby
//
// A step of a leader: take what the session's events said → read the lock → read the inbox → poll Kafka → follow →
// accept → cancel or start → one call to Kafka → report. Every write is one fenced multi; when a write's answer is
// lost, or a precondition fails, the model is read again from the tree before anything else. Nothing is kept in the
// process that a restart could not do without: kill it at any point.
//
// step() runs on the caller's thread, with blocking calls that have deadlines; tests drive it with fakes and a manual
// clock. Not thread safe, but for wake().
class ControllerLoop {
 public:
  ControllerLoop(ZkConnector& connector, KafkaAdmin& kafka, const Clock& clock, Metrics& metrics,
                 ControllerOptions options);
  ~ControllerLoop();

  // One step. Returns when the next is due at the latest; events may ask for it earlier (wake()).
  MonoTime step(const std::stop_token& stop);
  // Steps until stopped, then releases leadership.
  void run(const std::stop_token& stop, Heartbeat& heartbeat);
  // Gives leadership up by ending the session.
  void release();

  ControllerWake& wake() { return *wake_; }
  [[nodiscard]] bool leading() const;
  // The last step failed: events do not ask for the next one earlier.
  [[nodiscard]] bool backing_off() const { return back_off_ > milliseconds(0); }
  // For tests and metrics; nullptr while not leading.
  [[nodiscard]] const decide::ControllerModel* model() const;

 private:
  struct Leader;  // everything that lives as long as one session
  Status ensure_session(const std::stop_token& stop);
  Status standby(const std::stop_token& stop);
  Status lead(const std::stop_token& stop);
  Status read_lock(Leader& l);
  Status ensure_roots(Leader& l, const std::stop_token& stop);
  // true: Kafka was polled in this step, so that context.view may be acted on.
  Result<bool> observe(Leader& l);
  void glance(Leader& l);
  Status act(Leader& l);
  void on_error(const Error& error);
  [[nodiscard]] MetricLabels cluster() const { return {{"kafka_cluster", options_.cluster_name}}; }
  Result<tree::ControllerNode> describe(const std::stop_token& stop);
  [[nodiscard]] bool poll_due(const Leader& l) const;
  [[nodiscard]] bool active(const Leader& l) const;

  ZkConnector& connector_;
  KafkaAdmin& kafka_;
  const Clock& clock_;
  Metrics& metrics_;
  ControllerOptions options_;
  std::shared_ptr<ControllerWake> wake_;
  std::unique_ptr<ZkSession> session_;
  std::unique_ptr<Leader> leader_;
  MonoTime next_try_{};
  milliseconds back_off_{0};
  std::string last_error_;
  Heartbeat* heartbeat_ = nullptr;
};

}  // namespace kro::execute
