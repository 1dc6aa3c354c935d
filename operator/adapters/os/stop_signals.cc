#include "adapters/os/stop_signals.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>

#include "base/assert.h"

namespace kro {

StopSignals::StopSignals() {
  ::sigemptyset(&set_);
  ::sigaddset(&set_, SIGTERM);
  ::sigaddset(&set_, SIGINT);
  KRO_ASSERT(::pthread_sigmask(SIG_BLOCK, &set_, nullptr) == 0);
  std::signal(SIGPIPE, SIG_IGN);
  signal_fd_ = ::signalfd(-1, &set_, SFD_CLOEXEC | SFD_NONBLOCK);
  wake_fd_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  KRO_ASSERT(signal_fd_ >= 0 && wake_fd_ >= 0);
}

StopSignals::~StopSignals() {
  ::close(signal_fd_);
  ::close(wake_fd_);
}

std::optional<int> StopSignals::wait(std::stop_token stop) {
  const std::stop_callback wake(stop, [this] {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(wake_fd_, &one, sizeof one);
  });
  while (true) {
    std::array<pollfd, 2> fds{{{signal_fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), -1);
    signalfd_siginfo info{};
    if (::read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      return static_cast<int>(info.ssi_signo);
    if (stop.stop_requested()) return std::nullopt;
  }
}

}  // namespace kro
