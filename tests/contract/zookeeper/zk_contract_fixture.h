#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "ports/zk_session.h"

namespace kro::test {

constexpr seconds kPatience = 30s;

inline Deadline soon(std::stop_token stop = {}) {
  return {std::chrono::steady_clock::now() + kPatience, std::move(stop)};
}

// A sink that remembers, and lets a test wait for what it expects.
class EventLog {
 public:
  ZkEventSink sink() {
    return [this](const ZkEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
      changed_.notify_all();
    };
  }

  // How many watch events of this kind have come for `path`.
  std::size_t count(ZkEvent::Type type, const std::string& path) {
    const std::lock_guard lock(mutex_);
    return count_locked(type, path);
  }
  bool wait_for(ZkEvent::Type type, const std::string& path, std::size_t times = 1) {
    return wait([&] { return count_locked(type, path) >= times; });
  }
  bool wait_for_state(ZkState state, milliseconds patience = kPatience) {
    return wait(
        [&] {
          for (const ZkEvent& event : events_) {
            if (event.type == ZkEvent::Type::kState && event.state == state) return true;
          }
          return false;
        },
        patience);
  }
  std::size_t watch_events() {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
    for (const ZkEvent& event : events_) count += event.type == ZkEvent::Type::kState ? 0U : 1U;
    return count;
  }
  std::size_t size() {
    const std::lock_guard lock(mutex_);
    return events_.size();
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    events_.clear();
  }

 private:
  std::size_t count_locked(ZkEvent::Type type, const std::string& path) const {
    std::size_t count = 0;
    for (const ZkEvent& event : events_) count += event.type == type && event.path == path ? 1U : 0U;
    return count;
  }
  bool wait(const std::function<bool()>& done, milliseconds patience = kPatience) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, patience, done);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<ZkEvent> events_;
};

// KRO_ZOOKEEPER is host:port[/chroot].
inline std::optional<ZkConfig> real_config() {
  const char* text = std::getenv("KRO_ZOOKEEPER");
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::string where = text;
  const std::size_t slash = where.find('/');
  ZkConfig config;
  config.connect = where.substr(0, slash);
  if (slash != std::string::npos) config.chroot = where.substr(slash);
  if (config.chroot == "/") config.chroot.clear();
  return config;
}

inline std::string random_name(const std::string& prefix) {
  static std::mt19937_64 generator{std::random_device{}()};
  return prefix + std::to_string(generator() % 1'000'000'000'000ULL);
}

// Creates what is missing of `path`, from outside any chroot.
inline void make_path(ZkConnector& connector, ZkConfig config, const std::string& path) {
  config.chroot.clear();
  config.auth.reset();
  auto session = connector.open(config, [](const ZkEvent&) {});
  ASSERT_TRUE(session) << session.error().text();
  ASSERT_TRUE((*session)->wait_connected(soon()));
  for (std::size_t end = path.find('/', 1); !path.empty(); end = path.find('/', end + 1)) {
    const auto made = (*session)->multi({ZkCreate{path.substr(0, end), ""}}, soon());
    ASSERT_TRUE(made || made.error().code == ErrorCode::kAlreadyExists) << made.error().text();
    if (end == std::string::npos) break;
  }
}

// Deletes `path` and all below it.
inline void remove_all(ZkSession& session, const std::string& path) {
  const auto children = session.children(path, false, soon());
  ASSERT_TRUE(children) << children.error().text();
  if (!*children) return;
  for (const std::string& name : (*children)->names) remove_all(session, path + "/" + name);
  const auto removed = session.multi({ZkDelete{path}}, soon());
  EXPECT_TRUE(removed || removed.error().code == ErrorCode::kNotFound) << removed.error().text();
}

}  // namespace kro::test
