#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ports/kube_api.h"

namespace kro {

struct StatusWrite {
  KubeResource resource;
  KubeName name;
  std::string resource_version;
  std::string status_json;  // the whole status
  // Called exactly once, on a writer's thread (or the submitter's, when refused or replaced). kCancelled: replaced
  // by a newer one, or the writer stopped before it was sent.
  std::function<void(Result<KubeMeta>)> done;
};

// Order and exclusion of status writes: for each key at most one in flight and one waiting, the newest.
//
// A waiting write that was made from the same version as the one that just succeeded is moved on to the version
// which that one made: nobody else wrote in between, so its precondition still says the same. Anything else is left
// to fail with kVersion, and to be observed again. Pure; callbacks are handed out to be run without a lock.
class StatusWriterQueue {
 public:
  struct Work {
    std::string key;
    StatusWrite write;
  };

  // Returns the write that was waiting under this key, if any: its done() is the caller's to call.
  std::optional<StatusWrite> submit(const std::string& key, StatusWrite write);
  // The longest waiting key that is not in flight.
  std::optional<Work> take();
  // `based_on` is the version that the finished write was made from.
  void finish(const std::string& key, const std::string& based_on, const Result<KubeMeta>& outcome);
  // Everything that waits, taken out.
  std::vector<StatusWrite> clear();

  [[nodiscard]] bool has_work() const { return !ready_.empty(); }
  [[nodiscard]] bool idle() const { return keys_.empty(); }
  [[nodiscard]] std::size_t waiting() const;

 private:
  struct Key {
    std::optional<StatusWrite> next;
    bool in_flight = false;
  };
  std::map<std::string, Key> keys_;  // only those with something waiting or in flight
  std::deque<std::string> ready_;    // waiting and not in flight, oldest first
};

}  // namespace kro
