#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "decide/reassignment_observation.h"

namespace kro::decide {

struct Refusal {
  api::Reason reason = api::Reason::kInvalidSpec;
  std::string message;    // ends with what to do
  bool liftable = false;  // the operator's configuration may change: Pending and Stalled, not Failed
};

// Everything that can be said without the tree: the schema again, what is not built yet, sizes, and what the
// configuration allows. nullopt: nothing against it.
std::optional<Refusal> refuse(const api::KafkaReassignment& cr, const Policy& policy);
std::optional<Refusal> refuse(const api::KafkaReassignmentCancel& cr, const Policy& policy);

// '*' any text, '?' one character, everything else itself.
bool glob_match(std::string_view pattern, std::string_view text);
// An internal topic needs a pattern that is its very name.
bool topic_allowed(const std::vector<std::string>& patterns, std::string_view topic);

}  // namespace kro::decide
