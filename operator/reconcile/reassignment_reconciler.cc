#include "reconcile/reassignment_reconciler.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "api/reassignment_codec.h"
#include "base/log.h"

namespace kro::reconcile {
namespace {

using decide::SentRequest;

// Both are opaque to clients by the letter; by practice they are growing numbers, and are only used to drop what is
// certainly old.
bool older(const std::string& a, const std::string& b) {
  std::uint64_t x = 0, y = 0;
  const auto r = std::from_chars(a.data(), a.data() + a.size(), x);
  const auto s = std::from_chars(b.data(), b.data() + b.size(), y);
  return r.ec == std::errc{} && s.ec == std::errc{} && x < y;
}

}  // namespace

void ReassignmentReconciler::want(MonoTime at) { next_due_ = std::min(next_due_, at); }

ReassignmentReconciler::Active& ReassignmentReconciler::activate(const std::string& uid, Now now) {
  auto& slot = active_[uid];
  if (!slot) {
    slot = std::make_unique<Active>(now.mono);
    // A resource without a node in the ledger has sent nothing: there is nothing to read before the first request.
    slot->ledger_read = context_.writing && !context_.ledger.uids().contains(uid);
    if (!slot->ledger_read) doubtful_.insert(uid);
  }
  finished_.erase(uid);
  return *slot;
}

void ReassignmentReconciler::seen(std::unique_ptr<api::KafkaReassignment> cr, Now now) {
  const std::string uid = cr->meta.uid;
  const auto known = active_.find(uid);
  if (known != active_.end()) {
    Active& a = *known->second;
    a.round = rounds_.current(cr->meta.ns);
    if (older(cr->meta.resource_version, a.cr.meta.resource_version)) return;
    const auto& flying = a.status.in_flight();
    const bool ours = api::same(cr->status, a.cr.status) || (flying && api::same(cr->status, *flying));
    const bool same_spec = cr->meta.generation == a.cr.meta.generation && cr->meta.deleting == a.cr.meta.deleting;
    if (same_spec && ours) {  // our own write coming back, or a change of what is not ours
      a.cr.meta = std::move(cr->meta);
      a.cr.status = std::move(cr->status);
      a.status.refreshed(now.mono);
      want(now.mono);
      return;
    }
    a.cr = std::move(*cr);
    // Another operator may well know the cluster that we do not: two that disagree must not write in turns.
    if (same_spec && !context_.policy.cluster_known)
      a.status.yield(now.mono);
    else
      a.status.refreshed(now.mono);
    return mark(uid);
  }
  Active& a = activate(uid, now);
  a.round = rounds_.current(cr->meta.ns);
  a.told = decide::told_by(cr->status);
  a.cr = std::move(*cr);
  mark(uid);
}

void ReassignmentReconciler::finished(const std::string& uid, FinishedRecord record, Now now) {
  const auto known = active_.find(uid);
  if (known != active_.end()) {
    Active& a = *known->second;
    a.round = rounds_.current(record.ns);
    if (record.generation < a.cr.meta.generation) return;
    // Our own final write, seen before (or instead of) its answer.
    const auto& flying = a.status.in_flight();
    if (flying && flying->phase != (record.succeeded ? api::phase::kSucceeded : std::string_view(record.phase))) return;
    if (!a.dry_runs.empty()) return;
    forget(uid);
  }
  if (!record.phase.empty() && record.completed + context_.deps.attention_for > now.wall && !attention_.contains(uid)) {
    attention_[uid] = record.completed + context_.deps.attention_for;
    context_.deps.metrics.set_resource("KafkaReassignment/" + record.ns + "/" + record.name,
                                       {{"kafka_reassignment_phase",
                                         {{"kind", "KafkaReassignment"},
                                          {"namespace", record.ns},
                                          {"name", record.name},
                                          {"kafka_cluster", context_.cluster},
                                          {"phase", record.phase}},
                                         1}});
  }
  const std::uint32_t round = rounds_.current(record.ns);
  finished_[uid] = {std::move(record), round};
}

void ReassignmentReconciler::forget(const std::string& uid) {
  const auto it = active_.find(uid);
  if (it == active_.end()) return;
  for (const SentRequest& request : it->second->requests) {
    const std::string path = request.name.empty() ? "" : tree::result(request.result_name());
    result_paths_.erase(path);
    dirty_results_.erase(path);
    polled_results_.erase(path);
  }
  for (const decide::DryRun& run : it->second->dry_runs)
    result_paths_.erase(tree::result(tree::result_name(run.name, run.czxid)));
  for (auto topic = busy_topics_.begin(); topic != busy_topics_.end();) {
    topic->second.erase(uid);
    topic = topic->second.empty() ? busy_topics_.erase(topic) : std::next(topic);
  }
  context_.deps.metrics.set_resource(key_of(Kind::kReassignment, it->second->cr.meta), {});
  active_.erase(it);
  dirty_.forget(uid);
  doubtful_.erase(uid);
  unread_.erase(uid);
}

void ReassignmentReconciler::removed(const std::string& uid) {
  if (const auto it = finished_.find(uid); it != finished_.end()) {
    const FinishedRecord record = std::move(it->second.record);
    finished_.erase(it);
    if (attention_.erase(uid) > 0)
      context_.deps.metrics.set_resource("KafkaReassignment/" + record.ns + "/" + record.name, {});
    if (!context_.writing || !context_.ledger.uids().contains(uid)) return;
    Active& a = activate(uid, context_.deps.clock.now());
    a.cr.meta.uid = uid;
    a.cr.meta.ns = record.ns;
    a.cr.meta.name = record.name;
    a.gone = true;
    return mark(uid);
  }
  const auto it = active_.find(uid);
  if (it == active_.end()) return;
  Active& a = *it->second;
  context_.deps.metrics.set_resource(key_of(Kind::kReassignment, a.cr.meta), {});
  const bool nothing_sent = context_.writing && a.ledger_read && !context_.ledger.uids().contains(uid);
  if (nothing_sent || !context_.writing) return forget(uid);  // without the tree: left to the sweep
  a.gone = true;
  mark(uid);
}

void ReassignmentReconciler::end_list(const std::string& ns) {
  rounds_.end(ns);
  std::vector<std::string> dead;
  for (const auto& [uid, finished] : finished_)
    if (rounds_.missed(ns, finished.record.ns, finished.round)) dead.push_back(uid);
  for (const auto& [uid, a] : active_)
    if (!a->gone && rounds_.missed(ns, a->cr.meta.ns, a->round)) dead.push_back(uid);
  for (const std::string& uid : dead) removed(uid);
}

void ReassignmentReconciler::status_written(const std::string& uid, Result<KubeMeta> answer, Now now) {
  const auto it = active_.find(uid);
  if (it == active_.end()) return;
  Active& a = *it->second;
  auto written = a.status.answered(a.cr.status, answer, now.mono);
  if (written) {
    a.cr.status = std::move(*written);
    if (!older(answer->resource_version, a.cr.meta.resource_version))
      a.cr.meta.resource_version = answer->resource_version;
  } else if (!answer && answer.error().code != ErrorCode::kVersion && answer.error().code != ErrorCode::kNotFound) {
    log::warn("a status could not be written",
              {{"resource", key_of(Kind::kReassignment, a.cr.meta)}, {"error", answer.error().text()}});
  }
  offer_status(uid, a, now);
}

void ReassignmentReconciler::zk_event(const ZkEvent& event) {
  const std::string& path = event.path;
  if (result_paths_.contains(path)) {
    dirty_results_.insert(path);
    return;
  }
  const std::string_view prefix = tree::kReassignments;
  if (path.size() > prefix.size() + 1 && path.starts_with(prefix) && path[prefix.size()] == '/') {
    const std::string topic = path.substr(prefix.size() + 1);
    if (busy_topics_.contains(topic)) dirty_topics_.insert(topic);
  }
}

void ReassignmentReconciler::look_at_all() {
  for (const auto& [uid, a] : active_) mark(uid);
}

void ReassignmentReconciler::forget_tree() {
  result_paths_.clear();
  dirty_results_.clear();
  polled_results_.clear();
  busy_topics_.clear();
  dirty_topics_.clear();
  doubtful_.clear();
  unread_.clear();
  sweep_.clear();
  sweep_listed_ = false;
  for (auto& [uid, a] : active_) {
    a->requests.clear();
    a->dry_runs.clear();
    a->busy.clear();
    a->ask_again_at.reset();
    a->told = decide::told_by(a->cr.status);
    a->ledger_read = context_.writing && !context_.ledger.uids().contains(uid);
    if (context_.writing && !a->ledger_read) doubtful_.insert(uid);
    mark(uid);
  }
}

decide::ReassignmentObservation ReassignmentReconciler::observe(const Active& a) const {
  return {a.cr, a.requests, a.dry_runs, context_.tree.view(), a.gone, a.ledger_read, a.ask_again};
}

// A failure of the connection is everybody's, any other is this key's own: it waits alone.
bool ReassignmentReconciler::failed(const std::string& uid, const Error& error, Now now) {
  outcome_ = error.retry == Retry::kPermanent ? WorkFigures::Outcome::kTerminalError : WorkFigures::Outcome::kError;
  if (!context_.usable(error)) return false;
  dirty_.failed(uid, now.mono);
  return true;
}

// What was written may or may not be there: read before the next write.
bool ReassignmentReconciler::doubt(const std::string& uid, const Error& error, Now now) {
  if (const auto it = active_.find(uid); it != active_.end()) it->second->ledger_read = false;
  doubtful_.insert(uid);
  look_first_ = true;
  return failed(uid, error, now);
}

bool ReassignmentReconciler::has_work(Now now) const {
  return !unread_.empty() || dirty_.any_due(now.mono) ||
         std::any_of(doubtful_.begin(), doubtful_.end(),
                     [&](const std::string& uid) { return !dirty_.paused(uid, now.mono); });
}

bool ReassignmentReconciler::send_pass(Now now, std::size_t most) {
  if (!context_.usable_now()) return true;
  // Whatever is marked while we write is taken by the next pass.
  const std::vector<std::string> work = dirty_.due(now.mono);
  std::size_t writes = 0;
  for (const std::string& uid : work) {
    const auto it = active_.find(uid);
    if (it == active_.end() || it->second->gone || !it->second->ledger_read || !it->second->requests.empty()) continue;
    if (writes++ == most) return true;
    if (!work_on(uid, now)) return false;
    if (std::exchange(look_first_, false)) return true;
  }
  return true;
}

bool ReassignmentReconciler::work_pass(Now now) {
  next_due_ = MonoTime::max();
  timers(now);
  if (!context_.leading) dirty_.clear();
  const std::vector<std::string> work = dirty_.due(now.mono);
  for (const std::string& uid : work) {
    if (!work_on(uid, now)) return false;
    if (std::exchange(look_first_, false)) break;
  }
  tell_waiting(now);
  want(dirty_.next_due(now.mono));
  return true;
}

bool ReassignmentReconciler::work_on(const std::string& uid, Now now) {
  const auto it = active_.find(uid);
  if (it == active_.end()) {
    dirty_.forget(uid);
    return true;
  }
  WorkFigures::Reconcile look(context_.deps.reassignment_work, dirty_.waited(uid, now.mono));
  outcome_ = WorkFigures::Outcome::kRequeue;
  const bool go_on = look_at(uid, *it->second, now);
  look.ended(outcome_);
  if (outcome_ == WorkFigures::Outcome::kSuccess || outcome_ == WorkFigures::Outcome::kRequeueAfter)
    dirty_.succeeded(uid);
  dirty_.again(uid);  // unless the look took the mark away
  return go_on;
}

bool ReassignmentReconciler::look_at(const std::string& uid, Active& a, Now now) {
  if (!a.gone && a.cr.finished()) return finish(uid, a);
  if (a.gone && !a.ledger_read) {
    dirty_.done(uid);  // marked again when it was read
    return true;
  }
  if (a.dry_runs_of != a.cr.meta.generation) {
    a.dry_runs.clear();
    a.dry_runs_of = a.cr.meta.generation;
  }
  auto plan = decide::decide_reassignment(observe(a), context_.policy, now.wall);
  if (std::holds_alternative<std::monostate>(plan.write)) {
    dirty_.done(uid);
    outcome_ = plan.look_again ? WorkFigures::Outcome::kRequeueAfter : WorkFigures::Outcome::kSuccess;
    if (!a.gone) decided(uid, a, std::move(plan), now);
    return true;
  }
  if (!context_.usable_now()) return true;  // stays marked until the tree is back
  return act(uid, a, plan.write, now);
}

bool ReassignmentReconciler::finish(const std::string& uid, Active& a) {
  const bool answered = std::all_of(a.dry_runs.begin(), a.dry_runs.end(),
                                    [](const decide::DryRun& run) { return run.result.has_value(); });
  if (!a.dry_runs.empty() && answered && context_.usable_now()) return drop_dry_runs(uid, a);
  dirty_.done(uid);
  outcome_ = WorkFigures::Outcome::kSuccess;
  if (a.dry_runs.empty() || !context_.writing) retire(uid);
  return true;
}

bool ReassignmentReconciler::act(const std::string& uid, Active& a, const decide::TreeWrite& write, Now now) {
  if (const auto* request = std::get_if<decide::SendRequest>(&write)) return send(uid, a, *request, now);
  if (const auto* cleaning = std::get_if<decide::CleanUp>(&write)) return clean(uid, a, *cleaning, now);
  return drop_dry_runs(uid, a);
}

bool ReassignmentReconciler::send(const std::string& uid, Active& a, const decide::SendRequest& send, Now now) {
  const LedgerKey key{uid, a.cr.meta.ns, a.cr.meta.name};
  const auto name = context_.ledger.send(*context_.zk, key, send, a.requests, context_.deadline());
  if (!name) {
    // NODEEXISTS of the lock, a marker that is there, a lost answer: all of it is observed again.
    context_.tree.on_event({ZkEvent::Type::kChanged, std::string(tree::kLock), ZkState::kConnected});
    if (send.dry_run) return failed(uid, name.error(), now);
    return doubt(uid, name.error(), now);
  }
  dirty_.succeeded(uid);
  a.ask_again = false;
  a.ask_again_at.reset();
  unread_.insert(uid);
  const std::size_t partitions = count(send.request.assignments);
  if (send.dry_run) {
    a.dry_runs.push_back({*name, 0, std::nullopt});
    return true;
  }
  for (auto i = send.replaces.rbegin(); i != send.replaces.rend(); ++i) {
    const SentRequest& old = a.requests[*i];
    result_paths_.erase(tree::result(old.result_name()));
    a.requests.erase(a.requests.begin() + static_cast<std::ptrdiff_t>(*i));
  }
  SentRequest sent;
  sent.marker = send.marker;
  sent.attempt = send.attempt;
  sent.name = *name;
  sent.sent = now.wall;
  sent.request = std::make_shared<tree::Request>(send.request);
  a.requests.push_back(std::move(sent));
  log::info("request sent",
            {{"namespace", key.ns}, {"name", key.name}, {"request", *name}, {"partitions", partitions}});
  if (send.replaces.empty()) tell_about_request(a, *name, partitions);
  return true;
}

void ReassignmentReconciler::tell_about_request(const Active& a, const std::string& name, std::size_t partitions) {
  std::string text = std::to_string(partitions) + " partitions in " + name;
  if (!a.cr.spec.reason.empty()) text += " (" + a.cr.spec.reason + ")";
  context_.tell(Kind::kReassignment, a.cr.meta, {{false, "Requested", text}});
}

bool ReassignmentReconciler::clean(const std::string& uid, Active& a, const decide::CleanUp& cleaning, Now now) {
  std::vector<const SentRequest*> requests;
  for (const std::size_t i : cleaning.requests) requests.push_back(&a.requests.at(i));
  const auto done = context_.ledger.clean_up(*context_.zk, uid, requests, cleaning.root, context_.deadline());
  if (!done) return doubt(uid, done.error(), now);
  if (cleaning.root) {
    forget(uid);
    return true;
  }
  for (auto i = cleaning.requests.rbegin(); i != cleaning.requests.rend(); ++i) {
    result_paths_.erase(tree::result(a.requests[*i].result_name()));
    a.requests.erase(a.requests.begin() + static_cast<std::ptrdiff_t>(*i));
  }
  return true;
}

bool ReassignmentReconciler::drop_dry_runs(const std::string& uid, Active& a) {
  std::vector<std::string> names;
  for (const decide::DryRun& run : a.dry_runs) names.push_back(tree::result_name(run.name, run.czxid));
  const auto done = context_.ledger.drop_results(*context_.zk, names, context_.deadline());
  for (const std::string& name : names) result_paths_.erase(tree::result(name));
  a.dry_runs.clear();
  a.ask_again = false;
  mark(uid);
  return done.has_value() || context_.usable(done.error());
}

bool ReassignmentReconciler::sweep_pass(Now now) {
  constexpr int kMostAtOnce = 4;
  if (!synced() || !context_.usable_now()) return true;
  if (!sweep_listed_) {
    sweep_listed_ = true;
    for (const std::string& uid : context_.ledger.uids())
      if (!active_.contains(uid) && !finished_.contains(uid)) sweep_.push_back(uid);
  }
  for (int i = 0; i < kMostAtOnce && !sweep_.empty(); ++i) {
    const std::string uid = sweep_.back();
    const auto whose = context_.ledger.whose(*context_.zk, uid, context_.deadline());
    if (!whose) return context_.usable(whose.error());
    if (active_.contains(uid) || finished_.contains(uid)) {
      sweep_.pop_back();
      continue;
    }
    const LedgerKey key = *whose ? **whose : LedgerKey{uid, "", ""};
    const auto& watched = context_.watch_namespaces;
    if (!key.ns.empty() && !watched.empty() && std::find(watched.begin(), watched.end(), key.ns) == watched.end()) {
      sweep_.pop_back();
      continue;
    }
    if (!key.ns.empty()) {
      const auto object =
          context_.deps.kube.get(resource_of(Kind::kReassignment), {key.ns, key.name}, context_.deadline());
      if (!object) return true;  // the API server is away: later
      if (*object) {
        const auto cr = api::decode_reassignment(**object);
        if (!cr || cr->meta.uid == uid) {
          sweep_.pop_back();
          continue;
        }
      }
    }
    sweep_.pop_back();
    Active& a = activate(uid, now);
    a.cr.meta.uid = uid;
    a.cr.meta.ns = key.ns;
    a.cr.meta.name = key.name;
    a.gone = true;
    mark(uid);
  }
  if (!sweep_.empty()) want(now.mono + 1s);
  return true;
}

ReassignmentReconciler::Figures ReassignmentReconciler::figures() const {
  Figures out;
  out.active = active_.size();
  out.finished = finished_.size();
  for (const auto& [uid, a] : active_)
    for (const SentRequest& sent : a->requests) {
      if (!sent.result && !sent.lost) ++out.pending_requests;
      if (sent.result && !sent.result->done) out.in_flight += sent.result->in_flight();
    }
  return out;
}

std::int64_t ReassignmentReconciler::withdrawn() const {
  std::int64_t n = 0;
  const auto& lock = context_.tree.view().lock;
  if (!lock) return 0;
  for (const auto& [uid, a] : active_)
    for (const SentRequest& sent : a->requests)
      if (sent.result && sent.sent <= lock->created + 1min)
        n += static_cast<std::int64_t>(sent.result->finished_count(tree::outcome::kWithdrawn));
  return n;
}

MonoTime ReassignmentReconciler::next_due() const { return next_due_; }

}  // namespace kro::reconcile
