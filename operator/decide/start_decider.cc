#include "decide/start_decider.h"

#include <algorithm>
#include <set>

#include "domain/drop_set.h"
#include "tree/limits.h"
#include "tree/paths.h"

namespace kro::decide {
namespace {

constexpr std::string_view kHoldingUnhealthy = "ClusterUnhealthy";
constexpr std::string_view kHoldingDropSet = "DropSet";

struct Candidate {
  const std::string* result_name;
  const AcceptedRequest* request;
  TopicPartition tp;
  const ReplicaList* target;
};

// Counts what is in flight against the three windows: the controller's, a request's and a broker's.
class Slots {
 public:
  Slots(const ControllerModel& model, const KafkaView& view, const StartLimits& limits) : limits_(limits) {
    for (const auto& [tp, episode] : model.in_flight) {
      if (episode.data.ended) continue;
      ++total_;
      ++per_request_[episode.data.request];
      const auto* partition = view.metadata.find(tp);
      take_brokers(episode.data.assignment, episode.data.originals, partition == nullptr ? -1 : partition->leader);
    }
  }

  bool free_for(const Candidate& c, const ReplicaList& current, BrokerId leader, bool retarget) const {
    const tree::Request& r = c.request->request;
    if (!retarget && limits_.max_in_flight > 0 && total_ >= limits_.max_in_flight) return false;
    const auto in_request = per_request_.find(*c.result_name);
    const std::size_t used = in_request == per_request_.end() ? 0 : in_request->second;
    if (r.max_in_flight > 0 && used >= static_cast<std::size_t>(r.max_in_flight)) return false;
    for (const std::size_t most :
         {limits_.max_in_flight_per_broker, static_cast<std::size_t>(r.max_in_flight_per_broker)}) {
      if (most == 0) continue;
      for (const BrokerId id : brokers(*c.target, current, leader)) {
        const auto it = per_broker_.find(id);
        if (it != per_broker_.end() && it->second >= most) return false;
      }
    }
    return true;
  }

  void take(const Candidate& c, const ReplicaList& current, BrokerId leader, bool retarget) {
    if (!retarget) ++total_;
    ++per_request_[*c.result_name];
    take_brokers(*c.target, current, leader);
  }

 private:
  // A move counts for every broker that gains or feeds a replica.
  static std::set<BrokerId> brokers(const ReplicaList& target, const ReplicaList& current, BrokerId leader) {
    const ReplicaList adding = without(target, current);
    std::set<BrokerId> out(adding.begin(), adding.end());
    if (!adding.empty() && leader >= 0) out.insert(leader);
    return out;
  }
  void take_brokers(const ReplicaList& target, const ReplicaList& current, BrokerId leader) {
    for (const BrokerId id : brokers(target, current, leader)) ++per_broker_[id];
  }

  const StartLimits& limits_;
  std::size_t total_ = 0;
  std::map<std::string, std::size_t, std::less<>> per_request_;
  std::map<BrokerId, std::size_t> per_broker_;
};

// The candidates of one client, in sequence order.
using ClientQueue = std::vector<Candidate>;

std::vector<ClientQueue> candidates_by_client(const ControllerModel& model) {
  std::vector<std::pair<const std::string*, const AcceptedRequest*>> ordered;
  for (const auto& [name, request] : model.requests)
    if (!request.waiting.empty()) ordered.emplace_back(&name, &request);
  const tree::SequenceOrder before{ordered.empty() ? 0 : ordered.front().second->sequence};
  std::sort(ordered.begin(), ordered.end(),
            [&](const auto& a, const auto& b) { return before(a.second->sequence, b.second->sequence); });

  // Later requests win: walk backwards and remember what was seen.
  std::map<TopicPartition, const AcceptedRequest*> newest;
  for (auto it = ordered.rbegin(); it != ordered.rend(); ++it)
    for (const auto& [topic, partitions] : it->second->waiting)
      for (const auto& [partition, replicas] : partitions) newest.emplace(TopicPartition{topic, partition}, it->second);

  std::vector<ClientQueue> queues;
  std::map<std::string, std::size_t> index;
  for (const auto& [name, request] : ordered) {
    // A plain KIP request has no client: each is one of its own.
    const std::string& client = request->result.client.empty() ? *name : request->result.client;
    const auto [at, fresh] = index.emplace(client, queues.size());
    if (fresh) queues.emplace_back();
    for (const auto& [topic, partitions] : request->waiting)
      for (const auto& [partition, replicas] : partitions)
        if (TopicPartition tp{topic, partition}; newest.at(tp) == request)
          queues[at->second].push_back({name, request, std::move(tp), &replicas});
  }
  return queues;
}

tree::Reassignment new_episode(const Candidate& c, const ReplicaList& originals, const KafkaTopic& topic) {
  tree::Reassignment out;
  out.top = static_cast<std::int32_t>(originals.size());
  out.assignment = *c.target;
  out.originals = originals;
  out.legacy = c.request->request.legacy;
  out.request = *c.result_name;
  out.topic_id = topic.id;
  return out;
}

tree::Reassignment retargeted(const Candidate& c, const tree::Reassignment& running) {
  tree::Reassignment out = running;
  out.earlier.insert(out.earlier.begin(), running.assignment);
  if (out.earlier.size() > tree::kMostEarlierTargets) out.earlier.resize(tree::kMostEarlierTargets);
  out.assignment = *c.target;
  out.request = *c.result_name;
  return out;
}

// The rules of 4.3.1 for one candidate. nullopt: it waits, with `hold` saying for what (or empty: for a slot).
class Decider {
 public:
  Decider(const ControllerModel& model, const KafkaView& view, const StartLimits& limits)
      : model_(model), view_(view), slots_(model, view, limits), unhealthy_(cluster_unhealthy(model, view)) {}

