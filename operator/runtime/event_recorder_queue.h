#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "base/time.h"
#include "ports/kube_api.h"

namespace kro {

struct EventObject {
  std::string api_version;
  std::string kind;
  KubeName name;
  std::string uid;
};

// One thing to tell about an object, for people (`kubectl describe`).
struct EventNote {
  EventObject regarding;
  bool warning = false;
  std::string reason;  // CamelCase, ≤ 128
  std::string action;  // what was done or tried, ≤ 128
  std::string note;    // one sentence; cut at 1,024 bytes
};

struct EventReporter {
  std::string controller;  // "kafka-reassignment.io/operator"
  std::string instance;    // the pod, ≤ 128
};

// Which Events to write: the first of a kind is created, the same again raises the count of its series.
//
// The same means: same object (uid), reason and note. Repeats that come faster than kSeriesPeriod are counted and
// told together. Bounded in everything: over kMostPending the newest is dropped and counted; the least recently
// repeated series is forgotten. Pure, one thread at a time.
class EventRecorderQueue {
 public:
  explicit EventRecorderQueue(EventReporter reporter) : reporter_(std::move(reporter)) {}

  // A write for the API: create (json is the Event) or a merge patch of the series.
  struct Write {
    std::uint64_t series = 0;  // hand it back to done()
    bool create = true;
    KubeName name;
    std::string json;
  };

  void add(const EventNote& note, Now now);
  // The next write that is due; nullopt: none now. Until done() its series is left alone.
  std::optional<Write> take(Now now);
  void done(std::uint64_t series, const Status& outcome, Now now);
  // When take() will have something: nullopt: only after add() or done().
  [[nodiscard]] std::optional<MonoTime> next_due() const;
  // Notes that were never written, for whatever cause.
  [[nodiscard]] std::int64_t dropped() const { return dropped_; }

  static constexpr std::size_t kMostPending = 500;
  static constexpr std::size_t kMostSeries = 1000;
  static constexpr auto kSeriesPeriod = 10s;
  static constexpr auto kForgetAfter = 30min;

 private:
  using Key = std::tuple<std::string, std::string, std::string>;  // uid, reason, note
  struct Series {
    Key key;
    KubeName name;
    EventNote note;  // until it was created
    WallTime first{};
    WallTime last{};
    std::int64_t count = 0;  // seen
    std::int64_t told = 0;   // of them in the API
    bool created = false;
    bool in_flight = false;
    bool queued = false;
    int failures = 0;
    MonoTime due{};
    MonoTime touched{};
  };

  Series& series_of(const EventNote& note, Now now);
  void enqueue(std::uint64_t id, Series& series, MonoTime due);
  void forget_old(MonoTime now);
  [[nodiscard]] std::string create_json(const Series& series) const;

  EventReporter reporter_;
  std::map<std::uint64_t, Series> series_;
  std::map<Key, std::uint64_t> by_key_;
  std::deque<std::uint64_t> queue_;
  std::uint64_t next_id_ = 1;
  std::int64_t dropped_ = 0;
};

}  // namespace kro
