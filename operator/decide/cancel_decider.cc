#include "decide/cancel_decider.h"

#include <algorithm>

#include "decide/reassignment_causes.h"
#include "decide/reassignment_checks.h"
#include "decide/reassignment_projection.h"

namespace kro::decide {
namespace {

using api::Reason;
using api::Truth;

constexpr std::size_t kMostProblemsShown = 50;

bool ours(const TreeView& tree, const Policy& policy) {
  return tree.lock && tree.lock->owner == policy.operator_id && !policy.operator_id.empty();
}

std::int64_t counted(std::size_t n) { return static_cast<std::int64_t>(n); }

class Decider {
 public:
  Decider(const CancelObservation& seen, const Policy& policy, WallTime now)
      : seen_(seen), policy_(policy), now_(now) {}

  CancelPlan run() {
    if (seen_.cr.meta.deleting) return deleting();
    const auto refusal = refuse(seen_.cr, policy_);
    if (refusal && !seen_.cr.meta.has_finalizer()) {
      // Looked at again when the configuration changes, all the same.
      Verdict v = ended_badly(api::phase::kFailed, refusal->reason, refusal->message);
      v.accepted = Truth::kFalse;
      v.accepted_reason = refusal->reason;
      v.accepted_message = refusal->message;
      return say(v);
    }
    if (refusal && !policy_.cluster_known) return cluster_left(*refusal);
    // The finalizer needs no tree: it may be set while ZooKeeper is away, and the lock follows when it is back.
    if (seen_.tree.health == TreeHealth::kStarting) return {};
    if (seen_.tree.health == TreeHealth::kUnreachable)
      return unreachable("check ZooKeeper and the network, this goes on by itself");
    if (seen_.tree.lock) return with_lock();
    if (!seen_.cr.spec.acknowledge_foreign && seen_.tree.foreign.total > 0) return foreign();
    CancelPlan plan;
    if (!seen_.cr.meta.has_finalizer())
      plan.write = AddFinalizer{};
    else
      plan.write = CreateLock{};
    return plan;
  }

 private:
  CancelPlan deleting() {
    CancelPlan plan;
    if (!seen_.cr.meta.has_finalizer()) return plan;
    if (!policy_.cluster_known) {  // nothing can be read or removed any more, and the object must not hang for ever
      plan.write = RemoveFinalizer{lock_left()};
      return plan;
    }
    if (seen_.tree.health == TreeHealth::kUnreachable)
      return unreachable("the lock is removed, and this object with it, when ZooKeeper is back");
    if (seen_.tree.health != TreeHealth::kConnected) return plan;
    const bool standing = ours(seen_.tree, policy_) && seen_.other_holders == 0;
    if (standing && seen_.tree.lock->version == 1)
      plan.write = DeleteLock{};
    else if (standing)  // somebody has written to it since: not ours to delete
      plan.write = RemoveFinalizer{"the cancel lock " + std::string(tree::kLock) +
                                   " names this operator, but was written by somebody else since, and is left; delete "
                                   "the znode by hand if nobody needs it"};
    else
      plan.write = RemoveFinalizer{};
    return plan;
  }

  // The object had a lock made, and its cluster is not configured any more.
  [[nodiscard]] std::string lock_left() const {
    const auto& lock = seen_.cr.status.lock;
    if (lock && lock->owner != policy_.operator_id) return {};
    return "cluster " + seen_.cr.spec.cluster + " is not in the operator's configuration any more: the cancel lock " +
           (lock ? "of this object (czxid " + lock->czxid + ") still stands" : std::string("may still stand")) +
           " in its ZooKeeper, and nothing starts there; configure the cluster again (a lock that no "
           "KafkaReassignmentCancel stands for is removed then), or delete the znode " +
           std::string(tree::kLock) + " by hand if it names operator " + policy_.operator_id;
  }

