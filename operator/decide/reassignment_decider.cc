#include "decide/reassignment_decider.h"

#include <algorithm>

#include "decide/reassignment_causes.h"
#include "decide/reassignment_checks.h"
#include "decide/reassignment_projection.h"
#include "decide/reassignment_requests.h"
#include "decide/reassignment_tally.h"

namespace kro::decide {
namespace {

using api::Reason;
using api::Truth;

constexpr std::string_view kAgain = "; raise spec.attempt to try again";

// What is refused by the controller, in the order in which it checks; the summary reason comes last.
constexpr Reason kRefusalOrder[] = {Reason::kMalformedRequest,
                                    Reason::kUnsupportedFeature,
                                    Reason::kUnknownTopicOrPartition,
                                    Reason::kTopicBeingDeleted,
                                    Reason::kBrokerNotAvailable,
                                    Reason::kLegacyConflict,
                                    Reason::kForeignMove,
                                    Reason::kCancelRequested,
                                    Reason::kMinInsyncReplicas,
                                    Reason::kReplicationFactorChange,
                                    Reason::kInternalTopics,
                                    Reason::kUnderReplicated,
                                    Reason::kNoLeader,
                                    Reason::kRackSpread,
                                    Reason::kPartitionsBusy,
                                    Reason::kNotAllAccepted};

ReassignmentPlan clean_up(const ReassignmentObservation& seen) {
  ReassignmentPlan plan;
  if (!seen.ledger_read) return plan;
  CleanUp out;
  for (std::size_t i = 0; i < seen.requests.size(); ++i)
    if (seen.requests[i].done()) out.requests.push_back(i);
  out.root = out.requests.size() == seen.requests.size();
  if (!out.requests.empty() || out.root) plan.write = std::move(out);
  return plan;
}

class Decider {
 public:
  Decider(const ReassignmentObservation& seen, const Policy& policy, WallTime now)
      : seen_(seen), policy_(policy), now_(now), options_(request_options(seen.cr, policy)) {}

  ReassignmentPlan run() {
    const auto refusal = refuse(seen_.cr, policy_);
    const bool configured = !refusal || !refusal->liftable;
    // Before the ledger is read nobody knows whether an earlier generation still moves.
    if (seen_.tree.health == TreeHealth::kStarting && configured) return {};
    if (refusal && !seen_.ledger_read) return say(refused(*refusal), nullptr);
    if (seen_.tree.health == TreeHealth::kStarting) return {};
    if (seen_.tree.health == TreeHealth::kUnreachable) return unreachable();
    if (!seen_.ledger_read) return {};
    tally_ = tally(seen_.cr, seen_.requests, options_);
    if (refusal) return edited_into_refusal(*refusal);
    next_write();
    if (!std::holds_alternative<std::monostate>(plan_.write)) return std::move(plan_);
    return say(verdict(), &tally_);
  }

 private:
  ReassignmentPlan say(const Verdict& verdict, const Tally* tally) {
    plan_.status = project(seen_, verdict, tally, now_);
    if (tally != nullptr && !api::phase::final(verdict.phase)) {
      plan_.look_again = next_cause_at(seen_, *tally, now_);
      for (const auto& [topic, partitions] : tally->busy)
        for (const auto& [partition, target] : partitions) plan_.busy.push_back({topic, partition});
    }
    return std::move(plan_);
  }

  static Verdict refused(const Refusal& refusal) {
    Verdict v =
        ended_badly(refusal.liftable ? api::phase::kPending : api::phase::kFailed, refusal.reason, refusal.message);
    if (refusal.liftable) v.succeeded.reset();
    v.accepted = Truth::kFalse;
    v.accepted_reason = refusal.reason;
    v.accepted_message = refusal.message;
    return v;
  }

  // The spec was edited into something that cannot be done, while an earlier generation still moves: nothing new is
  // written, and what moves is followed to its end before anything is called Failed.
  ReassignmentPlan edited_into_refusal(const Refusal& refusal) {
    Verdict v = refused(refusal);
    if (tally_of_all_unsettled() > 0) {
      v.phase = api::phase::kRunning;
      v.succeeded.reset();
      v.message = refusal.message + " (an earlier generation still moves, and finishes)";
    }
    return say(v, &tally_);
  }

  [[nodiscard]] std::int64_t tally_of_all_unsettled() const {
    return std::count_if(seen_.requests.begin(), seen_.requests.end(),
                         [](const SentRequest& sent) { return !sent.done(); });
  }

