#include <algorithm>

#include "base/log.h"
#include "reconcile/reassignment_reconciler.h"

// The reading half of ReassignmentReconciler: ledgers, czxids of fresh requests, results, busy partitions.
namespace kro::reconcile {
namespace {

using decide::SentRequest;

constexpr std::size_t kMostPerRead = 500;
constexpr auto kPollPeriod = 2s;

}  // namespace

bool ReassignmentReconciler::read_pass(Now now) {
  if (!context_.usable_now()) return true;
  const WorkFigures::Busy busy(context_.deps.reassignment_work);
  return read_ledgers(now) && read_czxids() && read_results(now) && read_busy(now);
}

bool ReassignmentReconciler::read_ledgers(Now now) {
  if (doubtful_.empty()) return true;
  std::vector<std::string> uids;
  for (const std::string& uid : doubtful_) {
    if (uids.size() == kMostPerRead) break;
    if (!dirty_.paused(uid, now.mono)) uids.push_back(uid);
  }
  if (uids.empty()) return true;
  auto read = context_.ledger.read(*context_.zk, uids, context_.deadline());
  if (!read) return context_.usable(read.error());
  for (auto& [uid, requests] : *read) {
    doubtful_.erase(uid);
    const auto it = active_.find(uid);
    if (it == active_.end()) continue;
    Active& a = *it->second;
    for (SentRequest& fresh : requests)
      for (const SentRequest& known : a.requests)
        if (known.czxid == fresh.czxid && known.result) fresh.result = known.result;
    a.requests = std::move(requests);
    a.ledger_read = true;
    for (const SentRequest& request : a.requests)
      if (!request.lost && !(request.result && request.result->done)) {
        const std::string path = tree::result(request.result_name());
        result_paths_[path] = uid;
        dirty_results_.insert(path);
      }
    mark(uid);
  }
  return true;
}

// A fresh request's name is known from the answer; its czxid, which names its result, is its marker's.
bool ReassignmentReconciler::read_czxids() {
  if (unread_.empty()) return true;
  std::vector<std::string> paths;
  std::vector<std::string> of;
  for (const std::string& uid : unread_) {
    if (paths.size() >= kMostPerRead) break;
    const auto it = active_.find(uid);
    if (it == active_.end()) continue;
    for (const SentRequest& request : it->second->requests)
      if (request.czxid == 0) {
        paths.push_back(tree::marker(context_.policy.operator_id, uid,
                                     tree::marker_name(request.marker.generation, request.marker.n)));
        of.push_back(uid);
      }
    for (const decide::DryRun& run : it->second->dry_runs)
      if (run.czxid == 0) {
        paths.push_back(tree::request(run.name));
        of.push_back(uid);
      }
  }
  if (paths.empty()) {
    unread_.clear();
    return true;
  }
  const auto nodes = context_.zk->get_many(paths, false, context_.deadline());
  if (!nodes) return context_.usable(nodes.error());
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Active& a = *active_.at(of[i]);
    unread_.erase(of[i]);
    for (SentRequest& request : a.requests) {
      if (request.czxid != 0 || !(*nodes)[i]) continue;
      if (paths[i] != tree::marker(context_.policy.operator_id, of[i],
                                   tree::marker_name(request.marker.generation, request.marker.n)))
        continue;
      request.czxid = (*nodes)[i]->stat.czxid;
      request.sent = from_epoch_ms((*nodes)[i]->stat.ctime_ms);
      request.marker_version = (*nodes)[i]->stat.version;
      const std::string path = tree::result(request.result_name());
      result_paths_[path] = of[i];
      dirty_results_.insert(path);
    }
    // A dry run that was answered and deleted before we looked cannot be found by czxid: it is asked again.
    std::erase_if(a.dry_runs, [&](decide::DryRun& run) {
      if (run.czxid != 0 || paths[i] != tree::request(run.name)) return false;
      if (!(*nodes)[i]) return true;
      run.czxid = (*nodes)[i]->stat.czxid;
      const std::string path = tree::result(tree::result_name(run.name, run.czxid));
      result_paths_[path] = of[i];
      dirty_results_.insert(path);
      return false;
    });
    mark(of[i]);
  }
  return true;
}