  CancelPlan unreachable(const std::string& what_then) {
    if (!seen_.tree.conflicted)
      return say(under_way(known_phase(), Reason::kClusterUnreachable, seen_.tree.trouble + "; " + what_then));
    Verdict v = under_way(known_phase(), Reason::kLedgerConflict, seen_.tree.trouble + std::string(kMendConflict));
    v.stalled = true;
    return say(v);
  }

  CancelPlan cluster_left(const Refusal& refusal) {
    const std::string left = lock_left();
    Verdict v = ended_badly(known_phase(), refusal.reason, left.empty() ? refusal.message : left);
    v.succeeded.reset();
    v.accepted = Truth::kFalse;
    v.accepted_reason = refusal.reason;
    v.accepted_message = refusal.message;
    return say(v);
  }

  CancelPlan foreign() {
    const std::string message =
        std::to_string(seen_.tree.foreign.total) +
        " move(s) that no KafkaReassignment here asked for run, and acknowledgeForeign: false is "
        "not supported by this release where there are such; set acknowledgeForeign: true to "
        "roll them back too, or wait until they are done";
    Verdict v = ended_badly(api::phase::kAwaitingAcknowledgement, Reason::kUnsupportedFeature, message);
    v.succeeded.reset();
    v.accepted = Truth::kFalse;
    v.accepted_reason = Reason::kUnsupportedFeature;
    v.accepted_message = message;
    CancelPlan plan = say(v);
    plan.status->preview = api::CancelPreview{-1, -1, seen_.tree.foreign.total};
    return plan;
  }

  CancelPlan with_lock() {
    const LockView& lock = *seen_.tree.lock;
    if (!ours(seen_.tree, policy_)) {
      const std::string whose = lock.owner.empty() ? "a person or a tool" : "operator " + lock.owner;
      return say(
          under_way(api::phase::kPending, Reason::kLockHeldByOther,
                    "the lock of " + whose + " stands since " + clock_text(lock.created) +
                        ", and everything is cancelled by it already; it is never removed from here: ask its owner"));
    }
    if (!seen_.cr.meta.has_finalizer()) {
      CancelPlan plan;
      plan.write = AddFinalizer{};
      return plan;
    }
    const bool same_lock = seen_.cr.status.lock && seen_.cr.status.lock->czxid == "0x" + tree::hex(lock.czxid);
    if (!seen_.tree.lock_result && same_lock && api::phase::final(seen_.cr.status.phase)) return {};  // retention
    if (!seen_.tree.lock_result) return say(locked(api::phase::kCancelling, unanswered()));
    if (!seen_.tree.lock_result->done) return say(locked(api::phase::kCancelling, cancelling()));
    return say(outcome(*seen_.tree.lock_result));
  }

  Cause unanswered() {
    const TreeView& tree = seen_.tree;
    if (auto absent = controller_absent(tree, now_)) {
      absent->message = "the lock stands, but " + absent->message;
      return *absent;
    }
    if (!tree.controller && tree.controller_absent_since) look_again_ = *tree.controller_absent_since + kAbsentFor;
    const WallTime since = std::max(tree.lock->created, tree.controller_since);
    if (tree.controller && now_ - since >= kAnswerWithin)
      return {Reason::kControllerNotResponding,
              "the lock stands since " + clock_text(tree.lock->created) + " without a result, though controller " +
                  tree.controller->id + " leads; look at its log",
              since};
    if (tree.controller) look_again_ = since + kAnswerWithin;
    return {
        Reason::kCancelRequested, "the lock stands and nothing starts; the controller has not answered yet: wait", {}};
  }

  Cause cancelling() {
    if (auto absent = controller_absent(seen_.tree, now_)) {
      absent->message = "the roll back has not ended, but " + absent->message;
      return *absent;
    }
    if (!seen_.tree.controller && seen_.tree.controller_absent_since)
      look_again_ = *seen_.tree.controller_absent_since + kAbsentFor;
    const auto& result = *seen_.tree.lock_result;
    const auto left = result.partitions - counted(result.finished_count() + result.refused_count());
    return {Reason::kCancelRequested, std::to_string(left) + " partition(s) are being rolled back; wait", {}};
  }

