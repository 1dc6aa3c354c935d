#pragma once

#include "decide/reassignment_observation.h"

namespace kro::decide {

// All rules for a KafkaReassignment: what it should say, and the next write to the tree, if any.
//
//   Pending ──▶ Running ──────────────▶ Succeeded | Failed
//      │           └─▶ Cancelling ────▶ Cancelled | PartiallyCancelled
//      └─▶ Failed (refused)
//
// Races: a spec edited between sending and acceptance sends a second request, and the controller starts only the
// newest that names a partition; a lost answer leaves the marker, or not, and the next look decides by it; a lock that
// comes between look and write makes the multi fail as a whole.
ReassignmentPlan decide_reassignment(const ReassignmentObservation& seen, const Policy& policy, WallTime now);

}  // namespace kro::decide
