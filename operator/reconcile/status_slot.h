#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "api/types.h"
#include "ports/kube_api.h"

namespace kro::reconcile {

// When the status of one resource is written (api.md 4), and what came of it.
//
// An edge (phase, cause, generation) goes out at once; progress alone at most every max(2 s, object / 100 KB/s); what
// would change nothing is not sent. The first word about a resource waits a moment, so that a controller that answers
// quickly saves a write. One write at a time: the next is made from the version that the one before it gave.
template <class Status>
class StatusSlot {
 public:
  static constexpr milliseconds kFirstWord = 300ms;

  explicit StatusSlot(MonoTime seen) : seen_(seen) {}

  // When `wanted` may be sent: now or earlier means now; nullopt: there is nothing to send, or a write is on its way.
  std::optional<MonoTime> due(const Status& known, const Status& wanted, std::size_t object_bytes) const {
    if (in_flight_ || api::same(known, wanted)) return std::nullopt;
    MonoTime at = retry_at_;
    if (known.phase.empty() && !api::phase::final(wanted.phase)) at = std::max(at, seen_ + kFirstWord);
    if (!edge(known, wanted)) at = std::max(at, last_ + std::max<milliseconds>(2s, milliseconds(object_bytes / 100)));
    return at;
  }
  void sent(Status status, MonoTime now) {
    in_flight_ = std::move(status);
    last_ = now;
  }
  // Ok: what the server has now.
  std::optional<Status> answered(const Status&, const Result<KubeMeta>& answer, MonoTime now) {
    std::optional<Status> out;
    out.swap(in_flight_);
    if (answer) {
      failures_ = 0;
      retry_at_ = now;
      return out;
    }
    ++failures_;
    const bool hopeless = answer.error().retry == Retry::kPermanent;
    retry_at_ = now + (hopeless ? milliseconds(10min) : milliseconds(500) * (1 << std::min(failures_ - 1, 6)));
    return std::nullopt;
  }
  // Somebody else wrote another status over ours, and may have the better right: come back later and later.
  void yield(MonoTime now) {
    overwritten_ = std::min(overwritten_ + 1, 6);
    retry_at_ = now + std::chrono::seconds(10) * (1 << overwritten_);
  }
  // A newer version of the object came: a conflict need not be waited out.
  void refreshed(MonoTime now) { retry_at_ = std::min(retry_at_, now); }
  [[nodiscard]] const std::optional<Status>& in_flight() const { return in_flight_; }

 private:
  static std::string_view reason(const Status& status, std::string_view type) {
    const api::Condition* const c = api::find(status.conditions, type);
    return c == nullptr ? std::string_view() : std::string_view(c->reason);
  }
  static bool edge(const Status& a, const Status& b) {
    return a.phase != b.phase || a.observed_generation != b.observed_generation ||
           reason(a, api::condition::kReady) != reason(b, api::condition::kReady) ||
           reason(a, api::condition::kStalled) != reason(b, api::condition::kStalled) ||
           reason(a, api::condition::kReconciling) != reason(b, api::condition::kReconciling) ||
           reason(a, api::condition::kClusterReachable) != reason(b, api::condition::kClusterReachable);
  }

  MonoTime seen_;
  MonoTime last_{};
  MonoTime retry_at_{};
  int failures_ = 0;
  int overwritten_ = 0;
  std::optional<Status> in_flight_;
};

}  // namespace kro::reconcile
