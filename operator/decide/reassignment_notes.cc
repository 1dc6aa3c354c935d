#include "decide/reassignment_notes.h"

#include <algorithm>
#include <array>

namespace kro::decide {
namespace {

constexpr std::size_t kMostText = 1024;

// Causes of which the person on call should hear though the resource still runs.
constexpr std::array kWarnings = {"ClusterUnreachable", "ControllerAbsent", "ControllerNotResponding",
                                  "TargetBrokerDown",   "NoLeader",         "ReplicaNotInSync",
                                  "KafkaError",         "NoProgress",       "LedgerConflict",
                                  "LockHeldByOther"};

std::string warning_of(const api::Condition* ready) {
  if (ready == nullptr) return {};
  return std::find(kWarnings.begin(), kWarnings.end(), ready->reason) != kWarnings.end() ? ready->reason : "";
}

bool is_true(const api::Condition* condition) { return condition != nullptr && condition->status == "True"; }

std::string cut(std::string text) {
  if (text.size() > kMostText) text.resize(kMostText);
  return text;
}

template <class Status>
std::string message_of(const Status& status, std::string_view type) {
  const api::Condition* const c = api::find(status.conditions, type);
  return c == nullptr ? std::string() : c->message;
}

std::int64_t tenths_of(const api::Progress& p) { return p.total == 0 ? 0 : p.completed * 10 / p.total; }

template <class Status>
void edges(Told& told, const Status& status, const std::string& why, std::vector<Note>& out) {
  const api::Condition* const cause = api::find(status.conditions, api::condition::kReconciling);
  const std::string warning = warning_of(cause);
  const bool stalled = is_true(api::find(status.conditions, api::condition::kStalled));
  const bool bad = stalled && api::phase::final(status.phase);
  if (status.phase != told.phase && !status.phase.empty() && status.phase != api::phase::kPending) {
    std::string text = message_of(status, api::condition::kSucceeded);
    if (!why.empty()) text += " (" + why + ")";
    out.push_back({bad, status.phase, cut(std::move(text))});
  }
  if (!warning.empty() && warning != told.warning && cause != nullptr)
    out.push_back({true, warning, cut(cause->message)});
  if (stalled && !told.stalled && !bad)
    out.push_back({true, "Stalled", cut(message_of(status, api::condition::kStalled))});
  told.phase = status.phase;
  told.warning = warning;
  told.stalled = stalled;
}

template <class Status>
Told told_of(const Status& status) {
  Told out;
  out.phase = status.phase;
  out.warning = warning_of(api::find(status.conditions, api::condition::kReconciling));
  out.stalled = is_true(api::find(status.conditions, api::condition::kStalled));
  return out;
}

}  // namespace

Told told_by(const api::ReassignmentStatus& status) {
  Told out = told_of(status);
  out.tenths = tenths_of(status.progress);
  return out;
}

Told told_by(const api::CancelStatus& status) { return told_of(status); }

std::vector<Note> notes(Told& told, const api::ReassignmentStatus& status, const std::string& why, WallTime now) {
  std::vector<Note> out;
  edges(told, status, why, out);
  const std::int64_t tenths = tenths_of(status.progress);
  if (!api::phase::final(status.phase) && tenths > told.tenths && now - told.progress_at >= 1min) {
    out.push_back({false, "Progress", status.progress.display + " completed"});
    told.progress_at = now;
    told.tenths = tenths;
  }
  if (tenths < told.tenths) told.tenths = tenths;  // a new generation
  return out;
}

std::vector<Note> notes(Told& told, const api::CancelStatus& status, const std::string& why, WallTime) {
  std::vector<Note> out;
  edges(told, status, why, out);
  return out;
}

}  // namespace kro::decide
