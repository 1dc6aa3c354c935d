#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "ports/clock.h"
#include "ports/kube_api.h"
#include "runtime/status_writer_queue.h"

namespace kro {

// Writes statuses from a small pool of threads, so that a slow API write (ms) never delays a request or a cancel.
//
// submit() never blocks; StatusWriterQueue has the rules. One try a write: what failed is told to done(), and the
// owner of the object decides with a fresh observation.
class StatusWriter {
 public:
  StatusWriter(KubeApi& api, const Clock& clock, int threads = 2, milliseconds call_limit = 10s);
  // Ends at once: what waits gets kCancelled, what is in flight is given up.
  ~StatusWriter();
  StatusWriter(const StatusWriter&) = delete;
  StatusWriter& operator=(const StatusWriter&) = delete;

  // From any thread. After stop() began: done(kCancelled) at once.
  void submit(const std::string& key, StatusWrite write);
  // Refuses new ones, writes what waits until the deadline, gives up the rest, ends the threads.
  void stop(const Deadline& deadline);
  [[nodiscard]] std::size_t waiting() const;

 private:
  void run(const std::stop_token& stop);

  KubeApi& api_;
  const Clock& clock_;
  milliseconds call_limit_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  StatusWriterQueue queue_;
  bool stopping_ = false;
  std::vector<std::jthread> threads_;  // last: they use everything above
};

}  // namespace kro