  std::optional<StartStep> decide(const Candidate& c, std::string& hold) {
    if (model_.uncertain.contains(c.tp)) return std::nullopt;
    StartStep step{StartStep::What::kCreate, c.tp, *c.result_name, {}};
    const auto topic = view_.metadata.topics.find(c.tp.topic);
    const auto* partition = view_.metadata.find(c.tp);
    if (partition == nullptr || other_topic(c, topic->second)) {
      if (view_.listed(c.tp)) return std::nullopt;  // Metadata lags
      step.what = StartStep::What::kTopicDeleted;
      return step;
    }
    const auto episode = model_.in_flight.find(c.tp);
    if (episode != model_.in_flight.end() && !episode->second.data.ended)
      return in_flight(c, episode->second, *partition, step, hold);

    const ReplicaList* originals = find(c.request->originals.originals, c.tp);
    if (originals == nullptr || view_.listed(c.tp) || partition->replicas != *originals) {
      step.what = StartStep::What::kChangedOutside;
      return step;
    }
    if (partition->replicas == *c.target && subset(*c.target, partition->isr)) {
      step.what = StartStep::What::kCompleted;
      return step;
    }
    if (gate_shut(c, hold)) return std::nullopt;
    if (!slots_.free_for(c, partition->replicas, partition->leader, false)) return std::nullopt;
    slots_.take(c, partition->replicas, partition->leader, false);
    step.episode = new_episode(c, *originals, topic->second);
    return step;
  }

 private:
  bool other_topic(const Candidate& c, const KafkaTopic& topic) const {
    const auto id = c.request->originals.topic_ids.find(c.tp.topic);
    return id != c.request->originals.topic_ids.end() && !topic.id.empty() && id->second != topic.id;
  }

  bool gate_shut(const Candidate& c, std::string& hold) const {
    if (!c.request->request.health_gate || !unhealthy_) return false;
    hold = kHoldingUnhealthy;
    return true;
  }

  std::optional<StartStep> in_flight(const Candidate& c, const Episode& episode, const KafkaPartition& partition,
                                     StartStep& step, std::string& hold) {
    if (episode.data.rolling_back()) return std::nullopt;
    if (episode.data.assignment == *c.target) {
      step.what = StartStep::What::kJoin;
      return step;
    }
    if (gate_shut(c, hold)) return std::nullopt;
    const ChangeInFlight change{partition.replicas,
                                partition.isr,
                                partition.leader,
                                episode.data.originals,
                                static_cast<std::size_t>(episode.data.top),
                                *c.target};
    if (!keep_set(change).empty()) {
      hold = kHoldingDropSet;
      return std::nullopt;
    }
    if (!slots_.free_for(c, partition.replicas, partition.leader, true)) return std::nullopt;
    slots_.take(c, partition.replicas, partition.leader, true);
    step.what = StartStep::What::kRetarget;
    step.episode = retargeted(c, episode.data);
    return step;
  }

  const ControllerModel& model_;
  const KafkaView& view_;
  Slots slots_;
  bool unhealthy_;
};

}  // namespace

bool cluster_unhealthy(const ControllerModel& model, const KafkaView& view) {
  for (const auto& [name, topic] : view.metadata.topics) {
    for (const auto& [number, partition] : topic.partitions) {
      if (partition.isr.size() >= partition.replicas.size()) continue;
      const TopicPartition tp{name, number};
      if (!model.in_flight.contains(tp) && !view.listed(tp)) return true;
    }
  }
  return false;
}

StartPlan decide_start(const ControllerModel& model, const KafkaView& view, const StartLimits& limits) {
  StartPlan plan;
  for (const auto& [name, request] : model.requests)
    if (!request.waiting.empty()) plan.holding[name] = {};

  std::vector<ClientQueue> queues = candidates_by_client(model);
  Decider decider(model, view, limits);
  std::vector<std::size_t> next(queues.size(), 0);
  bool more = true;
  while (more && plan.steps.size() < limits.batch) {
    more = false;
    for (std::size_t q = 0; q < queues.size() && plan.steps.size() < limits.batch; ++q) {
      // A candidate that cannot start holds nobody up: the next one of the same client is tried at once.
      while (next[q] < queues[q].size()) {
        const Candidate& candidate = queues[q][next[q]++];
        std::string hold;
        auto step = decider.decide(candidate, hold);
        if (!hold.empty()) plan.holding[*candidate.result_name] = hold;
        if (!step) continue;
        plan.steps.push_back(std::move(*step));
        more = true;
        break;
      }
    }
  }
  return plan;
}

}  // namespace kro::decide
