#pragma once

#include <string_view>
#include <vector>

#include "decide/controller_model.h"
#include "decide/kafka_view.h"

namespace kro::decide {

// The checks of znodes.md 4.2.3. The names are reasons in results and, below kNamed, keys of "check".
namespace check {
inline constexpr std::string_view kUnknownTopicOrPartition = "UnknownTopicOrPartition";
inline constexpr std::string_view kTopicBeingDeleted = "TopicBeingDeleted";
inline constexpr std::string_view kBrokerNotAvailable = "BrokerNotAvailable";
inline constexpr std::string_view kLegacyConflict = "LegacyConflict";
inline constexpr std::string_view kForeignMove = "ForeignMove";
inline constexpr std::string_view kCancelRequested = "CancelRequested";
inline constexpr std::string_view kMinInsyncReplicas = "MinInsyncReplicas";
inline constexpr std::string_view kReplicationFactorChange = "ReplicationFactorChange";
inline constexpr std::string_view kInternalTopics = "InternalTopics";
inline constexpr std::string_view kUnderReplicated = "UnderReplicated";
inline constexpr std::string_view kNoLeader = "NoLeader";
inline constexpr std::string_view kRackSpread = "RackSpread";
inline constexpr std::string_view kPartitionsBusy = "PartitionsBusy";
inline constexpr std::string_view kNotAllAccepted = "NotAllAccepted";
}  // namespace check

// What this controller executes: what it publishes, and refuses everything else by.
const tree::Features& controller_features();

struct Acceptance {
  tree::RequestResult result;  // as it is created: with "done" for a dry run or when nothing was accepted
  tree::Originals originals;   // of every accepted partition
};

// Decides one request, once (znodes.md 4.2). Per partition the checks run in the order of the list above; the first
// that fails is its reason. `view` was read after the request, and covers its topics and their min.insync.replicas.
Acceptance decide_acceptance(const tree::Request& request, const ControllerModel& model, const KafkaView& view);

}  // namespace kro::decide
