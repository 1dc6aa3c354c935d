#pragma once

#include <array>
#include <optional>
#include <string_view>

// Why a condition is as it is: a closed list (docs/runbook.md has a paragraph on each). One table makes enum and text.
// clang-format off
#define KRO_REASONS(X)                                                                                           \
  X(Pending) X(ClusterUnreachable) X(ControllerAbsent) X(ControllerNotResponding) X(Locked) X(PartitionsBusy)    \
  X(WaitingForApproval) X(Suspended) X(ClusterUnhealthy) X(Requested) X(Moving) X(TargetBrokerDown)              \
  X(ReplicaNotInSync) X(NoLeader) X(NoProgress) X(DeadlineExceeded) X(AllReplicasVerified) X(PlanPublished)      \
  X(InvalidSpec) X(UnsupportedFeature) X(PlanTooLarge) X(LogDirsNotSupported) X(ClusterNotFound)                 \
  X(NamespaceNotAllowed) X(TopicNotAllowed) X(RollbackSourceMissing) X(UnknownTopicOrPartition)                  \
  X(TopicBeingDeleted) X(BrokerNotAvailable) X(LegacyConflict) X(ForeignMove) X(MinInsyncReplicas)               \
  X(ReplicationFactorChange) X(InternalTopics) X(UnderReplicated) X(RackSpread) X(NotAllAccepted)                \
  X(MalformedRequest) X(ChangedOutside) X(Superseded) X(TopicDeleted) X(CancelRequested) X(AllRestored)          \
  X(PartlyRestored) X(NoOriginalInSync) X(LockHeldByOther) X(LockRemoved) X(AlreadyEnded) X(AlreadyStarted)      \
  X(KafkaError) X(AwaitingAcknowledgement) X(ResultLost) X(LedgerConflict) X(Orphaned)                           \
  X(Valid) X(Automatic) X(PlanApproved) X(NotSuspended) X(NotStalled) X(Connected)
// clang-format on

namespace kro::api {

enum class Reason {
#define KRO_REASON(name) k##name,
  KRO_REASONS(KRO_REASON)
#undef KRO_REASON
};

inline constexpr auto kReasonNames = std::to_array<std::string_view>({
#define KRO_REASON(name) #name,
    KRO_REASONS(KRO_REASON)
#undef KRO_REASON
});

constexpr std::string_view to_string(Reason reason) { return kReasonNames[static_cast<std::size_t>(reason)]; }

// A name that a controller sent; nullopt: it knows more than we do.
constexpr std::optional<Reason> parse_reason(std::string_view name) {
  for (std::size_t i = 0; i < kReasonNames.size(); ++i)
    if (kReasonNames[i] == name) return static_cast<Reason>(i);
  return std::nullopt;
}

}  // namespace kro::api
