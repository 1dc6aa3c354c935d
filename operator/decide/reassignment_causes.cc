#include "decide/reassignment_causes.h"

#include <algorithm>
#include <set>

#include "decide/reassignment_projection.h"

namespace kro::decide {
namespace {

using api::Reason;

std::optional<WallTime> oldest_unanswered(const ReassignmentObservation& seen) {
  std::optional<WallTime> out;
  for (const SentRequest& sent : seen.requests)
    if (!sent.result && !sent.lost && (!out || sent.sent < *out)) out = sent.sent;
  return out;
}

std::optional<Cause> controller_silent(const ReassignmentObservation& seen, WallTime now) {
  const auto oldest = oldest_unanswered(seen);
  if (!oldest || !seen.tree.controller) return std::nullopt;
  const WallTime since = std::max(*oldest, seen.tree.controller_since);
  if (now - since < kAnswerWithin) return std::nullopt;
  return Cause{Reason::kControllerNotResponding,
               "a request sent at " + clock_text(*oldest) + " has no result, though controller " +
                   seen.tree.controller->id + " leads; look at its log",
               since};
}

std::optional<Cause> locked(const ReassignmentObservation& seen) {
  if (!seen.tree.lock) return std::nullopt;
  const LockView& lock = *seen.tree.lock;
  const std::string whose = lock.owner.empty() ? "a person or a tool" : "operator " + lock.owner;
  return Cause{Reason::kLocked,
               "the cancel lock of " + whose + " stands since " + clock_text(lock.created) +
                   ", and nothing starts; delete the KafkaReassignmentCancel (or remove the lock) to go on",
               lock.created};
}

std::optional<WallTime> since_of(const tree::Problem& problem) { return parse_rfc3339(problem.since); }

struct ProblemGroup {
  std::int64_t count = 0;
  std::set<BrokerId> brokers;
  TopicPartition example;
  std::optional<WallTime> since;
  std::optional<std::int16_t> code;
};

ProblemGroup group(const ReassignmentObservation& seen, std::string_view cause) {
  ProblemGroup out;
  for (const SentRequest& sent : seen.requests) {
    if (!sent.result || sent.result->done) continue;
    for (const tree::Problem& p : sent.result->problems) {
      if (p.cause != cause) continue;
      if (out.count++ == 0) out.example = p.tp;
      out.brokers.insert(p.brokers.begin(), p.brokers.end());
      if (p.code) out.code = p.code;
      const auto since = since_of(p);
      if (since && (!out.since || *since < *out.since)) out.since = since;
    }
  }
  return out;
}

std::string broker_list(const std::set<BrokerId>& brokers) {
  std::string out = brokers.size() == 1 ? "broker " : "brokers ";
  bool first = true;
  for (const BrokerId id : brokers) {
    if (!first) out += ", ";
    out += std::to_string(id);
    first = false;
  }
  return out;
}

std::string restorable(const ReassignmentObservation& seen) {
  std::int64_t restorable = 0, refused = 0;
  for (const SentRequest& sent : seen.requests) {
    if (!sent.result || sent.result->done || !sent.result->if_cancelled) continue;
    restorable += sent.result->if_cancelled->restorable;
    refused += sent.result->if_cancelled->refused;
  }
  if (restorable + refused == 0) return {};
  return " (" + std::to_string(restorable) + " of " + std::to_string(restorable + refused) + " would be restored, " +
         std::to_string(refused) + " would not)";
}

std::string of_in_flight(const ProblemGroup& g, const Tally& tally) {
  return std::to_string(g.count) + " of " + std::to_string(tally.in_flight) + " in flight";
}

std::optional<Cause> broker_down(const ReassignmentObservation& seen, const Tally& tally) {
  const ProblemGroup g = group(seen, "TargetBrokerDown");
  if (g.count == 0) return std::nullopt;
  const bool one = g.brokers.size() == 1;
  return Cause{Reason::kTargetBrokerDown,
               broker_list(g.brokers) + (one ? " is" : " are") + " not registered, " + of_in_flight(g, tally) +
                   " wait for " + (one ? "it" : "them") + "; bring " + (one ? "it" : "them") +
                   " back, or apply a KafkaReassignmentCancel" + restorable(seen),
               g.since};
}

std::optional<Cause> no_leader(const ReassignmentObservation& seen, const Tally& tally) {
  const ProblemGroup g = group(seen, "NoLeader");
  if (g.count == 0) return std::nullopt;
  return Cause{
      Reason::kNoLeader,
      g.example.text() + " has no leader (" + of_in_flight(g, tally) + " wait for one); bring a broker of its ISR back",
      g.since};
}

std::optional<Cause> not_in_sync(const ReassignmentObservation& seen, const Tally& tally) {
  const ProblemGroup g = group(seen, "ReplicaNotInSync");
  if (g.count == 0) return std::nullopt;
  return Cause{Reason::kReplicaNotInSync,
               g.example.text() + " has a new replica that neither joins the ISR nor grows though " +
                   broker_list(g.brokers) + " runs (" + of_in_flight(g, tally) +
                   "); look at the replication throttle, and at that broker's disk and log",
               g.since};
}

std::optional<Cause> kafka_error(const ReassignmentObservation& seen, const Tally& tally) {
  const ProblemGroup g = group(seen, "KafkaError");
  if (g.count == 0) return std::nullopt;
  return Cause{Reason::kKafkaError,
               "Kafka refuses " + g.example.text() + " with error " + std::to_string(g.code.value_or(-1)) + " (" +
                   of_in_flight(g, tally) + "), and is asked again; look at the controller's log",
               g.since};
}

std::optional<WallTime> stalls_at(const ReassignmentObservation& seen, const Tally& tally) {
  if (tally.in_flight == 0) return std::nullopt;
  const auto after = parse_duration(seen.cr.spec.stall_after);
  return last_progress(seen.requests).at + (after ? *after : seconds(30min));
}

std::optional<Cause> no_progress(const ReassignmentObservation& seen, const Tally& tally, WallTime now) {
  const auto at = stalls_at(seen, tally);
  if (!at || now < *at) return std::nullopt;
  const WallTime last = last_progress(seen.requests).at;
  return Cause{Reason::kNoProgress,
               "nothing moved since " + clock_text(last) + " (stallAfter " + seen.cr.spec.stall_after +
                   "); look at the throttle and at the brokers, or apply a KafkaReassignmentCancel" + restorable(seen),
               last};
}

}  // namespace

std::optional<Cause> controller_absent(const TreeView& tree, WallTime now) {
  if (tree.controller || !tree.controller_absent_since) return std::nullopt;
  if (!tree.controller_never_seen && now - *tree.controller_absent_since < kAbsentFor) return std::nullopt;
  const std::string at = clock_text(*tree.controller_absent_since);
  return Cause{Reason::kControllerAbsent,
               std::string("no kafka-reassignment-controller leads this cluster (") +
                   (tree.controller_never_seen ? "none did at " : "the last one left at ") + at +
                   "); start it, or look at its log",
               tree.controller_absent_since};
}

std::optional<Cause> find_cause(const ReassignmentObservation& seen, const Tally& tally, WallTime now) {
  if (auto cause = controller_absent(seen.tree, now)) return cause;
  if (auto cause = controller_silent(seen, now)) return cause;
  if (auto cause = locked(seen)) return cause;
  if (auto cause = broker_down(seen, tally)) return cause;
  if (auto cause = no_leader(seen, tally)) return cause;
  if (auto cause = not_in_sync(seen, tally)) return cause;
  if (auto cause = kafka_error(seen, tally)) return cause;
  return no_progress(seen, tally, now);
}

std::optional<WallTime> next_cause_at(const ReassignmentObservation& seen, const Tally& tally, WallTime now) {
  std::optional<WallTime> out;
  const auto consider = [&](std::optional<WallTime> at) {
    if (at && *at > now && (!out || *at < *out)) out = at;
  };
  if (!seen.tree.controller && seen.tree.controller_absent_since)
    consider(*seen.tree.controller_absent_since + kAbsentFor);
  if (const auto oldest = oldest_unanswered(seen); oldest && seen.tree.controller)
    consider(std::max(*oldest, seen.tree.controller_since) + kAnswerWithin);
  consider(stalls_at(seen, tally));
  return out;
}

}  // namespace kro::decide
