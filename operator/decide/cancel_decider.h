#pragma once

#include <optional>
#include <variant>

#include "decide/reassignment_observation.h"

namespace kro::decide {

// One KafkaReassignmentCancel with all: true, and what it needs to know.
struct CancelObservation {
  const api::KafkaReassignmentCancel& cr;
  const TreeView& tree;
  std::int64_t other_holders = 0;  // such objects that hold the finalizer and are not being deleted
  std::int64_t withdrawn = 0;      // partitions of half-started resources that the lock withdrew
};

struct AddFinalizer {};
struct RemoveFinalizer {
  std::string lock_left;  // what to tell of a lock that may still stand and is out of reach; empty: nothing does
};
struct CreateLock {};
struct DeleteLock {};  // version 1 only, after our own id was read in it
using CancelWrite = std::variant<std::monostate, AddFinalizer, RemoveFinalizer, CreateLock, DeleteLock>;

struct CancelPlan {
  CancelWrite write;
  std::optional<api::CancelStatus> status;
  std::optional<WallTime> look_again;
};

// All rules for the cluster-wide cancel (znodes.md 4.7, api.md 2).
//
//   no finalizer ─▶ finalizer ─▶ lock created ─▶ Cancelling ─▶ Succeeded | PartiallyCancelled   (lock stands)
//   deleted: last holder ─▶ lock deleted ─▶ finalizer removed
//
// Races: cancelled before anything is picked up, in flight, or after completion is the controller's to tell apart: its
// result for this lock says what became of each partition. A lock that somebody removes while this object exists is
// made again; a lock of somebody else is waited for and never touched. Only a lock that is gone, is not ours, or is out
// of reach because its cluster left the configuration, lets the finalizer go; the last is told.
CancelPlan decide_cancel(const CancelObservation& seen, const Policy& policy, WallTime now);

// A lock of ours that no object stands for any more (an operator died between the two, or the objects were forced
// away): it may be deleted.
bool orphaned_lock(const TreeView& tree, const Policy& policy, std::int64_t holders);

}  // namespace kro::decide
