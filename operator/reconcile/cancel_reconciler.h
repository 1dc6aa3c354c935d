#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "decide/cancel_decider.h"
#include "decide/reassignment_notes.h"
#include "reconcile/cluster_context.h"
#include "reconcile/dirty_keys.h"
#include "reconcile/list_rounds.h"
#include "reconcile/status_slot.h"

namespace kro::reconcile {

// All KafkaReassignmentCancels of one cluster. They are few, so all of them are looked at whenever anything changed.
// One thread.
class CancelReconciler {
 public:
  explicit CancelReconciler(ClusterContext& context)
      : context_(context),
        marked_(context.deps.cancel_work, context.deps.clock),
        rounds_(context.watch_namespaces.size()) {}

  void seen(std::unique_ptr<api::KafkaReassignmentCancel> cr, Now now);
  void removed(const std::string& uid);
  void begin_list(const std::string& ns) { rounds_.begin(ns); }
  void end_list(const std::string& ns);
  void status_written(const std::string& uid, const Result<KubeMeta>& answer, Now now);
  void look_at_all();

  // At most one write for each object, then a lock of ours that nobody stands for. False: ZooKeeper is to be left
  // alone for now.
  bool work_pass(Now now, std::int64_t withdrawn);
  [[nodiscard]] bool has_work() const { return dirty_; }
  [[nodiscard]] MonoTime next_due() const { return next_due_; }

 private:
  struct Active {
    explicit Active(MonoTime at) : status(at) {}
    api::KafkaReassignmentCancel cr;
    std::optional<api::CancelStatus> wanted;
    StatusSlot<api::CancelStatus> status;
    decide::Told told;
    std::uint32_t round = 0;
    MonoTime finalizer_retry{};
  };

  bool work_on(Active& a, Now now, std::int64_t withdrawn);
  bool look_at(Active& a, Now now, std::int64_t withdrawn);
  void failed(const Error& error);
  bool act(Active& a, const decide::CancelWrite& write, Now now);
  bool put_finalizer(Active& a, bool with_ours, Now now);
  bool drop_orphaned_lock();
  // Objects that hold the finalizer and are not being deleted.
  [[nodiscard]] std::int64_t holders(const Active* but) const;
  void offer_status(Active& a, Now now);
  void show(const Active& a);
  void wake(MonoTime at) { wake_ = std::min(wake_, at); }

  ClusterContext& context_;
  std::map<std::string, std::unique_ptr<Active>> active_;
  bool dirty_ = false;
  DirtyKeys marked_;                                               // all of active_ while dirty_
  WorkFigures::Outcome outcome_ = WorkFigures::Outcome::kRequeue;  // of the look in hand
  ListRounds rounds_;
  MonoTime next_due_ = MonoTime::max();
  MonoTime wake_ = MonoTime::max();
};

}  // namespace kro::reconcile
