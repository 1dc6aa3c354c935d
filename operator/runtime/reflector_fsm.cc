#include "runtime/reflector_fsm.h"

#include <algorithm>
#include <utility>

namespace kro {
namespace {
constexpr milliseconds kShortestPause = 100ms;
constexpr milliseconds kFirstPause = 800ms;
constexpr milliseconds kLongestPause = 30s;
constexpr auto kHealthyAfter = 2min;
constexpr seconds kShortestTimeout = 120s;
constexpr double kTimeoutSpread = 120;
// A server that ends every watch at once, without an error, must not make us a busy loop.
constexpr auto kShortWatch = 1s;
constexpr int kMostSilentWatches = 2;
}  // namespace

KubeWatchOptions ReflectorFsm::next_watch(const std::string& ns, double random01, MonoTime now) {
  opened_ = heard_ = false;
  started_ = now;
  KubeWatchOptions out;
  out.ns = ns;
  out.resource_version = resource_version_;
  out.timeout = kShortestTimeout + seconds(static_cast<int>(random01 * kTimeoutSpread));
  return out;
}

ReflectorFsm::Tell ReflectorFsm::on_event(const KubeWatchEvent& event) {
  using Type = KubeWatchEvent::Type;
  if (event.type == Type::kOpened) {
    opened_ = true;
    if (state_ != State::kEmpty) return Tell::kNothing;
    state_ = State::kListing;
    return Tell::kBegin;
  }
  heard_ = true;
  silent_watches_ = 0;
  if (event.type == Type::kInitialListEnd) {
    if (state_ != State::kListing) return Tell::kNothing;
    state_ = State::kWatching;
    synced_ = true;
    resource_version_ = event.resource_version;
    version_lost_ = event.resource_version.empty();
    return Tell::kEnd;
  }
  if (state_ == State::kWatching) {
    if (event.resource_version.empty()) {
      version_lost_ = true;
    } else {
      resource_version_ = event.resource_version;
    }
  }
  switch (event.type) {
    case Type::kAdded:
    case Type::kModified: return Tell::kUpsert;
    case Type::kDeleted: return Tell::kRemove;
    default: return Tell::kNothing;
  }
}

void ReflectorFsm::forget() {
  state_ = State::kEmpty;
  resource_version_.clear();
  version_lost_ = false;
  silent_watches_ = 0;
}

milliseconds ReflectorFsm::on_end(const Status& outcome, double random01, MonoTime now) {
  if (state_ == State::kListing) forget();
  if (state_ == State::kWatching) {
    if (opened_ && !heard_) ++silent_watches_;
    if (version_lost_ || silent_watches_ >= kMostSilentWatches) forget();
  }
  if (outcome) {
    if (now - started_ >= kShortWatch || (heard_ && state_ == State::kWatching)) return 0ms;
    return back_off(Error{}, random01, now);
  }
  // The first 410 is the server's normal way to say "list again": no pause. If listing fails too, there is one.
  if (outcome.error().code == ErrorCode::kGone && state_ == State::kWatching) {
    forget();
    return 0ms;
  }
  return back_off(outcome.error(), random01, now);
}

milliseconds ReflectorFsm::back_off(const Error& error, double random01, MonoTime now) {
  const auto stretched = [](milliseconds pause, double factor) {
    return milliseconds(static_cast<std::int64_t>(static_cast<double>(pause.count()) * factor));
  };
  // A server that says when to come back is alive: its word counts, and the pauses do not grow.
  if (error.retry_after_ms) {
    return stretched(std::max(milliseconds(*error.retry_after_ms), kShortestPause), 1 + random01 / 2);
  }
  if (next_pause_ == 0ms || now - last_failure_ >= kHealthyAfter) next_pause_ = kFirstPause;
  last_failure_ = now;
  const milliseconds pause = stretched(next_pause_, 1 + random01);
  next_pause_ = std::min(next_pause_ * 2, kLongestPause);
  return std::min(pause, kLongestPause);
}

}  // namespace kro