  // The lock stands: Ready is True for as long, and says so.
  Verdict locked(std::string_view phase, const Cause& cause) const {
    Verdict v = under_way(phase, cause.reason, cause.message);
    v.ready = true;
    v.accepted = Truth::kTrue;
    v.accepted_reason = Reason::kValid;
    v.accepted_message = "Allowed here; nothing to do";
    return v;
  }

  Verdict outcome(const tree::RequestResult& result) const {
    const auto refused = counted(result.refused_count());
    const auto first = counted(result.finished_count(tree::outcome::kCompletedFirst));
    const std::string counts = std::to_string(result.finished_count(tree::outcome::kRestored)) + " restored, " +
                               std::to_string(first) + " completed first, " + std::to_string(refused) + " left running";
    if (refused + first == 0) {
      Verdict v = locked(api::phase::kSucceeded, {result.partitions > 0 ? Reason::kAllRestored : Reason::kLocked,
                                                  counts + "; nothing starts until this object is deleted",
                                                  {}});
      v.succeeded = true;
      v.reconciling = false;
      return v;
    }
    Reason reason = Reason::kPartlyRestored;
    if (!result.refused.empty())
      reason = api::parse_reason(result.refused.begin()->first).value_or(Reason::kPartlyRestored);
    Verdict v = ended_badly(api::phase::kPartiallyCancelled, reason,
                            counts + "; see problemPartitions, and delete this object to let things start again");
    v.ready = true;
    v.accepted = Truth::kTrue;
    v.accepted_reason = Reason::kValid;
    v.accepted_message = "Allowed here; nothing to do";
    return v;
  }

  [[nodiscard]] std::string_view known_phase() const {
    const std::string& phase = seen_.cr.status.phase;
    return phase.empty() ? api::phase::kPending : std::string_view(phase);
  }

  CancelPlan say(const Verdict& v);
  void set_conditions(const Verdict& v, api::CancelStatus& out) const;
  void fill_from_result(api::CancelStatus& out) const;

