#include <algorithm>

#include "api/reassignment_codec.h"
#include "base/log.h"
#include "reconcile/reassignment_reconciler.h"

// The telling half of ReassignmentReconciler: statuses, events, metrics, timers.
namespace kro::reconcile {
namespace {

MonoTime mono_of(WallTime at, Now now) { return now.mono + std::max<milliseconds>(at - now.wall, 1ms); }

std::string_view result_label(std::string_view phase) {
  if (phase == api::phase::kSucceeded) return "succeeded";
  if (phase == api::phase::kCancelled) return "cancelled";
  if (phase == api::phase::kPartiallyCancelled) return "partially_cancelled";
  return "failed";
}

double seconds_of(const std::string& rfc3339_text) {
  const auto at = parse_rfc3339(rfc3339_text);
  return at ? static_cast<double>(epoch_ms(*at)) / 1000.0 : 0.0;
}

}  // namespace

void ReassignmentReconciler::timers(Now now) {
  for (const auto& [uid, a] : active_) {
    if (a->ask_again_at && *a->ask_again_at <= now.mono) {
      a->ask_again_at.reset();
      a->ask_again = true;
      mark(uid);
    }
    if (a->look_at && *a->look_at <= now.mono) {
      a->look_at.reset();
      mark(uid);
    }
  }
  for (auto it = attention_.begin(); it != attention_.end();) {
    if (it->second > now.wall) {
      ++it;
      continue;
    }
    if (const auto f = finished_.find(it->first); f != finished_.end())
      context_.deps.metrics.set_resource("KafkaReassignment/" + f->second.record.ns + "/" + f->second.record.name, {});
    it = attention_.erase(it);
  }
}

// Statuses whose time had not come, and the next moment at which anything is due.
void ReassignmentReconciler::tell_waiting(Now now) {
  std::vector<std::string> waiting;
  for (const auto& [uid, a] : active_) {
    if (a->wanted) waiting.push_back(uid);
    if (a->look_at) want(*a->look_at);
    if (a->ask_again_at) want(*a->ask_again_at);
  }
  for (const std::string& uid : waiting) offer_status(uid, *active_.at(uid), now);
}

void ReassignmentReconciler::decided(const std::string& uid, Active& a, decide::ReassignmentPlan plan, Now now) {
  a.look_at.reset();
  if (plan.look_again) a.look_at = mono_of(*plan.look_again, now);
  watch_busy(uid, a, plan.busy, now);
  if (!plan.status) return;
  if (!context_.leading) return;
  const api::ReassignmentStatus& before = a.wanted ? *a.wanted : a.cr.status;
  const std::string phase_before = before.phase;
  count_refusal(before, *plan.status);
  a.wanted = std::move(*plan.status);
  context_.tell(Kind::kReassignment, a.cr.meta, decide::notes(a.told, *a.wanted, a.cr.spec.reason, now.wall));
  if (api::phase::final(a.wanted->phase) && a.wanted->phase != phase_before) tell_about_end(a, now);
  show(a);
  offer_status(uid, a, now);
}

void ReassignmentReconciler::tell_about_end(const Active& a, Now now) {
  const api::ReassignmentStatus& status = *a.wanted;
  Metrics& metrics = context_.deps.metrics;
  const std::string cluster = context_.cluster;
  if (cluster.empty()) return;
  metrics.add("kafka_reassignment_completed_total",
              {{"kafka_cluster", cluster}, {"result", std::string(result_label(status.phase))}});
  if (!status.start.empty())
    metrics.observe("kafka_reassignment_duration_seconds", {{"kafka_cluster", cluster}},
                    static_cast<double>(epoch_ms(now.wall)) / 1000.0 - seconds_of(status.start));
}

// Once for each reason: a refusal that configuration may lift is one too, though the resource does not end by it.
void ReassignmentReconciler::count_refusal(const api::ReassignmentStatus& before, const api::ReassignmentStatus& now) {
  if (context_.cluster.empty()) return;
  const auto refused = [](const api::ReassignmentStatus& status) {
    const api::Condition* const accepted = api::find(status.conditions, api::condition::kAccepted);
    return accepted != nullptr && accepted->status == "False" ? accepted->reason : std::string();
  };
  const std::string reason = refused(now);
  if (reason.empty()) return;
  if (reason == refused(before) && before.observed_generation == now.observed_generation) return;
  context_.deps.metrics.add("kafka_reassignment_refused_total",
                            {{"kafka_cluster", context_.cluster}, {"reason", reason}});
}

void ReassignmentReconciler::show(const Active& a) {
  const api::ReassignmentStatus& s = *a.wanted;
  const MetricLabels base = {{"kind", "KafkaReassignment"},
                             {"namespace", a.cr.meta.ns},
                             {"name", a.cr.meta.name},
                             {"kafka_cluster", context_.cluster}};
  std::vector<ResourceSample> out;
  const auto add = [&](std::string_view metric, std::string_view label, std::string value, double number) {
    MetricLabels labels = base;
    if (!label.empty()) labels.emplace_back(label, std::move(value));
    out.push_back({metric, std::move(labels), number});
  };
  add("kafka_reassignment_phase", "phase", s.phase, 1);
  if (!api::phase::final(s.phase)) {
    const std::pair<const char*, std::int64_t> states[] = {{"waiting", s.progress.waiting},
                                                           {"in_flight", s.progress.in_flight},
                                                           {"completed", s.progress.completed},
                                                           {"restored", s.progress.restored},
                                                           {"failed", s.progress.failed}};
    for (const auto& [state, n] : states) add("kafka_reassignment_partitions", "state", state, static_cast<double>(n));
    if (!s.start.empty()) add("kafka_reassignment_start_timestamp_seconds", "", "", seconds_of(s.start));
    // A move that has not progressed at all has stood still since its start: the alert must see it.
    const std::string& progress = s.last_progress.empty() ? s.start : s.last_progress;
    if (!progress.empty()) add("kafka_reassignment_last_progress_timestamp_seconds", "", "", seconds_of(progress));
    const api::Condition* const stalled = api::find(s.conditions, api::condition::kStalled);
    if (stalled != nullptr)
      add("kafka_reassignment_stalled", "reason", stalled->reason, stalled->status == "True" ? 1 : 0);
    if (s.progress.bytes_total) {
      add("kafka_reassignment_bytes", "state", "moved", static_cast<double>(s.progress.bytes_moved.value_or(0)));
      add("kafka_reassignment_bytes", "state", "total", static_cast<double>(*s.progress.bytes_total));
    }
  }
  context_.deps.metrics.set_resource(key_of(Kind::kReassignment, a.cr.meta), std::move(out));
}

void ReassignmentReconciler::offer_status(const std::string& uid, Active& a, Now now) {
  if (!a.wanted || a.gone) return;
  if (api::same(a.cr.status, *a.wanted) && !a.status.in_flight()) {
    const bool final = api::phase::final(a.wanted->phase) && a.cr.finished();
    a.wanted.reset();
    if (final) mark(uid), want(now.mono);  // retired by the next pass, when nothing points at it
    return;
  }
  const auto due = a.status.due(a.cr.status, *a.wanted, a.cr.meta.object_bytes);
  if (!due) return;
  if (*due > now.mono) return want(*due);
  a.status.sent(*a.wanted, now.mono);
  context_.submit_status(Kind::kReassignment, a.cr.meta, api::encode_status(*a.wanted));
}

void ReassignmentReconciler::retire(const std::string& uid) {
  const auto it = active_.find(uid);
  if (it == active_.end()) return;
  Active& a = *it->second;
  if (a.status.in_flight()) return;
  FinishedRecord record{a.cr.meta.ns,
                        a.cr.meta.name,
                        a.cr.meta.generation,
                        a.cr.status.phase == api::phase::kSucceeded,
                        {},
                        parse_rfc3339(a.cr.status.completion).value_or(WallTime{})};
  if (!record.succeeded) record.phase = a.cr.status.phase;
  const std::uint32_t round = a.round;
  forget(uid);
  finished(uid, std::move(record), context_.deps.clock.now());
  finished_[uid].round = round;
}

}  // namespace kro::reconcile
