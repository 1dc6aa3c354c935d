#include "api/types.h"

#include <algorithm>

namespace kro::api {

bool phase::final(std::string_view phase) {
  return phase == kSucceeded || phase == kFailed || phase == kCancelled || phase == kPartiallyCancelled;
}

bool ObjectMeta::has_finalizer() const {
  return std::find(finalizers.begin(), finalizers.end(), kFinalizer) != finalizers.end();
}

bool same(const ReassignmentStatus& a, const ReassignmentStatus& b) {
  return a.observed_generation == b.observed_generation && a.phase == b.phase && a.summary == b.summary &&
         a.plan_hash == b.plan_hash && a.progress == b.progress && a.start == b.start &&
         a.last_progress == b.last_progress && a.completion == b.completion && a.requests == b.requests &&
         a.problems == b.problems && a.tree.kind == b.tree.kind && a.tree.controller == b.tree.controller &&
         a.tree.driver == b.tree.driver && a.conditions == b.conditions;
}

bool same(const CancelStatus& a, const CancelStatus& b) {
  return a.observed_generation == b.observed_generation && a.phase == b.phase && a.scope == b.scope &&
         a.summary == b.summary && a.start == b.start && a.completion == b.completion && a.preview == b.preview &&
         a.progress == b.progress && a.lock == b.lock && a.problems == b.problems && a.conditions == b.conditions;
}

}  // namespace kro::api