  ReassignmentPlan unreachable() {
    const std::string& phase = seen_.cr.status.phase;
    const bool known = !phase.empty() && !api::phase::final(phase);
    Verdict v =
        under_way(known ? std::string_view(phase) : api::phase::kPending,
                  seen_.tree.conflicted ? Reason::kLedgerConflict : Reason::kClusterUnreachable,
                  seen_.tree.trouble + std::string(seen_.tree.conflicted
                                                       ? kMendConflict
                                                       : "; check ZooKeeper and the network, this goes on by itself"));
    v.stalled = seen_.tree.conflicted;
    return say(v, nullptr);
  }

  [[nodiscard]] bool any_of_this_generation() const {
    return std::any_of(seen_.requests.begin(), seen_.requests.end(), [&](const SentRequest& sent) {
      return sent.marker.generation == seen_.cr.meta.generation &&
             std::find(tally_.busy_requests.begin(), tally_.busy_requests.end(),
                       static_cast<std::size_t>(&sent - seen_.requests.data())) == tally_.busy_requests.end();
    });
  }

  [[nodiscard]] int next_n() const {
    int n = 0;
    for (const SentRequest& sent : seen_.requests)
      if (sent.marker.generation == seen_.cr.meta.generation) n = std::max(n, sent.marker.n);
    return n + 1;
  }

  // Decides the one write, if one is due; sets missing_ when the controller cannot do what it would need.
  void next_write() {
    if (seen_.cr.meta.deleting || tally_.refused_count() > 0 || tally_.lost > 0) return drop_dry_runs();
    Assignments ask = tally_.unasked;
    if (seen_.ask_again)
      for (const auto& [topic, partitions] : tally_.busy) ask[topic].insert(partitions.begin(), partitions.end());
    if (ask.empty()) return drop_dry_runs();
    if (seen_.tree.lock) return;
    std::vector<Assignments> pieces = cut_for_requests(ask);
    const bool first = !any_of_this_generation();
    SendRequest send;
    send.request = options_;
    send.request.all_or_nothing = first && pieces.size() == 1;
    send.request.dry_run = first && pieces.size() > 1 && seen_.dry_runs.size() < pieces.size();
    send.dry_run = send.request.dry_run;
    missing_ = missing_features(send.request, seen_.tree);
    if (!missing_.empty()) return;
    if (first && pieces.size() > 1 && !send.dry_run && !dry_runs_passed()) return;
    send.request.assignments = std::move(pieces[send.dry_run ? seen_.dry_runs.size() : 0]);
    if (!send.dry_run) {
      send.marker = {seen_.cr.meta.generation, next_n()};
      send.attempt = seen_.cr.spec.attempt;
      if (seen_.ask_again) send.replaces = tally_.busy_requests;
    }
    plan_.write = std::move(send);
  }

  void drop_dry_runs() {
    const bool all_answered = std::all_of(seen_.dry_runs.begin(), seen_.dry_runs.end(),
                                          [](const DryRun& run) { return run.result.has_value(); });
    if (!seen_.dry_runs.empty() && all_answered) plan_.write = DropDryRuns{};
  }

  // Every piece of a large plan was checked and none refused. Sets dry_refusal_ where one was.
  bool dry_runs_passed() {
    for (const DryRun& run : seen_.dry_runs) {
      if (!run.result) return false;
      for (const auto& [reason, sets] : run.result->refused) {
        const std::int64_t n = std::max<std::int64_t>(1, static_cast<std::int64_t>(count(sets)));
        const bool busy =
            seen_.cr.spec.conflict_policy == "Wait" && (reason == "PartitionsBusy" || reason == "CancelRequested");
        (busy ? dry_busy_ : dry_refused_)[reason] += n;
        if (busy)
          for (const TopicPartition& tp : flatten(sets)) plan_.busy.push_back(tp);
        if (!sets.empty()) tally_.first.emplace(reason, flatten(sets).front());
      }
    }
    if (!dry_busy_.empty() && dry_refused_.empty() && seen_.ask_again) plan_.write = DropDryRuns{};
    return dry_busy_.empty() && dry_refused_.empty();
  }

  [[nodiscard]] std::string example(std::string_view name) const {
    const auto it = tally_.first.find(std::string(name));
    return it == tally_.first.end() ? std::string() : " (such as " + it->second.text() + ")";
  }

