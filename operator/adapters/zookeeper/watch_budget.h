#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ports/zk_session.h"

namespace kro::zk {

// Bounds the paths under watch.
//
// After a reconnect the library sends all of them in one packet; over the server's 1 MiB the session can never come
// back. A path whose arming failed stays counted until its next event: too strict is safe here.
class WatchBudget {
 public:
  static constexpr std::size_t kMostBytes = 512 * 1024;

  enum Kind : unsigned { kNode = 1, kChildren = 2 };

  // kTooLarge/Permanent when the path does not fit any more.
  Status arm(const std::string& path, Kind kind);
  // An event used up what it stands for.
  void fired(std::string_view path, ZkEvent::Type type);
  [[nodiscard]] std::size_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, unsigned> armed_;
};

}  // namespace kro::zk