  const CancelObservation& seen_;
  const Policy& policy_;
  WallTime now_;
  std::optional<WallTime> look_again_;
};

void Decider::fill_from_result(api::CancelStatus& out) const {
  if (!seen_.tree.lock_result || !seen_.tree.lock) return;
  const tree::RequestResult& result = *seen_.tree.lock_result;
  // Resources that have ended are not counted any more, so for the same lock the number never falls.
  const auto& before = seen_.cr.status;
  const bool same_lock = before.lock && before.lock->czxid == "0x" + tree::hex(seen_.tree.lock->czxid);
  const std::int64_t withdrawn = std::max(seen_.withdrawn, same_lock ? before.progress.withdrawn : 0);
  out.progress.affected = result.partitions + withdrawn;
  out.progress.restored = counted(result.finished_count(tree::outcome::kRestored));
  out.progress.completed_first = counted(result.finished_count(tree::outcome::kCompletedFirst));
  out.progress.withdrawn = withdrawn;
  out.progress.refused = counted(result.refused_count());
  out.progress.foreign = counted(count(result.foreign));
  for (const tree::Problem& p : result.problems) {
    if (out.problems.size() == kMostProblemsShown) return;
    out.problems.push_back({p.tp.topic, p.tp.partition, to_text(p.current), to_text(p.target), to_text(p.originals),
                            to_text(p.isr), p.cause, p.if_cancelled});
  }
  for (const auto& [reason, sets] : result.refused)
    for (const TopicPartition& tp : flatten(sets)) {
      if (out.problems.size() == kMostProblemsShown) return;
      const bool known = std::any_of(out.problems.begin(), out.problems.end(), [&](const api::ProblemPartition& p) {
        return p.topic == tp.topic && p.partition == tp.partition;
      });
      if (!known) out.problems.push_back({tp.topic, tp.partition, "", "", "", "", reason, ""});
    }
}

void Decider::set_conditions(const Verdict& v, api::CancelStatus& out) const {
  namespace c = api::condition;
  api::ConditionList list(seen_.cr.status.conditions, seen_.cr.meta.generation, now_);
  if (v.ready)
    list.set(c::kReady, Truth::kTrue, Reason::kLocked, "The lock stands: nothing starts until this object is deleted");
  else
    list.set(c::kReady, Truth::kFalse, v.reason, v.message);
  const Truth succeeded = !v.succeeded ? Truth::kUnknown : *v.succeeded ? Truth::kTrue : Truth::kFalse;
  list.set(c::kSucceeded, succeeded, v.reason, v.message);
  list.set(c::kReconciling, v.reconciling && !v.stalled ? Truth::kTrue : Truth::kFalse, v.reason, v.message);
  list.set(c::kStalled, v.stalled ? Truth::kTrue : Truth::kFalse, v.stalled ? v.reason : Reason::kNotStalled,
           v.stalled ? v.message : "Nobody is needed");
  if (v.accepted == Truth::kUnknown)
    list.set(c::kAccepted, Truth::kUnknown, v.reason, "Not checked yet: " + v.message);
  else
    list.set(c::kAccepted, v.accepted, v.accepted_reason, v.accepted_message);
  list.set(c::kApproved, Truth::kTrue, Reason::kAutomatic, "A cancel needs no approval; nothing to do");
  if (seen_.tree.health == TreeHealth::kConnected)
    list.set(c::kClusterReachable, Truth::kTrue, Reason::kConnected, "The tree in ZooKeeper is read; nothing to do");
  else if (seen_.tree.health == TreeHealth::kUnreachable)
    list.set(c::kClusterReachable, Truth::kFalse, Reason::kClusterUnreachable,
             seen_.tree.trouble + "; do not trust the rest until this is True again: check ZooKeeper and the network");
  else
    list.keep(c::kClusterReachable);
  list.set(c::kSuspended, Truth::kFalse, Reason::kNotSuspended, "A cancel cannot be suspended; nothing to do");
  out.conditions = list.take();
}

CancelPlan Decider::say(const Verdict& v) {
  const api::CancelStatus& before = seen_.cr.status;
  api::CancelStatus out;
  out.observed_generation = seen_.cr.meta.generation;
  out.phase = v.phase;
  const api::CancelSpec& spec = seen_.cr.spec;
  out.scope = spec.all ? "all" : spec.reassignments ? "reassignments" : spec.partitions ? "partitions" : "";
  out.start = before.start;
  if (ours(seen_.tree, policy_) && seen_.tree.health == TreeHealth::kConnected) {
    out.start = rfc3339(seen_.tree.lock->created);
    fill_from_result(out);
  } else if (seen_.tree.health != TreeHealth::kConnected) {
    out.progress = before.progress;
    out.lock = before.lock;
    out.problems = before.problems;
  }
  if (seen_.tree.lock && seen_.tree.health == TreeHealth::kConnected)
    out.lock = api::LockRef{std::string(tree::kLock), "0x" + tree::hex(seen_.tree.lock->czxid), seen_.tree.lock->owner};
  if (api::phase::final(v.phase)) {
    const bool already = before.phase == v.phase && !before.completion.empty() && before.lock == out.lock;
    out.completion = already ? before.completion : rfc3339(now_);
  }
  out.summary = std::string(v.phase) + ": " + v.message;
  if (out.summary.size() > 1024) out.summary.resize(1024);
  set_conditions(v, out);
  CancelPlan plan;
  plan.status = std::move(out);
  plan.look_again = look_again_;
  return plan;
}

}  // namespace

CancelPlan decide_cancel(const CancelObservation& seen, const Policy& policy, WallTime now) {
  return Decider(seen, policy, now).run();
}

bool orphaned_lock(const TreeView& tree, const Policy& policy, std::int64_t holders) {
  return tree.health == TreeHealth::kConnected && holders == 0 && ours(tree, policy) && tree.lock->version == 1;
}

}  // namespace kro::decide
