#include "runtime/event_recorder.h"

#include <pthread.h>

#include <utility>

#include "base/log.h"

namespace kro {
namespace {
const KubeResource kEvents{"events.k8s.io", "v1", "events"};
constexpr milliseconds kCallLimit = 5s;
}  // namespace

EventRecorder::EventRecorder(KubeApi& api, const Clock& clock, EventReporter reporter)
    : api_(api),
      clock_(clock),
      queue_(std::move(reporter)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

EventRecorder::~EventRecorder() { give_up_.request_stop(); }

void EventRecorder::record(const EventNote& note) {
  {
    const std::scoped_lock lock(mutex_);
    queue_.add(note, clock_.now());
  }
  changed_.notify_all();
}

std::int64_t EventRecorder::dropped() const {
  const std::scoped_lock lock(mutex_);
  return queue_.dropped();
}

bool EventRecorder::write_one(const Deadline& deadline) {
  std::optional<EventRecorderQueue::Write> write;
  {
    const std::scoped_lock lock(mutex_);
    write = queue_.take(clock_.now());
  }
  if (!write) return false;
  const auto answer = write->create ? api_.create(kEvents, write->name.ns, write->json, deadline)
                                    : api_.merge_patch(kEvents, write->name, write->json, deadline);
  Status outcome;
  if (!answer) {
    outcome = tl::unexpected(answer.error());
    log::debug("an Event was not written", {{"event", write->name.text()}, {"error", answer.error().text()}});
  }
  const std::scoped_lock lock(mutex_);
  queue_.done(write->series, outcome, clock_.now());
  return true;
}

void EventRecorder::run(const std::stop_token& stop) {
  pthread_setname_np(pthread_self(), "events");
  while (!stop.stop_requested()) {
    if (write_one(clock_.in(kCallLimit, give_up_.get_token()))) continue;
    std::unique_lock lock(mutex_);
    const auto due = queue_.next_due();
    // A note that came between write_one and here has made next_due() shorter already.
    if (due) {
      const auto pause = *due - clock_.now().mono;
      if (pause > pause.zero()) changed_.wait_for(lock, stop, pause, [&] { return queue_.next_due() < due; });
    } else {
      changed_.wait(lock, stop, [&] { return queue_.next_due().has_value(); });
    }
  }
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
}

void EventRecorder::stop(const Deadline& deadline) {
  thread_.request_stop();
  {
    std::unique_lock lock(mutex_);
    const auto left = deadline.at - clock_.now().mono;
    if (left > left.zero()) changed_.wait_for(lock, deadline.stop, left, [this] { return ended_; });
  }
  give_up_.request_stop();
  if (thread_.joinable()) thread_.join();
  while (!deadline.stop.stop_requested() && clock_.now().mono < deadline.at && write_one(deadline)) {
  }
}

}  // namespace kro
