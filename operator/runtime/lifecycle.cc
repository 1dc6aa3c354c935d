#include "runtime/lifecycle.h"

namespace kro {

void Heartbeat::beat(MonoTime now) {
  const std::scoped_lock lock(mutex_);
  busy_since_ = now;
}

void Heartbeat::idle() {
  const std::scoped_lock lock(mutex_);
  busy_since_.reset();
}

void Readiness::set(bool ready) {
  const std::scoped_lock lock(mutex_);
  ready_ = ready;
}

std::shared_ptr<Heartbeat> Lifecycle::worker(std::string name) {
  const std::scoped_lock lock(mutex_);
  return workers_.emplace_back(std::make_shared<Heartbeat>(std::move(name)));
}

std::shared_ptr<Readiness> Lifecycle::readiness(std::string name) {
  const std::scoped_lock lock(mutex_);
  return conditions_.emplace_back(std::make_shared<Readiness>(std::move(name)));
}

void Lifecycle::request_stop(const std::string& why) {
  {
    const std::scoped_lock lock(mutex_);
    if (why_.empty()) why_ = why;
  }
  stop_.request_stop();
}

void Lifecycle::fail(Error error) {
  {
    const std::scoped_lock lock(mutex_);
    if (why_.empty()) {
      why_ = error.text();
      failed_ = true;
    }
  }
  stop_.request_stop();
}

int Lifecycle::exit_code() const {
  const std::scoped_lock lock(mutex_);
  return failed_ ? 1 : 0;
}

std::string Lifecycle::why() const {
  const std::scoped_lock lock(mutex_);
  return why_;
}

Lifecycle::Health Lifecycle::livez() const {
  const MonoTime now = clock_.now().mono;
  const std::scoped_lock lock(mutex_);
  Health out;
  for (const auto& worker : workers_) {
    const std::scoped_lock worker_lock(worker->mutex_);
    if (!worker->busy_since_ || now - *worker->busy_since_ < stuck_after_) continue;
    out.good = false;
    const auto stuck = std::chrono::duration_cast<seconds>(now - *worker->busy_since_);
    out.text += worker->name_ + " has been stuck for " + std::to_string(stuck.count()) + " s\n";
  }
  return out;
}

Lifecycle::Health Lifecycle::readyz() const {
  const std::scoped_lock lock(mutex_);
  Health out;
  for (const auto& condition : conditions_) {
    const std::scoped_lock condition_lock(condition->mutex_);
    if (condition->ready_) continue;
    out.good = false;
    out.text += condition->name_ + " is not ready\n";
  }
  return out;
}

}  // namespace kro
