#include "decide/reassignment_requests.h"

#include <algorithm>

#include "decide/acceptance_decider.h"
#include "tree/limits.h"

namespace kro::decide {
namespace {

// Room for everything that is not assignments: client, checks, limits.
constexpr std::size_t kOptionBytes = 2048;

constexpr std::string_view kNamedChecks[] = {check::kReplicationFactorChange, check::kInternalTopics,
                                             check::kUnderReplicated, check::kNoLeader, check::kRackSpread};

bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::size_t digits(std::int64_t n) {
  std::size_t out = 1;
  for (; n > 9; n /= 10) ++out;
  return out;
}

// "0":[1,2,3],
std::size_t entry_bytes(PartitionId partition, const ReplicaList& replicas) {
  std::size_t out = digits(partition) + 6;
  for (const BrokerId id : replicas) out += digits(id) + 1;
  return out;
}

}  // namespace

tree::Request request_options(const api::KafkaReassignment& cr, const Policy& policy) {
  tree::Request out;
  out.client = policy.operator_id + "/" + cr.meta.uid;
  for (const std::string_view name : kNamedChecks)
    if (!names(cr.spec.allow, name)) out.check.emplace_back(name);
  if (cr.spec.conflict_policy == "Wait") out.check.emplace_back(check::kPartitionsBusy);
  if (names(cr.spec.allow, check::kMinInsyncReplicas)) out.allow.emplace_back(check::kMinInsyncReplicas);
  out.max_in_flight = cr.spec.max_in_flight;
  out.health_gate = cr.spec.health_gate;
  return out;
}

std::vector<Assignments> cut_for_requests(const Assignments& whole) {
  constexpr std::size_t kMostBytes = tree::kMostRequestBytes - kOptionBytes;
  std::vector<Assignments> out;
  std::size_t partitions = 0, bytes = 0;
  for (const auto& [topic, entries] : whole) {
    std::map<PartitionId, ReplicaList>* here = nullptr;
    for (const auto& [partition, replicas] : entries) {
      const std::size_t more = entry_bytes(partition, replicas) + (here == nullptr ? topic.size() + 6 : 0);
      if (out.empty() || partitions == tree::kMostPartitionsPerRequest || bytes + more > kMostBytes) {
        out.emplace_back();
        here = nullptr;
        partitions = 0;
        bytes = 0;
      }
      if (here == nullptr) {
        here = &out.back()[topic];
        bytes += topic.size() + 6;
      }
      here->emplace_hint(here->end(), partition, replicas);
      ++partitions;
      bytes += entry_bytes(partition, replicas);
    }
  }
  return out;
}

std::vector<std::string> missing_features(const tree::Request& request, const TreeView& tree) {
  std::vector<std::string> wanted = {"client", "max_in_flight"};
  if (request.health_gate) wanted.emplace_back("health_gate");
  if (request.dry_run) wanted.emplace_back("dry_run");
  if (request.all_or_nothing) wanted.emplace_back("all_or_nothing");
  if (!request.check.empty()) wanted.emplace_back("check");
  if (!request.allow.empty()) wanted.emplace_back("allow");
  wanted.insert(wanted.end(), request.check.begin(), request.check.end());
  wanted.insert(wanted.end(), request.allow.begin(), request.allow.end());
  std::erase_if(wanted, [&](const std::string& name) {
    return tree.controller ? names(tree.controller->features, name) : controller_features().has(name);
  });
  return wanted;
}

}  // namespace kro::decide
