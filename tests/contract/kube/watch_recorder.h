#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ports/kube_api.h"

namespace kro::contract {

struct SeenEvent {
  KubeWatchEvent::Type type;
  nlohmann::json object;  // null for bookmarks
  std::string resource_version;

  [[nodiscard]] std::string name() const {
    return object.is_object() ? object["metadata"]["name"].get<std::string>() : std::string();
  }
};

// A watch on a thread of its own, and everything that it has told.
class WatchRecorder {
 public:
  WatchRecorder(KubeApi& api, KubeResource resource, KubeWatchOptions options)
      : thread_([this, &api, resource = std::move(resource), options = std::move(options)](std::stop_token stop) {
          Status outcome = api.watch(
              resource, options, [this](const KubeWatchEvent& event) { return on(event); }, stop);
          const std::scoped_lock lock(mutex_);
          outcome_ = std::move(outcome);
          changed_.notify_all();
        }) {}

  // True as soon as `condition` holds on what was seen; false after 20 s.
  bool wait(const std::function<bool(const std::vector<SeenEvent>&)>& condition) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return condition(events_); });
  }
  bool wait_for(KubeWatchEvent::Type type, const std::string& name = "") {
    return wait([&](const auto& events) {
      for (const SeenEvent& event : events) {
        if (event.type == type && event.name() == name) return true;
      }
      return false;
    });
  }
  // The end of the watch; fails the wait after 20 s.
  std::optional<Status> outcome() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return outcome_.has_value(); });
    return outcome_;
  }
  void stop() { thread_.request_stop(); }
  std::vector<SeenEvent> events() {
    const std::scoped_lock lock(mutex_);
    return events_;
  }

 private:
  bool on(const KubeWatchEvent& event) {
    SeenEvent seen{event.type, nullptr, std::string(event.resource_version)};
    if (!event.object.empty()) seen.object = nlohmann::json::parse(event.object);
    const std::scoped_lock lock(mutex_);
    events_.push_back(std::move(seen));
    changed_.notify_all();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<SeenEvent> events_;
  std::optional<Status> outcome_;
  std::jthread thread_;
};

}  // namespace kro::contract
