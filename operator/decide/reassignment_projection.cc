#include "decide/reassignment_projection.h"

#include <algorithm>

#include "api/reassignment_codec.h"

namespace kro::decide {
namespace {

using api::Reason;
using api::Truth;

constexpr std::size_t kMostRequestsShown = 20;
constexpr std::size_t kMostProblemsShown = 50;
constexpr std::size_t kMostSummary = 1024;

std::string display(std::int64_t done, std::int64_t total) {
  const std::int64_t percent = total == 0 ? 0 : done * 100 / total;
  return std::to_string(done) + "/" + std::to_string(total) + " (" + std::to_string(percent) + "%)";
}

api::Progress progress_of(const ReassignmentObservation& seen, const Tally& tally) {
  api::Progress out;
  out.total = tally.total;
  out.completed = tally.completed + tally.completed_first;
  out.in_flight = tally.in_flight;
  out.restored = tally.restored;
  out.failed = tally.refused_count() + tally.changed_outside + tally.topic_deleted + tally.superseded + tally.lost;
  out.waiting = out.total - out.completed - out.in_flight - out.restored - out.failed;
  out.display = display(out.completed, out.total);
  for (const SentRequest& sent : seen.requests) {
    if (!sent.result || !sent.result->bytes) continue;
    out.bytes_moved = out.bytes_moved.value_or(0) + sent.result->bytes->moved;
    out.bytes_total = out.bytes_total.value_or(0) + sent.result->bytes->total;
  }
  return out;
}

std::vector<api::RequestRef> requests_of(const ReassignmentObservation& seen) {
  std::vector<api::RequestRef> out;
  for (auto it = seen.requests.rbegin(); it != seen.requests.rend() && out.size() < kMostRequestsShown; ++it) {
    api::RequestRef ref;
    ref.name = it->name;
    ref.czxid = it->czxid == 0 ? "" : "0x" + tree::hex(it->czxid);
    ref.partitions = static_cast<std::int64_t>(count(it->request->assignments));
    ref.done = it->done();
    if (!ref.name.empty()) out.push_back(std::move(ref));
  }
  return out;
}

std::vector<api::ProblemPartition> problems_of(const ReassignmentObservation& seen) {
  std::vector<api::ProblemPartition> out;
  for (auto it = seen.requests.rbegin(); it != seen.requests.rend(); ++it) {
    if (!it->result) continue;
    for (const tree::Problem& p : it->result->problems) {
      if (out.size() == kMostProblemsShown) return out;
      if (find(seen.cr.spec.assignments, p.tp) == nullptr) continue;
      std::string cause = p.cause;
      if (p.code) cause += " " + std::to_string(*p.code);
      out.push_back({p.tp.topic, p.tp.partition, to_text(p.current), to_text(p.target), to_text(p.originals),
                     to_text(p.isr), std::move(cause), p.if_cancelled});
    }
  }
  return out;
}

std::string start_of(const ReassignmentObservation& seen) {
  std::optional<WallTime> first;
  for (const SentRequest& sent : seen.requests)
    if (sent.attempt == seen.cr.spec.attempt && (!first || sent.sent < *first)) first = sent.sent;
  if (first) return rfc3339(*first);
  return seen.cr.status.start;
}

void fill_tree(const TreeView& tree, api::TreeInfo& out) {
  if (tree.controller) {
    out.kind = tree.controller->tree;
    out.controller = tree.controller->id;
    out.driver = tree.controller->driver;
  }
  if (tree.health == TreeHealth::kConnected) out.last_sync = rfc3339(tree.synced);
}

void set_conditions(const ReassignmentObservation& seen, const Verdict& v, WallTime now, api::ReassignmentStatus& out) {
  namespace c = api::condition;
  api::ConditionList list(seen.cr.status.conditions, seen.cr.meta.generation, now);
  list.set(c::kReady, v.ready ? Truth::kTrue : Truth::kFalse, v.reason, v.message);
  if (v.succeeded)
    list.set(c::kSucceeded, *v.succeeded ? Truth::kTrue : Truth::kFalse, v.reason, v.message);
  else
    list.set(c::kSucceeded, Truth::kUnknown, v.reason, v.message);
  const bool reconciling = v.reconciling && !v.stalled;
  list.set(c::kReconciling, reconciling ? Truth::kTrue : Truth::kFalse, v.reason, v.message);
  list.set(c::kStalled, v.stalled ? Truth::kTrue : Truth::kFalse, v.stalled ? v.reason : Reason::kNotStalled,
           v.stalled ? v.message : "Nobody is needed");
  if (v.accepted == Truth::kUnknown && seen.tree.health == TreeHealth::kUnreachable)
    list.keep(c::kAccepted);
  else
    list.set(c::kAccepted, v.accepted, v.accepted_reason, v.accepted_message);
  if (seen.cr.spec.approval == "Automatic")
    list.set(c::kApproved, Truth::kTrue, Reason::kAutomatic, "approval is Automatic; nothing to do");
  else
    list.set(c::kApproved, Truth::kFalse, Reason::kWaitingForApproval,
             "approval is " + seen.cr.spec.approval + ", which this release cannot wait for; set it to Automatic");
  switch (seen.tree.health) {
    case TreeHealth::kStarting: list.keep(c::kClusterReachable); break;
    case TreeHealth::kConnected:
      list.set(c::kClusterReachable, Truth::kTrue, Reason::kConnected, "The tree in ZooKeeper is read; nothing to do");
      break;
    case TreeHealth::kUnreachable:
      list.set(c::kClusterReachable, Truth::kFalse, Reason::kClusterUnreachable,
               seen.tree.trouble + "; do not trust the rest until this is True again: check ZooKeeper and the network");
      break;
  }
  if (seen.cr.spec.suspend)
    list.set(c::kSuspended, Truth::kTrue, Reason::kSuspended,
             "suspend is true, and nothing is started; this release cannot resume it: set it to false");
  else
    list.set(c::kSuspended, Truth::kFalse, Reason::kNotSuspended, "suspend is false; nothing to do");
  out.conditions = list.take();
}

std::string summary_of(const api::ReassignmentStatus& status, const Verdict& v) {
  std::string out;
  if (v.stalled && !v.since.empty())
    out = "Stalled since " + v.since + ": ";
  else
    out = std::string(v.phase) + ": ";
  if (status.progress.total > 0)
    out += std::to_string(status.progress.completed) + "/" + std::to_string(status.progress.total) + " completed; ";
  out += v.message;
  if (out.size() > kMostSummary) {
    out.resize(kMostSummary - 3);
    out += "...";
  }
  return out;
}

}  // namespace

Verdict ended_well() {
  Verdict v;
  v.phase = api::phase::kSucceeded;
  v.reason = Reason::kAllReplicasVerified;
  v.message = "Every partition was read back at its target, in order and in sync; nothing to do";
  v.ready = true;
  v.succeeded = true;
  v.reconciling = false;
  v.accepted = Truth::kTrue;
  v.accepted_reason = Reason::kValid;
  v.accepted_message = "Allowed here, and all checks passed; nothing to do";
  return v;
}

Verdict ended_badly(std::string_view phase, Reason reason, std::string message) {
  Verdict v;
  v.phase = phase;
  v.reason = reason;
  v.message = std::move(message);
  v.succeeded = false;
  v.stalled = true;
  v.reconciling = false;
  return v;
}

Verdict under_way(std::string_view phase, Reason reason, std::string message) {
  Verdict v;
  v.phase = phase;
  v.reason = reason;
  v.message = std::move(message);
  return v;
}

std::string clock_text(WallTime time) { return rfc3339(time).substr(11); }

LastProgress last_progress(const std::vector<SentRequest>& requests) {
  LastProgress out;
  for (const SentRequest& sent : requests) {
    out.at = std::max(out.at, sent.sent);
    if (!sent.result) continue;
    if (const auto received = parse_rfc3339(sent.result->received)) out.at = std::max(out.at, *received);
    const auto told = parse_rfc3339(sent.result->last_progress);
    if (told && (!out.told || *out.told < *told)) out.told = told;
  }
  if (out.told) out.at = std::max(out.at, *out.told);
  return out;
}

api::ReassignmentStatus project(const ReassignmentObservation& seen, const Verdict& verdict, const Tally* tally,
                                WallTime now) {
  const api::ReassignmentStatus& before = seen.cr.status;
  api::ReassignmentStatus out;
  out.observed_generation = seen.cr.meta.generation;
  out.phase = verdict.phase;
  if (seen.cr.spec.problem.empty() && !seen.cr.spec.assignments.empty()) {
    // An unchanged generation has an unchanged plan: a large one is not hashed at every look.
    const bool known = before.observed_generation == seen.cr.meta.generation && !before.plan_hash.empty();
    out.plan_hash = known ? before.plan_hash : api::plan_hash(seen.cr.spec.assignments);
  }
  out.tree = before.tree;
  if (tally != nullptr) {
    out.progress = progress_of(seen, *tally);
    out.requests = requests_of(seen);
    out.problems = problems_of(seen);
    out.start = start_of(seen);
    const auto progress = last_progress(seen.requests);
    if (progress.told) out.last_progress = rfc3339(*progress.told);
    fill_tree(seen.tree, out.tree);
  } else if (!before.phase.empty()) {
    out.progress = before.progress;
    out.requests = before.requests;
    out.problems = before.problems;
    out.start = before.start;
    out.last_progress = before.last_progress;
  } else {
    out.progress.total = static_cast<std::int64_t>(count(seen.cr.spec.assignments));
    out.progress.waiting = out.progress.total;
    out.progress.display = display(0, out.progress.total);
  }
  if (api::phase::final(verdict.phase)) {
    const bool already = before.observed_generation == out.observed_generation && before.phase == verdict.phase &&
                         !before.completion.empty();
    out.completion = already ? before.completion : rfc3339(now);
    out.problems.clear();
  }
  set_conditions(seen, verdict, now, out);
  out.summary = summary_of(out, verdict);
  return out;
}

}  // namespace kro::decide
