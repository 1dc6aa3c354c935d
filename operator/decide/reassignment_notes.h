#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decide/reassignment_observation.h"

namespace kro::decide {

// What people were told of a resource by events, so that nothing is told twice: one event per phase edge and warning
// cause, progress at most per 10 % and minute. After a restart it is taken from the status.
struct Told {
  std::string phase;
  std::string warning;  // the cause last warned of; empty: none
  bool stalled = false;
  std::int64_t tenths = 0;  // of the partitions, completed
  WallTime progress_at{};
};

Told told_by(const api::ReassignmentStatus& status);
Told told_by(const api::CancelStatus& status);

// The events that `status` calls for, and `told` brought up to date.
std::vector<Note> notes(Told& told, const api::ReassignmentStatus& status, const std::string& why, WallTime now);
std::vector<Note> notes(Told& told, const api::CancelStatus& status, const std::string& why, WallTime now);

}  // namespace kro::decide
