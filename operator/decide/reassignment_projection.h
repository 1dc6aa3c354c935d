#pragma once

#include <string>

#include "decide/reassignment_observation.h"
#include "decide/reassignment_tally.h"

namespace kro::decide {

// What is to be said of a resource, in a few words; the projection makes phase, conditions and texts of it.
struct Verdict {
  std::string_view phase;
  api::Reason reason = api::Reason::kPending;  // Ready's, and Reconciling's or Stalled's
  std::string message;                         // ends with what to do
  bool ready = false;
  std::optional<bool> succeeded;  // nullopt: it still runs
  bool stalled = false;           // a person is needed
  bool reconciling = true;        // never together with stalled
  api::Truth accepted = api::Truth::kUnknown;
  api::Reason accepted_reason = api::Reason::kPending;
  std::string accepted_message;
  std::string since;  // absolute, for a stalled one
};

Verdict ended_well();
Verdict ended_badly(std::string_view phase, api::Reason reason, std::string message);
Verdict under_way(std::string_view phase, api::Reason reason, std::string message);

// The whole status. `tally` nullptr: the tree was not looked at for this resource; what was said of progress stays.
api::ReassignmentStatus project(const ReassignmentObservation& seen, const Verdict& verdict, const Tally* tally,
                                WallTime now);

// When a partition last finished, joined an ISR or grew; before that, when the first request was accepted or sent.
struct LastProgress {
  std::optional<WallTime> told;  // by a controller
  WallTime at{};                 // `told`, or what stands in for it
};
LastProgress last_progress(const std::vector<SentRequest>& requests);

// "01:52:07Z"
std::string clock_text(WallTime time);

}  // namespace kro::decide
