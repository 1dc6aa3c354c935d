#pragma once

#include <csignal>
#include <optional>
#include <stop_token>

namespace kro {

// SIGTERM and SIGINT as something to wait for, instead of handlers that run anywhere.
//
// Make one first in main, before any thread starts: the constructor blocks both signals for this thread and for all
// that it starts, and ignores SIGPIPE (a lost connection is an error of a write, not the end of the process).
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Blocks until one of the signals came (returns it) or `stop` is requested by somebody else (nullopt).
  std::optional<int> wait(std::stop_token stop);

 private:
  sigset_t set_{};
  int signal_fd_ = -1;
  int wake_fd_ = -1;
};

}  // namespace kro
