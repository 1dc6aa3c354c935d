#include "runtime/status_writer.h"

#include <pthread.h>

#include <utility>

namespace kro {
namespace {

void give_up(StatusWrite& write, const char* why) {
  if (write.done) write.done(fail(ErrorCode::kCancelled, Retry::kTransient, why));
}

}  // namespace

StatusWriter::StatusWriter(KubeApi& api, const Clock& clock, int threads, milliseconds call_limit)
    : api_(api), clock_(clock), call_limit_(call_limit) {
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { run(stop); });
  }
}

StatusWriter::~StatusWriter() { stop(Deadline{clock_.now().mono, {}}); }

void StatusWriter::submit(const std::string& key, StatusWrite write) {
  std::optional<StatusWrite> replaced;
  bool refused = false;
  {
    const std::scoped_lock lock(mutex_);
    refused = stopping_;
    if (!refused) replaced = queue_.submit(key, std::move(write));
  }
  if (refused) {
    give_up(write, "stopping");
    return;
  }
  changed_.notify_one();
  if (replaced) give_up(*replaced, "replaced by a newer status");
}

std::size_t StatusWriter::waiting() const {
  const std::scoped_lock lock(mutex_);
  return queue_.waiting();
}

void StatusWriter::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "status");
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return queue_.has_work(); })) {
    if (stop.stop_requested()) break;
    auto work = queue_.take();
    lock.unlock();
    const StatusWrite& write = work->write;
    auto outcome = api_.put_status(write.resource, write.name, write.resource_version, write.status_json,
                                   clock_.in(call_limit_, stop));
    lock.lock();
    queue_.finish(work->key, write.resource_version, outcome);
    lock.unlock();
    changed_.notify_all();  // the same key may wait, and so may stop()
    if (write.done) write.done(std::move(outcome));
    lock.lock();
  }
}

void StatusWriter::stop(const Deadline& deadline) {
  std::vector<StatusWrite> left;
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    const auto pause = deadline.at - clock_.now().mono;
    if (pause > pause.zero()) changed_.wait_for(lock, deadline.stop, pause, [this] { return queue_.idle(); });
    left = queue_.clear();
  }
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();  // joins
  for (StatusWrite& write : left) give_up(write, "stopping");
}

}  // namespace kro
