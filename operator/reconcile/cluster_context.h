#pragma once

#include <functional>
#include <string>

#include "decide/reassignment_observation.h"
#include "ports/clock.h"
#include "ports/kube_api.h"
#include "ports/metrics.h"
#include "ports/zk_session.h"
#include "reconcile/cluster_inbox.h"
#include "reconcile/ledger_store.h"
#include "reconcile/tree_store.h"
#include "runtime/event_recorder_queue.h"
#include "runtime/status_writer_queue.h"
#include "runtime/work_figures.h"

namespace kro::reconcile {

// What a cluster's worker uses of the rest of the process. All of it is thread safe, and outlives the worker.
struct ClusterDeps {
  KubeApi& kube;
  const Clock& clock;
  Metrics& metrics;
  WorkFigures& reassignment_work;
  WorkFigures& cancel_work;
  std::function<void(const std::string& key, StatusWrite write)> write_status;
  std::function<void(const EventNote& note)> record;
  std::function<void()> on_deposed;  // the Lease is to be given up
  seconds attention_for = std::chrono::hours(168);
};

// What the parts of one cluster's worker share. One thread.
struct ClusterContext {
  ClusterDeps deps;
  std::string cluster;  // configured name; empty: the one for resources of unknown clusters
  decide::Policy policy;
  std::vector<std::string> watch_namespaces;  // empty: all
  std::shared_ptr<ClusterInbox> inbox;        // an answer to a status write may come after the worker is gone
  LedgerStore ledger;
  TreeStore tree;
  ZkSession* zk = nullptr;  // nullptr: not connected now
  bool leading = false;     // we may write at all: statuses, finalizers
  bool writing = false;     // we lead and hold the epoch: the tree too
  std::stop_token stop;

  [[nodiscard]] bool usable_now() const { return writing && zk != nullptr; }
  [[nodiscard]] Deadline deadline() const { return deps.clock.in(5s, stop); }
  // True: go on. A failure that the session's owner has to deal with (deposed, connection, session) ends all work.
  bool usable(const Error& error);
  void submit_status(Kind kind, const api::ObjectMeta& meta, std::string json);
  void tell(Kind kind, const api::ObjectMeta& meta, const std::vector<decide::Note>& notes);
};

KubeResource resource_of(Kind kind);
std::string_view kind_name(Kind kind);
// "KafkaReassignment/ns/name"
std::string key_of(Kind kind, const api::ObjectMeta& meta);

}  // namespace kro::reconcile
