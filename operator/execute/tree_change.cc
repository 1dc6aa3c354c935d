#include "execute/tree_change.h"

#include <algorithm>

#include "base/assert.h"
#include "tree/paths.h"

namespace kro::execute {

using decide::AcceptedRequest;
using decide::Episode;

void TreeChange::put_episode(const TopicPartition& tp, tree::Reassignment data) { episodes_[tp] = std::move(data); }

void TreeChange::end_episode(const TopicPartition& tp) {
  KRO_ASSERT(model_.in_flight.contains(tp));
  episodes_[tp] = std::nullopt;
}

TreeChange::RequestChange* TreeChange::request(const std::string& result_name) {
  const auto seen = requests_.find(result_name);
  if (seen != requests_.end()) return &seen->second;
  const auto known = model_.requests.find(result_name);
  if (known == model_.requests.end()) return nullptr;
  const AcceptedRequest& r = known->second;
  RequestChange change{r.result, r.originals, r.waiting, false, false, !r.result_gone};
  return &requests_.emplace(result_name, std::move(change)).first->second;
}

TreeChange::CancelChange* TreeChange::cancel(const std::string& cancel_name) {
  const auto seen = cancels_.find(cancel_name);
  if (seen != cancels_.end()) return &seen->second;
  const auto known = model_.cancels.find(cancel_name);
  if (known == model_.cancels.end()) return nullptr;
  return &cancels_.emplace(cancel_name, CancelChange{known->second.result, !known->second.result_gone}).first->second;
}

void TreeChange::settle(RequestChange& change, const AcceptedRequest& before) {
  const auto ended = change.result.refused_count() + change.result.finished_count();
  change.result.waiting = static_cast<std::int32_t>(count(change.waiting));
  change.result.done = ended >= static_cast<std::size_t>(change.result.partitions);
  if (change.result.done) {
    change.result.holding.clear();
    change.result.problems.clear();
    change.result.problems_total = 0;
  }
  change.delete_request = before.in_inbox && change.waiting.empty();
}

void TreeChange::finish(const std::string& result_name, const TopicPartition& tp, std::string_view outcome) {
  RequestChange* change = request(result_name);
  if (change == nullptr || !change->result.outcome_of(tp).empty()) return;
  insert(change->result.finished[std::string(outcome)], tp);
  erase(change->waiting, tp);
  auto& problems = change->result.problems;
  std::erase_if(problems, [&](const tree::Problem& p) { return p.tp == tp; });
  settle(*change, model_.requests.at(result_name));
}

void TreeChange::finish_cancel(const std::string& cancel_name, const TopicPartition& tp, std::string_view outcome,
                               bool refused) {
  CancelChange* change = cancel(cancel_name);
  if (change == nullptr || !change->result.outcome_of(tp).empty()) return;
  insert((refused ? change->result.refused : change->result.finished)[std::string(outcome)], tp);
  const auto ended = change->result.refused_count() + change->result.finished_count();
  change->result.done = ended >= static_cast<std::size_t>(change->result.partitions);
}

void TreeChange::started(const std::string& result_name, const TopicPartition& tp) {
  RequestChange* change = request(result_name);
  if (change == nullptr) return;
  erase(change->waiting, tp);
  settle(*change, model_.requests.at(result_name));
}

void TreeChange::joined(const std::string& result_name, const TopicPartition& tp) {
  RequestChange* change = request(result_name);
  if (change == nullptr) return;
  insert(change->result.joined, tp);
  erase(change->waiting, tp);
  settle(*change, model_.requests.at(result_name));
}

void TreeChange::set_originals_of_waiting(const TopicPartition& tp, const ReplicaList& now) {
  for (const auto& [name, r] : model_.requests) {
    if (find(r.waiting, tp) == nullptr) continue;
    RequestChange* change = request(name);
    if (find(change->waiting, tp) == nullptr) continue;
    ReplicaList& list = change->originals.originals[tp.topic][tp.partition];
    if (list == now) continue;
    list = now;
    change->originals_changed = true;
  }
}

void TreeChange::touch_progress(const std::string& result_name, WallTime now) {
  if (RequestChange* change = request(result_name)) change->result.last_progress = rfc3339(now);
}

tree::RequestResult* TreeChange::result(const std::string& result_name) {
  RequestChange* change = request(result_name);
  return change == nullptr ? nullptr : &change->result;
}

tree::RequestResult* TreeChange::cancel_result(const std::string& cancel_name) {
  CancelChange* change = cancel(cancel_name);
  return change == nullptr ? nullptr : &change->result;
}

bool TreeChange::empty() const { return episodes_.empty() && requests_.empty() && cancels_.empty(); }

std::vector<TreeChange::Tagged> TreeChange::tagged() const {
  using Kind = Tagged::Kind;
  std::vector<Tagged> out;
  const std::string lock(tree::kLock);
  if (lock_ == Lock::kMustNotExist) {
    out.push_back({ZkCreate{lock, "", ZkMode::kPersistent}, Kind::kLock, {}, {}});
    out.push_back({ZkDelete{lock, kAnyVersion}, Kind::kLock, {}, {}});
  } else if (lock_ == Lock::kMustExist) {
    out.push_back({ZkCheck{lock, lock_version_}, Kind::kLock, {}, {}});
  }

  std::set<std::string> new_dirs;
  std::map<std::string, int> left;  // topic → partitions in flight after this change
  for (const auto& [tp, data] : episodes_) left.emplace(tp.topic, 0);
  for (auto& [topic, n] : left) {
    for (auto it = model_.in_flight.lower_bound({topic, 0}); it != model_.in_flight.end() && it->first.topic == topic;
         ++it)
      ++n;
  }
  for (const auto& [tp, data] : episodes_) {
    const auto known = model_.in_flight.find(tp);
    const bool exists = known != model_.in_flight.end();
    const std::string path = tree::reassignment(tp);
    if (!data) {
      out.push_back({ZkDelete{path, known->second.version}, Kind::kEpisode, {}, tp});
      --left[tp.topic];
    } else if (exists) {
      out.push_back({ZkSet{path, tree::encode_reassignment(*data), known->second.version}, Kind::kEpisode, {}, tp});
    } else {
      if (!model_.topic_dirs.contains(tp.topic) && new_dirs.insert(tp.topic).second)
        out.push_back({ZkCreate{tree::topic(tp.topic), "", ZkMode::kPersistent}, Kind::kTopicDir, tp.topic, tp});
      out.push_back({ZkCreate{path, tree::encode_reassignment(*data), ZkMode::kPersistent}, Kind::kEpisode, {}, tp});
      ++left[tp.topic];
    }
  }
  for (const auto& [topic, n] : left)
    if (n == 0 && !keep_topic_dirs_.contains(topic))
      out.push_back({ZkDelete{tree::topic(topic), kAnyVersion}, Kind::kTopicDirDelete, topic, {}});

  for (const auto& [name, change] : requests_) {
    if (change.write_result)
      out.push_back({ZkSet{tree::result(name), tree::encode_result(change.result)}, Kind::kResult, name, {}});
    if (change.write_result && change.originals_changed)
      out.push_back(
          {ZkSet{tree::originals(name), tree::encode_originals(change.originals)}, Kind::kOriginals, name, {}});
    if (change.delete_request)
      out.push_back({ZkDelete{tree::request(model_.requests.at(name).name), kAnyVersion}, Kind::kRequest, name, {}});
  }
  for (const auto& [name, change] : cancels_)
    if (change.write_result)
      out.push_back({ZkSet{tree::result(name), tree::encode_result(change.result)}, Kind::kResult, name, {}});
  return out;
}

std::vector<ZkOp> TreeChange::ops() const {
  std::vector<ZkOp> out;
  for (Tagged& t : tagged()) out.push_back(std::move(t.op));
  return out;
}

bool TreeChange::amend(const Error& error) {
  if (!error.op_index || *error.op_index < 0) return false;
  const auto list = tagged();
  if (static_cast<std::size_t>(*error.op_index) >= list.size()) return false;
  const Tagged& failed = list[static_cast<std::size_t>(*error.op_index)];
  using Kind = Tagged::Kind;
  // Gone already, or not to be deleted (a child, an ACL): either way it is out of our hands.
  if (failed.kind == Kind::kRequest) {
    model_.requests.at(failed.name).in_inbox = false;
    requests_.at(failed.name).delete_request = false;
    return true;
  }
  if ((failed.kind == Kind::kResult || failed.kind == Kind::kOriginals) && error.code == ErrorCode::kNotFound) {
    if (const auto r = requests_.find(failed.name); r != requests_.end()) {
      r->second.write_result = false;
      model_.requests.at(failed.name).result_gone = true;
    }
    if (const auto c = cancels_.find(failed.name); c != cancels_.end()) {
      c->second.write_result = false;
      model_.cancels.at(failed.name).result_gone = true;
    }
    return true;
  }
  if (failed.kind == Kind::kTopicDir && error.code == ErrorCode::kAlreadyExists) {
    model_.topic_dirs.insert(failed.name);
    return true;
  }
  if (failed.kind == Kind::kTopicDirDelete) {
    keep_topic_dirs_.insert(failed.name);
    return true;
  }
  if (failed.kind == Kind::kEpisode && error.code == ErrorCode::kNotFound &&
      model_.topic_dirs.contains(failed.tp.topic) && !model_.in_flight.contains(failed.tp)) {
    model_.topic_dirs.erase(failed.tp.topic);
    return true;
  }
  return false;
}

std::optional<TopicPartition> TreeChange::undeletable(const Error& error) const {
  if (!error.op_index || *error.op_index < 0 || error.code != ErrorCode::kNotEmpty) return std::nullopt;
  const auto list = tagged();
  const auto index = static_cast<std::size_t>(*error.op_index);
  if (index >= list.size() || list[index].kind != Tagged::Kind::kEpisode) return std::nullopt;
  return list[index].tp;
}

void TreeChange::apply() {
  for (const Tagged& t : tagged()) {
    if (t.kind == Tagged::Kind::kTopicDir) model_.topic_dirs.insert(t.name);
    if (t.kind == Tagged::Kind::kTopicDirDelete) model_.topic_dirs.erase(t.name);
  }
  for (auto& [tp, data] : episodes_) {
    if (!data) {
      model_.in_flight.erase(tp);
      continue;
    }
    const auto [at, fresh] = model_.in_flight.try_emplace(tp);
    const std::int32_t version = fresh ? 0 : at->second.version + 1;
    at->second = Episode{};  // whatever was learnt belonged to the target before
    at->second.data = std::move(*data);
    at->second.version = version;
  }
  for (auto& [name, change] : requests_) {
    AcceptedRequest& r = model_.requests.at(name);
    r.result = std::move(change.result);
    r.originals = std::move(change.originals);
    r.waiting = std::move(change.waiting);
    if (change.delete_request) r.in_inbox = false;
    if (r.result.done) model_.requests.erase(name);
  }
  for (auto& [name, change] : cancels_) model_.cancels.at(name).result = std::move(change.result);
}

}  // namespace kro::execute
