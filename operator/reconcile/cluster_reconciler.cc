#include "reconcile/cluster_reconciler.h"

#include <algorithm>
#include <type_traits>

#include "base/log.h"
#include "runtime/measured_zk.h"

namespace kro::reconcile {
namespace {

// A reconnect within this is nobody's business; a tree that is away for longer is said to be.
constexpr auto kAwayFor = 5s;
constexpr auto kCountPeriod = 10s;
constexpr std::size_t kMostSendsARound = 64;

milliseconds pause(int failures) { return milliseconds(200) * (1 << std::min(failures, 7)); }

}  // namespace

ClusterReconciler::ClusterReconciler(ClusterSettings settings, ClusterDeps deps, ZkConnector* connector)
    : settings_(std::move(settings)),
      connector_(connector),
      context_{std::move(deps),
               settings_.identity.cluster,
               settings_.policy,
               settings_.watch_namespaces,
               std::make_shared<ClusterInbox>(),
               LedgerStore(settings_.identity)},
      reassignments_(context_),
      cancels_(context_) {}

ClusterReconciler::~ClusterReconciler() {
  if (session_) session_->close();
}

void ClusterReconciler::take(ReassignmentSeen& item, Now now) { reassignments_.seen(std::move(item.cr), now); }
void ClusterReconciler::take(FinishedSeen& item, Now now) {
  reassignments_.finished(item.uid, std::move(item.record), now);
}
void ClusterReconciler::take(CancelSeen& item, Now now) { cancels_.seen(std::move(item.cr), now); }
void ClusterReconciler::take(Removed& item, Now) {
  if (item.kind == Kind::kReassignment)
    reassignments_.removed(item.uid);
  else
    cancels_.removed(item.uid);
}
void ClusterReconciler::take(ListBegins& item, Now) {
  if (item.kind == Kind::kReassignment)
    reassignments_.begin_list(item.ns);
  else
    cancels_.begin_list(item.ns);
}
void ClusterReconciler::take(ListEnds& item, Now) {
  if (item.kind == Kind::kReassignment)
    reassignments_.end_list(item.ns);
  else
    cancels_.end_list(item.ns);
}
void ClusterReconciler::take(StatusWritten& item, Now now) {
  if (item.kind == Kind::kReassignment)
    reassignments_.status_written(item.uid, std::move(item.answer), now);
  else
    cancels_.status_written(item.uid, item.answer, now);
}

void ClusterReconciler::take(ZkHappened& item, Now) {
  if (item.session != session_number_) return;
  if (item.event.type == ZkEvent::Type::kState) return;  // the session itself is asked
  if (context_.tree.on_event(item.event)) return;
  reassignments_.zk_event(item.event);
}

void ClusterReconciler::take(Leadership& item, Now now) {
  if (item.leads == context_.leading) return;
  log::info(item.leads ? "leading" : "not leading", {{"kafka_cluster", context_.cluster}});
  context_.leading = item.leads;
  detach();
  attach_at_ = now.mono;
  reassignments_.look_at_all();
  cancels_.look_at_all();
}

void ClusterReconciler::take(PolicyChanged& item, Now) {
  context_.policy = std::move(item.policy);
  reassignments_.look_at_all();
  cancels_.look_at_all();
}

void ClusterReconciler::take_inbox(Now now) {
  for (InboxItem& item : context_.inbox->take()) std::visit([&](auto& concrete) { take(concrete, now); }, item);
}

void ClusterReconciler::open_session(Now now) {
  if (now.mono < open_at_) return;
  const std::uint64_t number = ++session_number_;
  auto opened = connector_->open(settings_.zookeeper, [box = context_.inbox, number](const ZkEvent& event) {
    box->post(ZkHappened{number, event});
  });
  if (!opened) {
    trouble_ = "ZooKeeper at " + settings_.zookeeper.connect + " cannot be reached: " + opened.error().text();
    log::warn("no session with ZooKeeper", {{"kafka_cluster", context_.cluster}, {"error", opened.error().text()}});
    open_at_ = now.mono + pause(failures_++);
    return;
  }
  session_ = measured(std::move(*opened), context_.deps.metrics, context_.deps.clock, context_.cluster);
}

void ClusterReconciler::drop_session(Now now, const std::string& why) {
  log::warn("ZooKeeper session ended", {{"kafka_cluster", context_.cluster}, {"why", why}});
  detach();
  session_->close();
  session_.reset();
  ++session_number_;
  trouble_ = "the session with ZooKeeper at " + settings_.zookeeper.connect + " ended: " + why;
  open_at_ = now.mono + pause(failures_++);
}

void ClusterReconciler::detach() {
  context_.writing = false;
  context_.zk = nullptr;
  context_.ledger.detach();
  context_.tree.reset();
  reassignments_.forget_tree();
}

void ClusterReconciler::keep_session(Now now) {
  if (!session_) open_session(now);
  if (!session_) return;
  switch (session_->state()) {
    case ZkState::kConnected:
      if (!context_.leading) return;
      if (!context_.writing && now.mono >= attach_at_ && !attach(now)) {
        // The session may be sound and the tree not writable; either way later.
        attach_at_ = now.mono + pause(failures_++);
      }
      return;
    case ZkState::kExpired:
      context_.deps.metrics.add("kafka_reassignment_zk_session_expirations_total",
                                {{"kafka_cluster", context_.cluster}});
      return drop_session(now, "expired");
    case ZkState::kClosed: return drop_session(now, "closed");
    case ZkState::kAuthFailed:
      drop_session(now, "the credentials were refused");
      open_at_ = now.mono + 30s;
      return;
    case ZkState::kConnecting:
    case ZkState::kSuspended:
      if (trouble_.empty()) trouble_ = "ZooKeeper at " + settings_.zookeeper.connect + " does not answer";
      return;
  }
}

bool ClusterReconciler::attach(Now now) {
  conflicted_ = false;
  const auto attached = context_.ledger.attach(*session_, context_.deadline());
  if (!attached) {
    trouble_ = "the tree cannot be used: " + attached.error().text();
    conflicted_ = attached.error().code == ErrorCode::kInvalid;
    log::warn("the tree cannot be used", {{"kafka_cluster", context_.cluster}, {"error", attached.error().text()}});
    return false;
  }
  context_.zk = session_.get();
  context_.writing = true;
  context_.tree.reset();
  reassignments_.forget_tree();
  if (!refresh(now)) {
    detach();
    return false;
  }
  log::info("attached to the tree",
            {{"kafka_cluster", context_.cluster}, {"resources_in_ledger", context_.ledger.uids().size()}});
  failures_ = 0;
  trouble_.clear();
  reassignments_.look_at_all();
  cancels_.look_at_all();
  return true;
}

bool ClusterReconciler::refresh(Now now) {
  if (!context_.tree.dirty()) return true;
  const auto changed = context_.tree.refresh(*context_.zk, now, context_.deadline());
  if (!changed) {
    trouble_ = "ZooKeeper at " + settings_.zookeeper.connect + " does not answer: " + changed.error().text();
    return context_.usable(changed.error()) && false;
  }
  if (*changed) {
    reassignments_.look_at_all();
    cancels_.look_at_all();
  }
  return true;
}

void ClusterReconciler::set_health(decide::TreeHealth health, const std::string& trouble, bool conflicted) {
  decide::TreeView& view = context_.tree.view();
  const bool changed = view.health != health || view.trouble != trouble || view.conflicted != conflicted;
  view.health = health;
  view.trouble = trouble;
  view.conflicted = conflicted;
  if (!changed) return;
  reassignments_.look_at_all();
  cancels_.look_at_all();
}

void ClusterReconciler::judge_health(Now now) {
  if (connector_ == nullptr) return;
  const bool good = context_.writing && session_ && session_->state() == ZkState::kConnected;
  if (good) {
    away_since_.reset();
    context_.tree.view().synced = now.wall;
    return set_health(decide::TreeHealth::kConnected, "");
  }
  if (!context_.leading) {  // a standby says nothing, whatever it sees
    away_since_.reset();
    return set_health(decide::TreeHealth::kStarting, "");
  }
  if (!away_since_) away_since_ = now.mono;
  if (now.mono - *away_since_ < kAwayFor && !conflicted_) {
    // What is known is still the best there is; nothing can be written meanwhile.
    return;
  }
  if (context_.tree.view().health != decide::TreeHealth::kUnreachable || conflicted_)
    set_health(decide::TreeHealth::kUnreachable, trouble_, conflicted_);
}

bool ClusterReconciler::rounds() {
  for (int round = 0; round < 50; ++round) {
    const Now now = context_.deps.clock.now();
    if (context_.usable_now() && !refresh(now)) return false;
    const std::int64_t withdrawn = cancels_.has_work() ? reassignments_.withdrawn() : 0;
    if (!cancels_.work_pass(now, withdrawn)) return false;
    if (!reassignments_.send_pass(now, kMostSendsARound)) return false;
    if (!reassignments_.read_pass(now)) return false;
    if (!reassignments_.work_pass(now)) return false;
    if (!context_.usable_now()) return true;
    if (!reassignments_.has_work(context_.deps.clock.now()) && !cancels_.has_work() && !context_.tree.dirty())
      return true;
    take_inbox(context_.deps.clock.now());
  }
  return true;
}

void ClusterReconciler::count_tree(Now now) {
  if (!context_.usable_now() || now.mono < count_at_) return;
  count_at_ = now.mono + kCountPeriod;
  const auto topics = context_.zk->children(std::string(tree::kReassignments), false, context_.deadline());
  if (!topics) return;
  std::int64_t managed = 0;
  if (*topics && !(*topics)->names.empty()) {
    std::vector<std::string> paths;
    for (const std::string& name : (*topics)->names)
      if (valid_topic_name(name)) paths.push_back(tree::topic(name));
    const auto nodes = context_.zk->get_many(paths, false, context_.deadline());
    if (!nodes) return;
    for (const auto& node : *nodes)
      if (node) managed += node->stat.num_children;
  }
  Metrics& metrics = context_.deps.metrics;
  metrics.set("kafka_reassignment_tree_in_flight", {{"kafka_cluster", context_.cluster}, {"owner", "managed"}},
              static_cast<double>(managed));
  metrics.set("kafka_reassignment_tree_in_flight", {{"kafka_cluster", context_.cluster}, {"owner", "foreign"}},
              static_cast<double>(context_.tree.view().foreign.total));
}

void ClusterReconciler::show(Now) {
  if (connector_ == nullptr) return;
  Metrics& metrics = context_.deps.metrics;
  const decide::TreeView& view = context_.tree.view();
  const MetricLabels cluster = {{"kafka_cluster", context_.cluster}};
  const bool connected = session_ && session_->state() == ZkState::kConnected;
  metrics.set("kafka_reassignment_zk_connected", cluster, connected ? 1 : 0);
  metrics.set("kafka_reassignment_zk_watched_path_bytes", cluster,
              session_ ? static_cast<double>(session_->watched_path_bytes()) : 0);
  if (!context_.writing) return;
  metrics.set("kafka_reassignment_controller_present", cluster, view.controller ? 1 : 0);
  metrics.set("kafka_reassignment_requests_pending", cluster,
              static_cast<double>(reassignments_.figures().pending_requests));
  metrics.set("kafka_reassignment_zk_last_sync_timestamp_seconds", cluster,
              static_cast<double>(epoch_ms(view.synced)) / 1000.0);
  if (view.lock)
    metrics.set("kafka_reassignment_cancel_lock_created_timestamp_seconds", cluster,
                static_cast<double>(epoch_ms(view.lock->created)) / 1000.0);
  else
    metrics.clear("kafka_reassignment_cancel_lock_created_timestamp_seconds", cluster);
}

MonoTime ClusterReconciler::step(const std::stop_token& stop) {
  context_.stop = stop;
  const Now now = context_.deps.clock.now();
  take_inbox(now);
  if (connector_ != nullptr) keep_session(now);
  judge_health(now);
  // While the connection is gone nothing is read or written, but what is known may still be told.
  const bool connected = context_.writing && session_ && session_->state() == ZkState::kConnected;
  context_.zk = connected ? session_.get() : nullptr;
  bool good = rounds();
  if (good) good = reassignments_.sweep_pass(now);
  if (good) count_tree(now);
  show(now);
  MonoTime next = now.mono + 1s;
  if (good) next = std::min({next, reassignments_.next_due(), cancels_.next_due()});
  if (good && connected && (reassignments_.has_work(now) || cancels_.has_work())) next = now.mono;
  if (!good) next = now.mono + 200ms;
  if (!session_ && connector_ != nullptr) next = std::min(next, std::max(open_at_, now.mono + 10ms));
  return next;
}

}  // namespace kro::reconcile
