#include "decide/acceptance_decider.h"

#include <algorithm>
#include <set>

namespace kro::decide {
namespace {

using Names = std::vector<std::string>;

bool names(const Names& list, std::string_view name) { return std::find(list.begin(), list.end(), name) != list.end(); }

// Everything that one partition's checks look at.
struct Case {
  const TopicPartition& tp;
  const ReplicaList& target;
  const tree::Request& request;
  const ControllerModel& model;
  const KafkaView& view;
  const KafkaTopic* topic = nullptr;
  const KafkaPartition* partition = nullptr;
  const Episode* episode = nullptr;
  ReplicaList originals;
};

bool unknown(const Case& c) { return c.partition == nullptr; }

bool being_deleted(const Case& c) { return c.model.topics_being_deleted.contains(c.tp.topic); }

bool broker_not_available(const Case& c) {
  return std::any_of(c.target.begin(), c.target.end(),
                     [&](BrokerId id) { return !c.view.alive(id) && !contains(c.partition->replicas, id); });
}

bool legacy_conflict(const Case& c) { return c.episode != nullptr && c.episode->data.legacy != c.request.legacy; }

bool foreign_move(const Case& c) { return c.episode == nullptr && c.view.listed(c.tp); }

bool cancel_requested(const Case& c) { return c.episode != nullptr && c.episode->data.rolling_back(); }

bool min_insync(const Case& c) {
  const std::size_t top = c.episode != nullptr ? static_cast<std::size_t>(c.episode->data.top) : c.originals.size();
  return top < c.view.min_insync(c.tp.topic);
}

bool replication_factor_change(const Case& c) { return c.target.size() != c.originals.size(); }

bool internal_topics(const Case& c) { return c.topic->internal || internal_topic(c.tp.topic); }

bool under_replicated(const Case& c) {
  const auto* row = c.view.running(c.tp);
  return std::any_of(c.partition->replicas.begin(), c.partition->replicas.end(), [&](BrokerId id) {
    return !(row != nullptr && contains(row->adding, id)) && !contains(c.partition->isr, id);
  });
}

bool no_leader(const Case& c) { return c.partition->leader < 0; }

// Brokers without a rack, or not alive, say nothing; where no rack is known there is nothing to spread over.
std::size_t racks(const ReplicaList& replicas, const KafkaView& view) {
  std::set<std::string> out;
  for (const BrokerId id : replicas) {
    const auto broker = view.metadata.brokers.find(id);
    if (broker != view.metadata.brokers.end() && !broker->second.rack.empty()) out.insert(broker->second.rack);
  }
  return out.size();
}

bool rack_spread(const Case& c) { return racks(c.target, c.view) < racks(c.originals, c.view); }

bool busy(const Case& c) {
  const auto others = [&](const AcceptedRequest& r) { return r.result.client != c.request.client; };
  if (c.episode != nullptr) {
    const auto owner = c.model.requests.find(c.episode->data.request);
    if (owner == c.model.requests.end() || others(owner->second)) return true;
  }
  return std::any_of(c.model.requests.begin(), c.model.requests.end(),
                     [&](const auto& r) { return others(r.second) && find(r.second.waiting, c.tp) != nullptr; });
}

struct Check {
  std::string_view name;
  bool (*fails)(const Case&);
  enum { kAlways, kUnlessAllowed, kWhenAsked } when;
};

constexpr Check kChecks[] = {
    {check::kUnknownTopicOrPartition, unknown, Check::kAlways},
    {check::kTopicBeingDeleted, being_deleted, Check::kAlways},
    {check::kBrokerNotAvailable, broker_not_available, Check::kAlways},
    {check::kLegacyConflict, legacy_conflict, Check::kAlways},
    {check::kForeignMove, foreign_move, Check::kAlways},
    {check::kCancelRequested, cancel_requested, Check::kAlways},
    {check::kMinInsyncReplicas, min_insync, Check::kUnlessAllowed},
    {check::kReplicationFactorChange, replication_factor_change, Check::kWhenAsked},
    {check::kInternalTopics, internal_topics, Check::kWhenAsked},
    {check::kUnderReplicated, under_replicated, Check::kWhenAsked},
    {check::kNoLeader, no_leader, Check::kWhenAsked},
    {check::kRackSpread, rack_spread, Check::kWhenAsked},
    {check::kPartitionsBusy, busy, Check::kWhenAsked},
};

// Empty: accepted.
std::string_view first_failing(const Case& c) {
  for (const Check& check : kChecks) {
    const bool wanted =
        check.when == Check::kAlways || (check.when == Check::kUnlessAllowed && !names(c.request.allow, check.name)) ||
        (check.when == Check::kWhenAsked && names(c.request.check, check.name) && !names(c.request.allow, check.name));
    if (wanted && check.fails(c)) return check.name;
  }
  return {};
}

Case make_case(const TopicPartition& tp, const ReplicaList& target, const tree::Request& request,
               const ControllerModel& model, const KafkaView& view) {
  Case c{tp, target, request, model, view, nullptr, nullptr, nullptr, {}};
  const auto topic = view.metadata.topics.find(tp.topic);
  if (topic != view.metadata.topics.end()) c.topic = &topic->second;
  c.partition = view.metadata.find(tp);
  const auto episode = model.in_flight.find(tp);
  if (episode != model.in_flight.end() && !episode->second.data.ended) c.episode = &episode->second;
  c.originals = c.episode != nullptr ? c.episode->data.originals : view.settled_replicas(tp);
  return c;
}

}  // namespace

const tree::Features& controller_features() {
  static const tree::Features features{
      {"assignments", "client", "check", "allow", "dry_run", "all_or_nothing", "max_in_flight",
       "max_in_flight_per_broker", "health_gate"},
      {std::string(check::kMinInsyncReplicas), std::string(check::kReplicationFactorChange),
       std::string(check::kInternalTopics), std::string(check::kUnderReplicated), std::string(check::kNoLeader),
       std::string(check::kRackSpread), std::string(check::kPartitionsBusy)}};
  return features;
}

Acceptance decide_acceptance(const tree::Request& request, const ControllerModel& model, const KafkaView& view) {
  Acceptance out;
  tree::RequestResult& result = out.result;
  result.client = request.client;
  result.received = rfc3339(view.begun.wall);
  result.partitions = static_cast<std::int32_t>(count(request.assignments));
  for (const auto& [topic, partitions] : request.assignments) {
    for (const auto& [partition, target] : partitions) {
      const TopicPartition tp{topic, partition};
      const Case c = make_case(tp, target, request, model, view);
      const std::string_view reason = first_failing(c);
      if (!reason.empty()) {
        insert(result.refused[std::string(reason)], tp);
        continue;
      }
      out.originals.originals[topic].emplace(partition, c.originals);
      if (!c.topic->id.empty()) out.originals.topic_ids.emplace(topic, c.topic->id);
    }
  }
  if (request.all_or_nothing && !result.refused.empty()) {
    auto& rest = result.refused[std::string(check::kNotAllAccepted)];
    for (const auto& [topic, partitions] : out.originals.originals)
      for (const auto& [partition, replicas] : partitions) insert(rest, {topic, partition});
    if (rest.empty()) result.refused.erase(std::string(check::kNotAllAccepted));
    out.originals = {};
  }
  const auto accepted = static_cast<std::int32_t>(count(out.originals.originals));
  result.done = request.dry_run || accepted == 0;
  result.waiting = result.done ? 0 : accepted;
  return out;
}

}  // namespace kro::decide
