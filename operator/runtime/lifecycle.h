#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/clock.h"

namespace kro {

// What a worker says about itself: thread safe, and cheap enough to say at every step.
class Heartbeat {
 public:
  explicit Heartbeat(std::string name) : name_(std::move(name)) {}
  // Works, and got on: has until Lifecycle's limit to say something again.
  void beat(MonoTime now);
  // Waits for work, or has ended: may be silent for ever.
  void idle();

 private:
  friend class Lifecycle;
  const std::string name_;
  mutable std::mutex mutex_;
  std::optional<MonoTime> busy_since_;
};

// One condition of being ready, false at first.
class Readiness {
 public:
  explicit Readiness(std::string name) : name_(std::move(name)) {}
  void set(bool ready);

 private:
  friend class Lifecycle;
  const std::string name_;
  mutable std::mutex mutex_;
  bool ready_ = false;
};

// How the process ends, and what /livez and /readyz answer.
//
// Live: no worker has been busy without a beat for `stuck_after`; what ZooKeeper, Kafka or the API server do has no
// part in it, so a worker beats around its calls, whose deadlines are shorter. Ready: every condition is true.
// Thread safe.
class Lifecycle {
 public:
  explicit Lifecycle(const Clock& clock, milliseconds stuck_after = 30s) : clock_(clock), stuck_after_(stuck_after) {}

  std::shared_ptr<Heartbeat> worker(std::string name);
  std::shared_ptr<Readiness> readiness(std::string name);

  [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
  // Ends the process in good order; the first reason counts.
  void request_stop(const std::string& why);
  // The process cannot go on: as request_stop, with exit code 1.
  void fail(Error error);
  // 0 stopped as asked, 1 failed.
  [[nodiscard]] int exit_code() const;
  // Why it stops; empty while it does not.
  [[nodiscard]] std::string why() const;

  struct Health {
    bool good = true;
    std::string text;  // what is wrong, one line each
  };
  [[nodiscard]] Health livez() const;
  [[nodiscard]] Health readyz() const;

 private:
  const Clock& clock_;
  const milliseconds stuck_after_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<Heartbeat>> workers_;
  std::vector<std::shared_ptr<Readiness>> conditions_;
  std::string why_;
  bool failed_ = false;
};

}  // namespace kro
