#pragma once

#include <optional>
#include <string>

#include "decide/reassignment_observation.h"
#include "decide/reassignment_tally.h"

namespace kro::decide {

// What LedgerConflict tells a person to do, behind what was found.
inline constexpr std::string_view kMendConflict = "; give each operator its own operatorId, or remove the old ledger";

struct Cause {
  api::Reason reason = api::Reason::kPending;
  std::string message;
  std::optional<WallTime> since;
};

// How long a request may lie without a result, while a controller leads, before somebody should look.
inline constexpr auto kAnswerWithin = 30s;
// A change of leaders is no news.
inline constexpr auto kAbsentFor = 3s;

// Nobody has led for longer than a change of leaders takes (or nobody did when we first looked).
std::optional<Cause> controller_absent(const TreeView& tree, WallTime now);

// Why a resource that is not at its end does not get on: the causes of the on-call page in their order, one function
// each; the first that holds. nullopt: it gets on.
std::optional<Cause> find_cause(const ReassignmentObservation& seen, const Tally& tally, WallTime now);

// When the first of these would hold by the clock alone.
std::optional<WallTime> next_cause_at(const ReassignmentObservation& seen, const Tally& tally, WallTime now);

}  // namespace kro::decide
