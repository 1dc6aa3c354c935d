#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/reasons.h"
#include "base/time.h"

namespace kro::api {

// One condition as the API server keeps it. `reason` is text, because a status may have been written by another
// release.
struct Condition {
  std::string type;
  std::string status;  // True, False, Unknown
  std::string reason;
  std::string message;
  std::int64_t observed_generation = 0;
  std::string last_transition;  // RFC 3339
  bool operator==(const Condition&) const = default;
};

enum class Truth { kTrue, kFalse, kUnknown };

namespace condition {
inline constexpr std::string_view kReady = "Ready";
inline constexpr std::string_view kSucceeded = "Succeeded";
inline constexpr std::string_view kReconciling = "Reconciling";
inline constexpr std::string_view kStalled = "Stalled";
inline constexpr std::string_view kAccepted = "Accepted";
inline constexpr std::string_view kApproved = "Approved";
inline constexpr std::string_view kClusterReachable = "ClusterReachable";
inline constexpr std::string_view kSuspended = "Suspended";
}  // namespace condition

// All conditions of one status, filled in from what was there before, so that lastTransitionTime moves only when the
// status of a condition does.
class ConditionList {
 public:
  ConditionList(const std::vector<Condition>& before, std::int64_t generation, WallTime now)
      : before_(before), generation_(generation), now_(now) {}
  void set(std::string_view type, Truth truth, Reason reason, std::string message);
  // Keeps what was said before, whatever it was; Unknown/Pending where there was nothing.
  void keep(std::string_view type);
  [[nodiscard]] std::vector<Condition> take() { return std::move(out_); }

 private:
  const std::vector<Condition>& before_;
  std::int64_t generation_;
  WallTime now_;
  std::vector<Condition> out_;
};

const Condition* find(const std::vector<Condition>& list, std::string_view type);

}  // namespace kro::api
