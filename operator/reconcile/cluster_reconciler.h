#pragma once

#include <memory>
#include <string>

#include "reconcile/cancel_reconciler.h"
#include "reconcile/cluster_context.h"
#include "reconcile/reassignment_reconciler.h"

namespace kro::reconcile {

struct ClusterSettings {
  ZkConfig zookeeper;
  LedgerIdentity identity;
  decide::Policy policy;
  std::vector<std::string> watch_namespaces;
};

// One Kafka cluster's worker: its ZooKeeper session, its ledger, its resources.
//
//   no session ─▶ connecting ─▶ connected ─▶ attached (epoch taken, tree read) ─▶ … expired ─▶ no session
//                                                └─▶ deposed: nothing more until the Lease is gained again
//
// step() does everything that is due and never waits for anything but the answers to its own calls; a thread around it
// (ClusterWorker) waits in between, tests call it by themselves. What other threads have to say comes through inbox().
// With no connector it is the place for resources whose cluster is not configured.
class ClusterReconciler {
 public:
  ClusterReconciler(ClusterSettings settings, ClusterDeps deps, ZkConnector* connector);
  ~ClusterReconciler();

  // Returns when to call it again, at the latest.
  MonoTime step(const std::stop_token& stop);
  [[nodiscard]] ClusterInbox& inbox() { return *context_.inbox; }
  // The tree is read and may be written.
  [[nodiscard]] bool attached() const { return context_.writing; }
  [[nodiscard]] const ReassignmentReconciler& reassignments() const { return reassignments_; }

 private:
  void take_inbox(Now now);
  void take(ReassignmentSeen& item, Now now);
  void take(FinishedSeen& item, Now now);
  void take(CancelSeen& item, Now now);
  void take(Removed& item, Now now);
  void take(ListBegins& item, Now now);
  void take(ListEnds& item, Now now);
  void take(StatusWritten& item, Now now);
  void take(ZkHappened& item, Now now);
  void take(Leadership& item, Now now);
  void take(PolicyChanged& item, Now now);

  void keep_session(Now now);
  void open_session(Now now);
  void drop_session(Now now, const std::string& why);
  bool attach(Now now);
  void detach();
  void set_health(decide::TreeHealth health, const std::string& trouble, bool conflicted = false);
  void judge_health(Now now);
  bool refresh(Now now);
  // Rounds of writing, reading and telling until nothing is left; false: ZooKeeper does not answer.
  bool rounds();
  void count_tree(Now now);
  void show(Now now);

  ClusterSettings settings_;
  ZkConnector* connector_;
  ClusterContext context_;
  ReassignmentReconciler reassignments_;
  CancelReconciler cancels_;

  std::unique_ptr<ZkSession> session_;
  std::uint64_t session_number_ = 0;
  std::optional<MonoTime> away_since_;  // ZooKeeper
  MonoTime open_at_{};                  // not before
  MonoTime attach_at_{};
  int failures_ = 0;
  std::string trouble_;
  bool conflicted_ = false;
  MonoTime count_at_{};
};

}  // namespace kro::reconcile
