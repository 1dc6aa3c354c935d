#pragma once

#include <string>

#include "base/time.h"
#include "ports/kube_api.h"

namespace kro {

// When to watch, from which version, what a watch's events mean, and how long to pause after one ended.
//
//            opened                     list end
//   kEmpty ──────────▶ kListing ─────────────────────▶ kWatching ◀─┐ events, bookmarks: the version moves on;
//     ▲ ▲                 │ the watch ended                │ │      │ the watch ended: again from there
//     │ └─────────────────┘                                │ └──────┘
//     └────────────────────────────────────────────────────┘ gone (410), an event without version, or twice silent
//
// The streaming list (sendInitialEvents) is one watch from start to end, so "listed, not yet watching" does not
// exist. A listing that breaks starts anew: its half is never shown as a whole, because only kEnd lets the consumer
// drop what it did not see. "Twice silent": a version from the future (etcd restored from a backup) gives a watch
// that is accepted and says nothing; real servers send at least a bookmark before they end a watch.
//
// Pure: no clock, no randomness, no I/O. One thread.
class ReflectorFsm {
 public:
  enum class State { kEmpty, kListing, kWatching };
  // What the consumer is told about one event.
  enum class Tell { kNothing, kBegin, kUpsert, kRemove, kEnd };

  // `random01` in [0, 1): spreads the server's time-out over 120–240 s.
  [[nodiscard]] KubeWatchOptions next_watch(const std::string& ns, double random01, MonoTime now);
  Tell on_event(const KubeWatchEvent& event);
  // The pause before next_watch(): nothing after a watch that ended as it should; else what the server asked for
  // (by up to half more), or 0.8 s doubling to 30 s (by up to as much more, 30 s at most), from 0.8 s again after
  // 2 min without a failure.
  milliseconds on_end(const Status& outcome, double random01, MonoTime now);

  [[nodiscard]] State state() const { return state_; }
  // A whole list has been shown at least once.
  [[nodiscard]] bool synced() const { return synced_; }
  [[nodiscard]] const std::string& resource_version() const { return resource_version_; }

 private:
  void forget();
  milliseconds back_off(const Error& error, double random01, MonoTime now);

  State state_ = State::kEmpty;
  std::string resource_version_;  // kept in kWatching only
  bool synced_ = false;
  bool version_lost_ = false;  // an event could not be placed: this watch goes on, the next one lists
  bool opened_ = false;        // this watch was accepted
  bool heard_ = false;         // … and had an event or bookmark
  int silent_watches_ = 0;
  MonoTime started_{};
  milliseconds next_pause_{0};
  MonoTime last_failure_{};
};

}  // namespace kro
