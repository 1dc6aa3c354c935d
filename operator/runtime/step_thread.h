#pragma once

#include <functional>
#include <stop_token>
#include <thread>

#include "base/time.h"

namespace kro {

// Runs `step` again and again on a thread of its own; each call says how long to pause before the next.
//
// All logic stays in the step, which tests call by themselves. A stop ends a pause at once; the step must heed the
// token itself. The destructor stops and joins.
class StepThread {
 public:
  using Step = std::function<milliseconds(std::stop_token)>;

  StepThread(const char* name, Step step);
  ~StepThread() = default;
  StepThread(const StepThread&) = delete;
  StepThread& operator=(const StepThread&) = delete;

  void request_stop() { thread_.request_stop(); }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::jthread thread_;
};

}  // namespace kro
