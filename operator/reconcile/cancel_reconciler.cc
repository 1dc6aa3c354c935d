#include "reconcile/cancel_reconciler.h"

#include <algorithm>
#include <vector>

#include "api/cancel_codec.h"
#include "base/log.h"
#include "decide/reassignment_checks.h"

namespace kro::reconcile {

void CancelReconciler::seen(std::unique_ptr<api::KafkaReassignmentCancel> cr, Now now) {
  auto& slot = active_[cr->meta.uid];
  const bool fresh = !slot;
  if (fresh) slot = std::make_unique<Active>(now.mono);
  Active& a = *slot;
  a.round = rounds_.current(cr->meta.ns);
  if (fresh) a.told = decide::told_by(cr->status);
  const auto& flying = a.status.in_flight();
  const bool ours = !fresh && (api::same(cr->status, a.cr.status) || (flying && api::same(cr->status, *flying)));
  const bool same_spec = !fresh && cr->meta.generation == a.cr.meta.generation &&
                         cr->meta.deleting == a.cr.meta.deleting && cr->meta.finalizers == a.cr.meta.finalizers;
  a.cr = std::move(*cr);
  // Another operator may well know the cluster that we do not: two that disagree must not write in turns.
  if (same_spec && !ours && !context_.policy.cluster_known)
    a.status.yield(now.mono);
  else
    a.status.refreshed(now.mono);
  if (!(ours && same_spec)) look_at_all();
}

void CancelReconciler::removed(const std::string& uid) {
  const auto it = active_.find(uid);
  if (it == active_.end()) return;
  context_.deps.metrics.set_resource(key_of(Kind::kCancel, it->second->cr.meta), {});
  active_.erase(it);
  marked_.forget(uid);
  look_at_all();
}

void CancelReconciler::end_list(const std::string& ns) {
  rounds_.end(ns);
  look_at_all();
  std::vector<std::string> dead;
  for (const auto& [uid, a] : active_)
    if (rounds_.missed(ns, a->cr.meta.ns, a->round)) dead.push_back(uid);
  for (const std::string& uid : dead) removed(uid);
}

void CancelReconciler::status_written(const std::string& uid, const Result<KubeMeta>& answer, Now now) {
  const auto it = active_.find(uid);
  if (it == active_.end()) return;
  Active& a = *it->second;
  if (auto written = a.status.answered(a.cr.status, answer, now.mono)) {
    a.cr.status = std::move(*written);
    a.cr.meta.resource_version = answer->resource_version;
  } else if (!answer && answer.error().code != ErrorCode::kVersion && answer.error().code != ErrorCode::kNotFound) {
    log::warn("a status could not be written",
              {{"resource", key_of(Kind::kCancel, a.cr.meta)}, {"error", answer.error().text()}});
  }
  offer_status(a, now);
}

std::int64_t CancelReconciler::holders(const Active* but) const {
  return std::count_if(active_.begin(), active_.end(), [&](const auto& entry) {
    const api::KafkaReassignmentCancel& cr = entry.second->cr;
    return entry.second.get() != but && cr.spec.all && cr.meta.has_finalizer() && !cr.meta.deleting;
  });
}

bool CancelReconciler::work_pass(Now now, std::int64_t withdrawn) {
  next_due_ = MonoTime::max();
  if (!context_.leading) {
    dirty_ = false;
    marked_.clear();
    return true;
  }
  if (wake_ <= now.mono) {
    wake_ = MonoTime::max();
    look_at_all();
  }
  if (dirty_) {
    dirty_ = false;
    std::vector<std::string> uids;
    for (const auto& [uid, a] : active_) uids.push_back(uid);
    for (const std::string& uid : uids)
      if (!work_on(*active_.at(uid), now, withdrawn)) return false;
    if (!drop_orphaned_lock()) return false;
  }
  for (const auto& [uid, a] : active_) offer_status(*a, now);
  next_due_ = std::min(next_due_, wake_);
  return true;
}

void CancelReconciler::look_at_all() {
  dirty_ = true;
  for (const auto& [uid, a] : active_) marked_.mark(uid);
}

bool CancelReconciler::work_on(Active& a, Now now, std::int64_t withdrawn) {
  const std::string uid = a.cr.meta.uid;
  WorkFigures::Reconcile look(context_.deps.cancel_work, marked_.waited(uid, now.mono));
  marked_.done(uid);  // marked again by whatever makes another look necessary
  outcome_ = WorkFigures::Outcome::kRequeue;
  const bool go_on = look_at(a, now, withdrawn);
  look.ended(outcome_);
  return go_on;
}

void CancelReconciler::failed(const Error& error) {
  outcome_ = error.retry == Retry::kPermanent ? WorkFigures::Outcome::kTerminalError : WorkFigures::Outcome::kError;
  context_.deps.cancel_work.retried();
}

bool CancelReconciler::look_at(Active& a, Now now, std::int64_t withdrawn) {
  const decide::CancelObservation seen{a.cr, context_.tree.view(), holders(&a), withdrawn};
  auto plan = decide::decide_cancel(seen, context_.policy, now.wall);
  if (!std::holds_alternative<std::monostate>(plan.write)) {
    if (a.finalizer_retry > now.mono) {
      wake(a.finalizer_retry);
      outcome_ = WorkFigures::Outcome::kRequeueAfter;
      return true;
    }
    return act(a, plan.write, now);
  }
  outcome_ = plan.look_again ? WorkFigures::Outcome::kRequeueAfter : WorkFigures::Outcome::kSuccess;
  if (plan.look_again) wake(now.mono + std::max<milliseconds>(*plan.look_again - now.wall, 1ms));
  if (!plan.status) return true;
  a.wanted = std::move(*plan.status);
  if (!a.cr.meta.deleting)
    context_.tell(Kind::kCancel, a.cr.meta, decide::notes(a.told, *a.wanted, a.cr.spec.reason, now.wall));
  const bool ended = api::phase::final(a.wanted->phase) && a.wanted->phase != a.cr.status.phase;
  if (ended && !context_.cluster.empty()) {
    const std::pair<const char*, std::int64_t> outcomes[] = {{"restored", a.wanted->progress.restored},
                                                             {"completed_first", a.wanted->progress.completed_first},
                                                             {"refused", a.wanted->progress.refused}};
    for (const auto& [outcome, n] : outcomes)
      context_.deps.metrics.add("kafka_reassignment_cancel_partitions_total",
                                {{"kafka_cluster", context_.cluster}, {"outcome", outcome}}, static_cast<double>(n));
  }
  show(a);
  return true;
}

bool CancelReconciler::act(Active& a, const decide::CancelWrite& write, Now now) {
  look_at_all();  // observe again, whatever comes of it
  if (std::holds_alternative<decide::AddFinalizer>(write)) {
    put_finalizer(a, true, now);
    return true;
  }
  if (const auto* release = std::get_if<decide::RemoveFinalizer>(&write)) {
    if (!put_finalizer(a, false, now) || release->lock_left.empty()) return true;
    log::warn("a lock is left behind",
              {{"resource", key_of(Kind::kCancel, a.cr.meta)}, {"message", release->lock_left}});
    context_.tell(Kind::kCancel, a.cr.meta, {{true, "LockLeft", release->lock_left}});
    return true;
  }
  if (!context_.usable_now()) {
    dirty_ = false;
    marked_.clear();
    return true;
  }
  const bool create = std::holds_alternative<decide::CreateLock>(write);
  const auto done = create ? context_.ledger.create_lock(*context_.zk, context_.deadline())
                           : context_.ledger.delete_lock(*context_.zk, context_.deadline());
  context_.tree.on_event({ZkEvent::Type::kChanged, std::string(tree::kLock), ZkState::kConnected});
  if (!done) {
    failed(done.error());
    return context_.usable(done.error());
  }
  log::warn(create ? "lock created: nothing starts on this cluster" : "lock removed",
            {{"kafka_cluster", context_.cluster}, {"resource", key_of(Kind::kCancel, a.cr.meta)}});
  context_.tell(Kind::kCancel, a.cr.meta,
                {{false, create ? "LockCreated" : "LockDeleted",
                  create ? "The cancel lock was created; nothing starts while this object exists"
                         : "The cancel lock was deleted; things may start again"}});
  return true;
}

bool CancelReconciler::put_finalizer(Active& a, bool with_ours, Now now) {
  const auto answer = context_.deps.kube.put_finalizers(
      resource_of(Kind::kCancel), {a.cr.meta.ns, a.cr.meta.name}, a.cr.meta.resource_version,
      api::encode_finalizers(a.cr.meta, with_ours), context_.deadline());
  if (!answer) {
    // The watch brings what is newer; an answer that was lost shows there too.
    a.finalizer_retry = now.mono + 1s;
    failed(answer.error());
    if (answer.error().code != ErrorCode::kVersion && answer.error().code != ErrorCode::kNotFound)
      log::warn("a finalizer could not be written",
                {{"resource", key_of(Kind::kCancel, a.cr.meta)}, {"error", answer.error().text()}});
    return false;
  }
  a.cr.meta.resource_version = answer->resource_version;
  std::erase(a.cr.meta.finalizers, std::string(api::kFinalizer));
  if (with_ours) a.cr.meta.finalizers.emplace_back(api::kFinalizer);
  return true;
}

bool CancelReconciler::drop_orphaned_lock() {
  if (!rounds_.synced() || !context_.usable_now()) return true;
  std::int64_t standing = holders(nullptr);
  // One that is being deleted removes the lock itself; one without a finalizer may be about to stand for it.
  for (const auto& [uid, a] : active_) {
    const api::ObjectMeta& meta = a->cr.meta;
    const bool about_to = !meta.has_finalizer() && !meta.deleting && !decide::refuse(a->cr, context_.policy);
    if (a->cr.spec.all && ((meta.deleting && meta.has_finalizer()) || about_to)) ++standing;
  }
  if (!decide::orphaned_lock(context_.tree.view(), context_.policy, standing)) return true;
  log::warn("a lock of ours that no KafkaReassignmentCancel stands for is removed",
            {{"kafka_cluster", context_.cluster}});
  const auto done = context_.ledger.delete_lock(*context_.zk, context_.deadline());
  context_.tree.on_event({ZkEvent::Type::kChanged, std::string(tree::kLock), ZkState::kConnected});
  look_at_all();
  return done.has_value() || context_.usable(done.error());
}

void CancelReconciler::show(const Active& a) {
  if (a.wanted->phase == api::phase::kSucceeded)  // it wants nobody's attention
    return context_.deps.metrics.set_resource(key_of(Kind::kCancel, a.cr.meta), {});
  context_.deps.metrics.set_resource(key_of(Kind::kCancel, a.cr.meta), {{"kafka_reassignment_phase",
                                                                         {{"kind", "KafkaReassignmentCancel"},
                                                                          {"namespace", a.cr.meta.ns},
                                                                          {"name", a.cr.meta.name},
                                                                          {"kafka_cluster", context_.cluster},
                                                                          {"phase", a.wanted->phase}},
                                                                         1}});
}

void CancelReconciler::offer_status(Active& a, Now now) {
  if (!a.wanted) return;
  if (api::same(a.cr.status, *a.wanted) && !a.status.in_flight()) {
    a.wanted.reset();
    return;
  }
  const auto due = a.status.due(a.cr.status, *a.wanted, a.cr.meta.object_bytes);
  if (!due) return;
  if (*due > now.mono) {
    next_due_ = std::min(next_due_, *due);
    return;
  }
  a.status.sent(*a.wanted, now.mono);
  context_.submit_status(Kind::kCancel, a.cr.meta, api::encode_status(*a.wanted));
}

}  // namespace kro::reconcile
