#include "decide/controller_model.h"

#include <algorithm>

#include "tree/paths.h"

namespace kro::decide {

const AcceptedRequest* ControllerModel::newest_waiting(const TopicPartition& tp) const {
  const AcceptedRequest* newest = nullptr;
  for (const auto& [name, request] : requests) {
    if (find(request.waiting, tp) == nullptr) continue;
    if (newest == nullptr || tree::sequence_before(newest->sequence, request.sequence)) newest = &request;
  }
  return newest;
}

std::size_t ControllerModel::in_flight_count() const {
  return static_cast<std::size_t>(
      std::count_if(in_flight.begin(), in_flight.end(), [](const auto& e) { return !e.second.data.ended; }));
}

Assignments waiting_of(const AcceptedRequest& request, const std::string& result_name,
                       const std::map<TopicPartition, Episode>& in_flight) {
  Assignments out;
  for (const auto& [topic, partitions] : request.request.assignments) {
    for (const auto& [partition, replicas] : partitions) {
      const TopicPartition tp{topic, partition};
      if (!request.result.outcome_of(tp).empty() || contains(request.result.joined, tp)) continue;
      const auto episode = in_flight.find(tp);
      if (episode != in_flight.end() && episode->second.data.request == result_name) continue;
      out[topic].emplace(partition, replicas);
    }
  }
  return out;
}

}  // namespace kro::decide