  Verdict verdict() {
    if (!dry_refused_.empty()) tally_.refused = dry_refused_;
    if (tally_.unsettled() == 0) {
      if (auto end = ended()) return *end;
    }
    return accepted(running());
  }

  std::optional<Verdict> ended() {
    if (!missing_.empty()) {
      const std::string message = "the controller does not know \"" + missing_.front() +
                                  "\", which this needs; upgrade kafka-reassignment-controller" + std::string(kAgain);
      return refused({Reason::kUnsupportedFeature, message, false});
    }
    if (tally_.refused_count() > 0) return refused_by_check();
    if (tally_.lost > 0)
      return ended_badly(
          api::phase::kFailed, Reason::kResultLost,
          "a request was sent, and neither it nor its result is in the tree; compare the partitions with "
          "the plan by hand" +
              std::string(kAgain));
    if (!tally_.unasked.empty() || !tally_.busy.empty()) return std::nullopt;
    if (tally_.changed_outside > 0)
      return bad_end(Reason::kChangedOutside, tally_.changed_outside, "changed_outside",
                     "got another replica list from outside this tree; find out who moves them");
    if (tally_.topic_deleted > 0)
      return bad_end(Reason::kTopicDeleted, tally_.topic_deleted, "topic_deleted",
                     "went with their topic; take them out of the plan");
    if (tally_.superseded > 0)
      return bad_end(Reason::kSuperseded, tally_.superseded, "superseded",
                     "got a newer target from another client; see who asked for it");
    if (tally_.cancelled() + tally_.completed_first > 0) return cancelled();
    return ended_well();
  }

  Verdict bad_end(Reason reason, std::int64_t n, std::string_view outcome, const std::string& what) {
    Verdict v = ended_badly(api::phase::kFailed, reason,
                            std::to_string(n) + " partition(s)" + example(outcome) + " " + what + std::string(kAgain));
    return accepted(std::move(v));
  }

  Verdict refused_by_check() {
    Reason reason = Reason::kNotAllAccepted;
    std::string name(api::to_string(reason));
    for (const Reason r : kRefusalOrder)
      if (tally_.refused.contains(std::string(api::to_string(r)))) {
        reason = r;
        name = api::to_string(r);
        break;
      }
    if (!tally_.refused.contains(name)) name = tally_.refused.begin()->first;  // a check of a newer controller
    std::string message = "refused by the check " + name + " for " + std::to_string(tally_.refused[name]) + " of " +
                          std::to_string(tally_.total) + " partitions" + example(name);
    if (!tally_.error.empty()) message += ": " + tally_.error;
    message += "; nothing of it was started: correct the plan, or see the runbook on " + name + std::string(kAgain);
    return refused({reason, message, false});
  }

  // Partitions of this resource that the lock's result says were left running.
  [[nodiscard]] std::int64_t refused_by_cancel(std::string& reason) const {
    if (!seen_.tree.lock_result) return 0;
    std::int64_t n = 0;
    for (const auto& [name, sets] : seen_.tree.lock_result->refused)
      for (const TopicPartition& tp : flatten(sets))
        if (find(seen_.cr.spec.assignments, tp) != nullptr) {
          ++n;
          reason = name;
        }
    return n;
  }

  Verdict cancelled() {
    std::string why;
    const std::int64_t refused_n = refused_by_cancel(why);
    const std::string counts = std::to_string(tally_.restored) + " restored, " + std::to_string(tally_.withdrawn) +
                               " never started, " + std::to_string(tally_.completed + tally_.completed_first) +
                               " at their target";
    if (refused_n + tally_.completed_first == 0)
      return accepted(
          ended_badly(api::phase::kCancelled, Reason::kAllRestored, "cancelled: " + counts + std::string(kAgain)));
    const Reason reason =
        tally_.restored > 0 ? Reason::kPartlyRestored : api::parse_reason(why).value_or(Reason::kPartlyRestored);
    return accepted(ended_badly(api::phase::kPartiallyCancelled, reason,
                                "cancelled in part: " + counts + ", " + std::to_string(refused_n) + " left running" +
                                    (why.empty() ? "" : " (" + why + ")") + std::string(kAgain)));
  }

  // Whether acceptance is known, whatever else is.
  Verdict accepted(Verdict v) const {
    if (v.accepted != Truth::kUnknown) return v;
    const bool answered = tally_.pending == 0 && tally_.unasked.empty() && tally_.busy.empty() && tally_.total > 0;
    if (answered) {
      v.accepted = Truth::kTrue;
      v.accepted_reason = Reason::kValid;
      v.accepted_message = "Allowed here, and all checks passed; nothing to do";
    } else {
      v.accepted_reason = v.reason;
      v.accepted_message = "Not checked yet: " + v.message;
    }
    return v;
  }

