#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/time.h"

namespace kro {

// Doubling pauses: first, 2·first, 4·first … up to most.
struct BackoffPolicy {
  milliseconds first = 5ms;
  milliseconds most = 30s;
};

// The pause after the n-th failure in a row, n from 1. Never overflows.
milliseconds backoff_pause(const BackoffPolicy& policy, int failures);

// `pause` stretched by up to `share` of itself, so that many do not come back at once; `random01` in [0, 1).
milliseconds jittered(milliseconds pause, double share, double random01);

// Counts failures in a row of one thing. One thread.
class Backoff {
 public:
  explicit Backoff(BackoffPolicy policy = {}) : policy_(policy) {}
  // One more failure: how long to pause.
  milliseconds failed() { return backoff_pause(policy_, ++failures_); }
  void reset() { failures_ = 0; }
  [[nodiscard]] int failures() const { return failures_; }

 private:
  BackoffPolicy policy_;
  int failures_ = 0;
};

// Counts failures in a row per key; keys without a failure cost nothing. One thread.
class KeyedBackoff {
 public:
  explicit KeyedBackoff(BackoffPolicy policy = {}) : policy_(policy) {}
  milliseconds failed(const std::string& key) { return backoff_pause(policy_, ++failures_[key]); }
  void forget(std::string_view key);
  [[nodiscard]] int failures(std::string_view key) const;

 private:
  BackoffPolicy policy_;
  std::map<std::string, int, std::less<>> failures_;
};

}  // namespace kro