bool ReassignmentReconciler::read_results(Now now) {
  if (!polled_results_.empty() && now.mono >= poll_at_) {
    dirty_results_.insert(polled_results_.begin(), polled_results_.end());
    poll_at_ = now.mono + kPollPeriod;
  }
  if (!polled_results_.empty()) want(poll_at_);
  while (!dirty_results_.empty()) {
    std::vector<std::string> paths;
    for (const std::string& path : dirty_results_) {
      if (paths.size() == kMostPerRead) break;
      paths.push_back(path);
    }
    bool watch = true;
    auto nodes = context_.zk->get_many(paths, true, context_.deadline());
    if (!nodes && nodes.error().code == ErrorCode::kTooLarge) {  // the budget of watched paths is used up
      watch = false;
      nodes = context_.zk->get_many(paths, false, context_.deadline());
    }
    if (!nodes) return context_.usable(nodes.error());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      dirty_results_.erase(paths[i]);
      const auto of = result_paths_.find(paths[i]);
      if (of == result_paths_.end()) continue;
      if (watch) {
        polled_results_.erase(paths[i]);
      } else {
        polled_results_.insert(paths[i]);
      }
      take_result(paths[i], of->second, (*nodes)[i]);
    }
  }
  return true;
}

void ReassignmentReconciler::take_result(const std::string& path, const std::string& uid,
                                         const std::optional<ZkNode>& node) {
  const auto it = active_.find(uid);
  if (it == active_.end() || !node) return;
  auto decoded = tree::decode_result(node->data);
  if (!decoded) {
    log::warn("a result cannot be read", {{"path", path}, {"error", decoded.error().text()}});
    return;
  }
  for (SentRequest& request : it->second->requests) {
    if (request.name.empty() || path != tree::result(request.result_name())) continue;
    if (request.result == *decoded) return;
    wake_the_busy(uid, request, *decoded);
    if (decoded->done) polled_results_.erase(path);
    request.result = std::move(*decoded);
    return mark(uid);
  }
  for (decide::DryRun& run : it->second->dry_runs)
    if (path == tree::result(tree::result_name(run.name, run.czxid))) {
      run.result = std::move(*decoded);
      return mark(uid);
    }
}

// A partition that others wait for got an outcome in one of our own results: they need not wait for their timer.
void ReassignmentReconciler::wake_the_busy(const std::string& uid, const SentRequest& before,
                                           const tree::RequestResult& after) {
  if (busy_topics_.empty()) return;
  for (const auto& [topic, partitions] : before.request->assignments) {
    const auto waiting = busy_topics_.find(topic);
    if (waiting == busy_topics_.end()) continue;
    for (const std::string& other : waiting->second) {
      if (other == uid) continue;
      Active& a = *active_.at(other);
      for (const TopicPartition& tp : a.busy)
        if (find(before.request->assignments, tp) != nullptr && !after.outcome_of(tp).empty() &&
            (!before.result || before.result->outcome_of(tp).empty())) {
          a.ask_again = true;
          mark(other);
        }
    }
  }
}

void ReassignmentReconciler::watch_busy(const std::string& uid, Active& a, const std::vector<TopicPartition>& busy,
                                        Now now) {
  std::set<TopicPartition> wanted(busy.begin(), busy.end());
  if (!wanted.empty() && !a.ask_again_at) a.ask_again_at = now.mono + 30s;
  if (wanted.empty()) a.ask_again_at.reset();
  if (a.ask_again_at) want(*a.ask_again_at);
  if (wanted == a.busy) return;
  for (const TopicPartition& tp : a.busy)
    if (const auto it = busy_topics_.find(tp.topic); it != busy_topics_.end()) {
      it->second.erase(uid);
      if (it->second.empty()) busy_topics_.erase(it);
    }
  a.busy = std::move(wanted);
  a.busy_seen.clear();
  for (const TopicPartition& tp : a.busy) {
    busy_topics_[tp.topic].insert(uid);
    dirty_topics_.insert(tp.topic);
  }
}

bool ReassignmentReconciler::read_busy(Now) {
  while (!dirty_topics_.empty()) {
    const std::string topic = *dirty_topics_.begin();
    const auto waiting = busy_topics_.find(topic);
    if (waiting == busy_topics_.end()) {
      dirty_topics_.erase(topic);
      continue;
    }
    const auto children = context_.zk->children(tree::topic(topic), true, context_.deadline());
    dirty_topics_.erase(topic);
    if (!children) {
      if (children.error().code == ErrorCode::kTooLarge) continue;  // the timer asks again
      dirty_topics_.insert(topic);
      return context_.usable(children.error());
    }
    std::set<std::string> there;
    if (*children) there.insert((*children)->names.begin(), (*children)->names.end());
    for (const std::string& uid : waiting->second) {
      Active& a = *active_.at(uid);
      for (const TopicPartition& tp : a.busy) {
        if (tp.topic != topic) continue;
        if (there.contains(std::to_string(tp.partition))) {
          a.busy_seen.insert(tp);
        } else if (a.busy_seen.erase(tp) > 0) {
          a.ask_again = true;
          mark(uid);
        }
      }
    }
  }
  return true;
}

}  // namespace kro::reconcile