  [[nodiscard]] bool held_by(std::string_view holding) const {
    return std::any_of(seen_.requests.begin(), seen_.requests.end(), [&](const SentRequest& sent) {
      return sent.result && !sent.result->done && sent.result->holding == holding;
    });
  }

  // No reason of its own: nobody has to do anything. What runs may be counted nowhere in the tally, where the newest
  // target of a partition is what counts.
  Verdict drop_set(std::string_view phase) {
    const bool moving = std::any_of(seen_.requests.begin(), seen_.requests.end(), [](const SentRequest& sent) {
      return sent.result && !sent.result->done && sent.result->in_flight() > 0;
    });
    return under_way(moving ? api::phase::kRunning : phase, moving ? Reason::kMoving : Reason::kRequested,
                     std::to_string(tally_.in_flight) + " partition(s) in flight, " + std::to_string(tally_.waiting) +
                         " wait: the new target of these partitions would drop a replica that must stay; it starts "
                         "as soon as the running reassignment has ended; wait");
  }

  Verdict running() {
    const bool cancelling = tally_.started() && tally_.unsettled() > 0 && (seen_.tree.lock || tally_.cancelled() > 0);
    const std::string_view phase = cancelling         ? api::phase::kCancelling
                                   : tally_.started() ? api::phase::kRunning
                                                      : api::phase::kPending;
    const auto cause = find_cause(seen_, tally_, now_);
    const bool lock_is_why = cancelling && cause && cause->reason == Reason::kLocked;
    if (cause && !lock_is_why) {
      Verdict v = under_way(phase, cause->reason, cause->message);
      const auto last = last_progress(seen_.requests).at;
      const auto after = parse_duration(seen_.cr.spec.stall_after).value_or(seconds(30min));
      v.stalled = tally_.in_flight > 0 && now_ - last >= after;
      if (v.stalled) v.since = clock_text(last + after);
      return v;
    }
    if (cancelling)
      return under_way(phase, Reason::kCancelRequested,
                       std::to_string(tally_.in_flight) + " partition(s) are being rolled back; wait for the outcome");
    if (!tally_.busy.empty() || !dry_busy_.empty()) {
      const auto n = static_cast<std::int64_t>(count(tally_.busy));
      return under_way(phase, Reason::kPartitionsBusy,
                       (n > 0 ? std::to_string(n) + " partition(s) wait" : std::string("the plan waits")) +
                           " because another client moves" + example("PartitionsBusy") +
                           "; asked again when they are free (conflictPolicy: Replace does not wait)");
    }
    if (tally_.waiting > 0 && held_by("DropSet")) return drop_set(phase);
    if (tally_.in_flight == 0 && tally_.waiting > 0) {
      for (const SentRequest& sent : seen_.requests)
        if (sent.result && !sent.result->done && !sent.result->holding.empty())
          return under_way(phase, api::parse_reason(sent.result->holding).value_or(Reason::kClusterUnhealthy),
                           "nothing new starts: " + sent.result->holding + "; bring the cluster back to health");
    }
    if (tally_.in_flight > 0 || tally_.started())
      return under_way(phase, Reason::kMoving,
                       std::to_string(tally_.in_flight) + " partition(s) in flight, " +
                           std::to_string(tally_.total - tally_.completed - tally_.in_flight) + " to go; wait");
    if (tally_.pending + tally_.waiting > 0 || !seen_.dry_runs.empty())
      return under_way(
          phase, Reason::kRequested,
          "asked the controller for " + std::to_string(tally_.total) + " partition(s); wait for its answer");
    return under_way(phase, Reason::kPending, "about to be requested; wait");
  }

  const ReassignmentObservation& seen_;
  const Policy& policy_;
  WallTime now_;
  tree::Request options_;
  Tally tally_;
  ReassignmentPlan plan_;
  std::vector<std::string> missing_;
  std::map<std::string, std::int64_t> dry_refused_, dry_busy_;
};

}  // namespace

ReassignmentPlan decide_reassignment(const ReassignmentObservation& seen, const Policy& policy, WallTime now) {
  if (seen.gone) return clean_up(seen);
  return Decider(seen, policy, now).run();
}

}  // namespace kro::decide
