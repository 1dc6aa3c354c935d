#include "decide/reassignment_checks.h"

#include <algorithm>

namespace kro::decide {
namespace {

using api::Reason;

// The first field that is set to something whose mechanism is not built; empty: none.
std::string unbuilt_field(const api::ReassignmentSpec& spec) {
  if (!spec.rollback_of.empty()) return "rollbackOf";
  if (spec.suspend) return "suspend: true";
  if (spec.dry_run) return "dryRun: true";
  if (spec.approval != "Automatic") return "approval: Manual";
  if (!spec.approved_plan.empty()) return "approvedPlan";
  if (spec.max_in_flight_per_broker != 0) return "maxInFlightPerBroker";
  if (spec.throttle) return "throttle";
  if (!spec.deadline.empty()) return "deadline";
  if (parse_duration(spec.stall_after) != seconds(30min)) return "stallAfter other than 30m";
  if (spec.deletion_policy != "Orphan") return "deletionPolicy: " + spec.deletion_policy;
  return {};
}

template <class Cr>
std::optional<Refusal> refuse_place(const Cr& cr, const Policy& policy) {
  if (!policy.cluster_known)
    return Refusal{Reason::kClusterNotFound,
                   "cluster " + cr.spec.cluster +
                       " is not in the operator's configuration; ask its administrator to add it, or name another",
                   true};
  const auto& allowed = policy.allowed_namespaces;
  if (std::find(allowed.begin(), allowed.end(), cr.meta.ns) == allowed.end())
    return Refusal{Reason::kNamespaceNotAllowed,
                   "namespace " + cr.meta.ns + " is not among allowedNamespaces of cluster " + cr.spec.cluster +
                       "; ask the operator's administrator to add it",
                   true};
  return std::nullopt;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool topic_allowed(const std::vector<std::string>& patterns, std::string_view topic) {
  const bool internal = internal_topic(topic);
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return internal ? pattern == topic : glob_match(pattern, topic);
  });
}

std::optional<Refusal> refuse(const api::KafkaReassignment& cr, const Policy& policy) {
  if (cr.meta.object_bytes > api::kMostObjectBytes)
    return Refusal{Reason::kPlanTooLarge,
                   "the object has " + std::to_string(cr.meta.object_bytes) +
                       " bytes, and only 1310720 can be kept; about 3,000 entries fit with kubectl apply, 13,000 to "
                       "18,000 with --server-side, 40,000 in assignments form: split the plan"};
  if (!cr.spec.problem.empty()) return Refusal{Reason::kInvalidSpec, cr.spec.problem + "; correct the spec"};
  if (cr.spec.log_dirs)
    return Refusal{Reason::kLogDirsNotSupported,
                   "log_dirs names a directory, and moves between log directories are not supported yet; use \"any\""};
  if (const std::string field = unbuilt_field(cr.spec); !field.empty())
    return Refusal{Reason::kUnsupportedFeature,
                   field +
                       " is not supported by this release, and nothing is done without it; take it out, or upgrade "
                       "the operator"};
  if (auto place = refuse_place(cr, policy)) return place;
  for (const auto& [topic, partitions] : cr.spec.assignments)
    if (!topic_allowed(policy.allowed_topics, topic))
      return Refusal{Reason::kTopicNotAllowed,
                     "topic " + topic + " is not among allowedTopics of cluster " + cr.spec.cluster +
                         (internal_topic(topic) ? " (internal topics must be listed by name)" : "") +
                         "; ask the operator's administrator to add it",
                     true};
  return std::nullopt;
}

std::optional<Refusal> refuse(const api::KafkaReassignmentCancel& cr, const Policy& policy) {
  if (!cr.spec.problem.empty()) return Refusal{Reason::kInvalidSpec, cr.spec.problem + "; correct the spec"};
  if (!cr.spec.all)
    return Refusal{
        Reason::kUnsupportedFeature,
        std::string(cr.spec.reassignments ? "reassignments" : "partitions") +
            " is not supported by this release, and nothing is done; use all: true, or upgrade the operator"};
  return refuse_place(cr, policy);
}

}  // namespace kro::decide
