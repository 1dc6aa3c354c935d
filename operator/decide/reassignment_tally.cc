#include "decide/reassignment_tally.h"

#include <algorithm>

namespace kro::decide {
namespace {

constexpr std::string_view kPartitionsBusy = "PartitionsBusy";
constexpr std::string_view kCancelRequested = "CancelRequested";
constexpr std::string_view kNotAllAccepted = "NotAllAccepted";

// Somebody else moves it now, or it is being rolled back: both pass.
bool passing(std::string_view reason) { return reason == kPartitionsBusy || reason == kCancelRequested; }

// Why `result` refused this partition. A malformed request names no partition: then its only reason.
std::string refusal_of(const tree::RequestResult& result, const TopicPartition& tp) {
  for (const auto& [reason, sets] : result.refused)
    if (contains(sets, tp)) return reason;
  return result.refused.empty() ? std::string("MalformedRequest") : result.refused.begin()->first;
}

// Refused for nothing but partitions that somebody else moves (all_or_nothing refuses the rest with it).
bool only_busy(const tree::RequestResult& result) {
  bool any = false;
  for (const auto& [reason, sets] : result.refused) {
    if (sets.empty()) continue;
    if (passing(reason)) {
      any = true;
    } else if (reason != kNotAllAccepted) {
      return false;
    }
  }
  return any;
}

class Counter {
 public:
  Counter(const api::KafkaReassignment& cr, const std::vector<SentRequest>& requests, const tree::Request& options)
      : cr_(cr), requests_(requests), options_(options) {
    out_.total = static_cast<std::int64_t>(count(cr.spec.assignments));
  }

  Tally run() {
    for (const auto& [topic, partitions] : cr_.spec.assignments)
      for (const auto& [partition, target] : partitions) one({topic, partition}, target);
    settle_old_refusals();
    share_waiting();
    note_busy_requests();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const SentRequest* newest(const TopicPartition& tp, const ReplicaList** target) const {
    for (auto it = requests_.rbegin(); it != requests_.rend(); ++it)
      if ((*target = find(it->request->assignments, tp)) != nullptr) return &*it;
    return nullptr;
  }

  void one(const TopicPartition& tp, const ReplicaList& target) {
    const ReplicaList* asked = nullptr;
    const SentRequest* const sent = newest(tp, &asked);
    if (sent == nullptr || *asked != target) {
      out_.unasked[tp.topic][tp.partition] = target;
    } else if (sent->lost) {
      bad(out_.lost, "lost", tp, target, *sent);
    } else if (!sent->result) {
      ++out_.pending;
    } else {
      with_result(tp, target, *sent);
    }
  }

  void with_result(const TopicPartition& tp, const ReplicaList& target, const SentRequest& sent) {
    using namespace tree::outcome;
    const std::string_view outcome = sent.result->outcome_of(tp);
    if (outcome == kCompleted) {
      ++out_.completed;
    } else if (outcome == kCompletedFirst) {
      bad(out_.completed_first, kCompletedFirst, tp, target, sent);
    } else if (outcome == kRestored) {
      bad(out_.restored, kRestored, tp, target, sent);
    } else if (outcome == kWithdrawn) {
      bad(out_.withdrawn, kWithdrawn, tp, target, sent);
    } else if (outcome == kSuperseded) {
      bad(out_.superseded, kSuperseded, tp, target, sent);
    } else if (outcome == kChangedOutside) {
      bad(out_.changed_outside, kChangedOutside, tp, target, sent);
    } else if (outcome == kTopicDeleted) {
      bad(out_.topic_deleted, kTopicDeleted, tp, target, sent);
    } else if (outcome == "refused" || sent.result->done) {
      refused(tp, target, sent);
    } else {
      ++accepted_;
      live_.push_back(&sent);
    }
  }

  // An ending that a raised attempt asks to be tried again.
  void bad(std::int64_t& counter, std::string_view name, const TopicPartition& tp, const ReplicaList& target,
           const SentRequest& sent) {
    if (sent.attempt < cr_.spec.attempt) {
      out_.unasked[tp.topic][tp.partition] = target;
      return;
    }
    ++counter;
    out_.first.emplace(name, tp);
  }

  void refused(const TopicPartition& tp, const ReplicaList& target, const SentRequest& sent) {
    const std::string reason = refusal_of(*sent.result, tp);
    if (!sent.result->error.empty()) out_.error = sent.result->error;
    if (sent.attempt < cr_.spec.attempt) {
      out_.unasked[tp.topic][tp.partition] = target;
    } else if (cr_.spec.conflict_policy == "Wait" &&
               (passing(reason) || (reason == kNotAllAccepted && only_busy(*sent.result)))) {
      out_.busy[tp.topic][tp.partition] = target;
    } else if (sent.marker.generation < cr_.meta.generation) {
      old_refusals_.push_back({tp, &target, &sent, reason});
    } else {
      count_refusal(reason, tp);
    }
  }

  void count_refusal(const std::string& reason, const TopicPartition& tp) {
    ++out_.refused[reason];
    out_.first.emplace(reason, tp);
  }

  void settle_old_refusals() {
    bool differs = !out_.unasked.empty();
    for (const OldRefusal& old : old_refusals_)
      differs = differs || old.sent->request->check != options_.check || old.sent->request->allow != options_.allow;
    for (const OldRefusal& old : old_refusals_) {
      if (differs) {
        out_.unasked[old.tp.topic][old.tp.partition] = *old.target;
      } else {
        count_refusal(old.reason, old.tp);
      }
    }
  }

  // A result says how many of its partitions wait, not which.
  void share_waiting() {
    std::sort(live_.begin(), live_.end());
    live_.erase(std::unique(live_.begin(), live_.end()), live_.end());
    for (const SentRequest* sent : live_) out_.waiting += sent->result->waiting;
    out_.waiting = std::clamp<std::int64_t>(out_.waiting, 0, accepted_);
    out_.in_flight = accepted_ - out_.waiting;
  }

  void note_busy_requests() {
    if (out_.busy.empty()) return;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      const auto& result = requests_[i].result;
      if (result && result->done && result->finished_count() == 0 && only_busy(*result))
        out_.busy_requests.push_back(i);
    }
  }

  struct OldRefusal {
    TopicPartition tp;
    const ReplicaList* target;
    const SentRequest* sent;
    std::string reason;
  };

  const api::KafkaReassignment& cr_;
  const std::vector<SentRequest>& requests_;
  const tree::Request& options_;
  std::vector<OldRefusal> old_refusals_;
  std::vector<const SentRequest*> live_;
  std::int64_t accepted_ = 0;
  Tally out_;
};

}  // namespace

std::int64_t Tally::refused_count() const {
  std::int64_t n = 0;
  for (const auto& [reason, partitions] : refused) n += partitions;
  return n;
}

Tally tally(const api::KafkaReassignment& cr, const std::vector<SentRequest>& requests, const tree::Request& options) {
  return Counter(cr, requests, options).run();
}

}  // namespace kro::decide
