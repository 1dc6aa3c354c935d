#include "api/conditions.h"

namespace kro::api {
namespace {

std::string_view text(Truth truth) {
  switch (truth) {
    case Truth::kTrue: return "True";
    case Truth::kFalse: return "False";
    case Truth::kUnknown: break;
  }
  return "Unknown";
}

}  // namespace

const Condition* find(const std::vector<Condition>& list, std::string_view type) {
  for (const Condition& condition : list)
    if (condition.type == type) return &condition;
  return nullptr;
}

void ConditionList::set(std::string_view type, Truth truth, Reason reason, std::string message) {
  Condition out;
  out.type = type;
  out.status = text(truth);
  out.reason = to_string(reason);
  out.message = std::move(message);
  out.observed_generation = generation_;
  const Condition* const old = find(before_, type);
  // The server's default for a fresh object dates from 1970: that is no transition anybody saw.
  const bool real = old != nullptr && !old->last_transition.starts_with("1970-");
  out.last_transition = real && old->status == out.status ? old->last_transition : rfc3339(now_);
  out_.push_back(std::move(out));
}

void ConditionList::keep(std::string_view type) {
  const Condition* const old = find(before_, type);
  if (old == nullptr) {
    set(type, Truth::kUnknown, Reason::kPending, "Not looked at yet; wait");
    return;
  }
  out_.push_back(*old);
  if (out_.back().last_transition.starts_with("1970-")) out_.back().last_transition = rfc3339(now_);
}

}  // namespace kro::api
