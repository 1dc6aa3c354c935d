#pragma once

#include "domain/topic_partition.h"

namespace kro {

// What is known of one partition when its target is about to change in flight.
struct ChangeInFlight {
  ReplicaList assigned;  // all replicas that it has now, adding and removing ones included
  ReplicaList isr;
  BrokerId leader = -1;   // -1: none
  ReplicaList originals;  // of the episode, in order
  std::size_t top = 0;    // number of originals at the start of the episode
  ReplicaList target;     // the new one
};

// Replicas that may be stopped at once when the target changes.
//
// existing = dedup([leader] ++ originals in the ISR ++ other assigned in the ISR ++ originals not in the ISR ++ other
// assigned); drop = assigned − (target ∪ the first `top` of existing). KIP-236 writes existing[0:top-1], inclusive,
// and forgets the target; this form gives its whole table.
ReplicaList drop_set(const ChangeInFlight& change);

// Replicas that must be kept although Kafka (≥ 2.4) would stop them at once: it keeps originals and target only.
// Empty: the target can be submitted as it is. Otherwise it needs an intermediate step.
ReplicaList keep_set(const ChangeInFlight& change);

}  // namespace kro
