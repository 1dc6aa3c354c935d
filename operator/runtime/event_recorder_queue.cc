#include "runtime/event_recorder_queue.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace kro {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestNote = 1024;
constexpr std::size_t kLongestWord = 128;
constexpr std::size_t kLongestNamePrefix = 200;  // of 253, the rest is ours
constexpr int kMostFailures = 5;
constexpr milliseconds kFirstPause = 1s;

// At most `limit` bytes, never half a UTF-8 character.
std::string cut(const std::string& text, std::size_t limit) {
  if (text.size() <= limit) return text;
  const std::string ellipsis = "…";
  std::size_t end = limit > ellipsis.size() ? limit - ellipsis.size() : 0;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + ellipsis;
}

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

KubeName event_name(const EventNote& note, WallTime wall, std::uint64_t id) {
  char suffix[40];
  std::snprintf(suffix, sizeof suffix, ".%llx.%llx", static_cast<unsigned long long>(epoch_ms(wall)),
                static_cast<unsigned long long>(id));
  const KubeName& object = note.regarding.name;
  return {object.ns.empty() ? "default" : object.ns, object.name.substr(0, kLongestNamePrefix) + suffix};
}

}  // namespace

void EventRecorderQueue::add(const EventNote& note, Now now) {
  forget_old(now.mono);
  EventNote bounded = note;
  bounded.note = cut(note.note, kLongestNote);
  const auto known = by_key_.find(Key{bounded.regarding.uid, bounded.reason, bounded.note});
  if (known == by_key_.end() && queue_.size() >= kMostPending) {
    ++dropped_;
    return;
  }
  Series& series = series_of(bounded, now);
  ++series.count;
  series.last = now.wall;
  series.touched = now.mono;
  const std::uint64_t id = by_key_.at(series.key);
  if (!series.in_flight) enqueue(id, series, std::max(series.due, now.mono));
}

EventRecorderQueue::Series& EventRecorderQueue::series_of(const EventNote& note, Now now) {
  Key key{note.regarding.uid, note.reason, note.note};
  if (const auto it = by_key_.find(key); it != by_key_.end()) return series_.at(it->second);
  const std::uint64_t id = next_id_++;
  Series series;
  series.key = key;
  series.name = event_name(note, now.wall, id);
  series.note = note;
  series.first = now.wall;
  by_key_.emplace(std::move(key), id);
  return series_.emplace(id, std::move(series)).first->second;
}

void EventRecorderQueue::enqueue(std::uint64_t id, Series& series, MonoTime due) {
  if (series.queued) return;
  series.queued = true;
  series.due = due;
  queue_.push_back(id);
}

void EventRecorderQueue::forget_old(MonoTime now) {
  const auto idle = [](const Series& series) { return !series.queued && !series.in_flight; };
  const auto drop = [this](std::map<std::uint64_t, Series>::iterator it) {
    by_key_.erase(it->second.key);
    return series_.erase(it);
  };
  // Called for every note: the whole table is looked at only when it is full.
  if (series_.size() < kMostSeries) {
    if (!series_.empty() && idle(series_.begin()->second) && now - series_.begin()->second.touched >= kForgetAfter) {
      drop(series_.begin());
    }
    return;
  }
  auto oldest = series_.end();
  for (auto it = series_.begin(); it != series_.end();) {
    if (idle(it->second) && now - it->second.touched >= kForgetAfter) {
      it = drop(it);
      continue;
    }
    if (idle(it->second) && (oldest == series_.end() || it->second.touched < oldest->second.touched)) oldest = it;
    ++it;
  }
  if (series_.size() >= kMostSeries && oldest != series_.end()) drop(oldest);
}

std::optional<EventRecorderQueue::Write> EventRecorderQueue::take(Now now) {
  const auto ready =
      std::find_if(queue_.begin(), queue_.end(), [&](std::uint64_t id) { return series_.at(id).due <= now.mono; });
  if (ready == queue_.end()) return std::nullopt;
  const std::uint64_t id = *ready;
  queue_.erase(ready);
  Series& series = series_.at(id);
  series.queued = false;
  series.in_flight = true;
  Write out;
  out.series = id;
  out.name = series.name;
  out.create = !series.created;
  if (out.create) {
    series.told = 1;
    out.json = create_json(series);
  } else {
    series.told = series.count;
    out.json = dump({{"series", {{"count", series.count}, {"lastObservedTime", rfc3339_micro(series.last)}}}});
  }
  return out;
}

std::string EventRecorderQueue::create_json(const Series& series) const {
  const EventNote& note = series.note;
  json regarding = {{"apiVersion", note.regarding.api_version},
                    {"kind", note.regarding.kind},
                    {"name", note.regarding.name.name},
                    {"uid", note.regarding.uid}};
  if (!note.regarding.name.ns.empty()) regarding["namespace"] = note.regarding.name.ns;
  return dump({{"apiVersion", "events.k8s.io/v1"},
               {"kind", "Event"},
               {"metadata", {{"name", series.name.name}, {"namespace", series.name.ns}}},
               {"eventTime", rfc3339_micro(series.first)},
               {"reportingController", reporter_.controller},
               {"reportingInstance", cut(reporter_.instance, kLongestWord)},
               {"action", cut(note.action, kLongestWord)},
               {"reason", cut(note.reason, kLongestWord)},
               {"type", note.warning ? "Warning" : "Normal"},
               {"note", note.note},
               {"regarding", regarding}});
}

void EventRecorderQueue::done(std::uint64_t id, const Status& outcome, Now now) {
  const auto it = series_.find(id);
  if (it == series_.end()) return;
  Series& series = it->second;
  series.in_flight = false;
  if (outcome || (outcome.error().code == ErrorCode::kAlreadyExists && !series.created)) {
    // Already there: an earlier try whose answer was lost. Its name is ours alone.
    series.created = true;
    series.failures = 0;
    series.due = now.mono + kSeriesPeriod;
    if (series.count > series.told) enqueue(id, series, series.due);
    return;
  }
  const Error& error = outcome.error();
  if (series.created && error.code == ErrorCode::kNotFound) {
    // Events live an hour: begin a new one.
    series.created = false;
    series.first = series.last;
    series.count = 1;
    series.name = event_name(series.note, now.wall, next_id_++);
    enqueue(id, series, now.mono);
    return;
  }
  const bool hopeless = error.retry == Retry::kPermanent || ++series.failures >= kMostFailures;
  if (hopeless) {
    dropped_ += series.created ? 0 : series.count;
    by_key_.erase(series.key);
    series_.erase(it);
    return;
  }
  const milliseconds pause =
      std::max<milliseconds>(kFirstPause * (1 << series.failures), milliseconds(error.retry_after_ms.value_or(0)));
  series.told = series.created ? 0 : series.told;
  enqueue(id, series, now.mono + pause);
}

std::optional<MonoTime> EventRecorderQueue::next_due() const {
  std::optional<MonoTime> out;
  for (const std::uint64_t id : queue_) {
    const MonoTime due = series_.at(id).due;
    if (!out || due < *out) out = due;
  }
  return out;
}

}  // namespace kro
