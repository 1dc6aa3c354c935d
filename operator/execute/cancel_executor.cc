#include "execute/cancel_executor.h"

#include <algorithm>

#include "base/log.h"
#include "decide/rollback_decider.h"
#include "tree/limits.h"
#include "tree/paths.h"

namespace kro::execute {

using decide::AcceptedRequest;
using decide::CancelRecord;
using decide::Episode;
namespace outcome = tree::outcome;

namespace {

constexpr std::size_t kBatch = 200;
constexpr std::string_view kNoOriginalInSync = "NoOriginalInSync";
constexpr std::string_view kLockRemoved = "LockRemoved";

// The znode of a roll back: the originals are its target, and what was its target is one of `earlier`.
tree::Reassignment rolled_back(const tree::Reassignment& running, const std::string& cancel) {
  tree::Reassignment out = running;
  out.earlier.insert(out.earlier.begin(), running.assignment);
  if (out.earlier.size() > tree::kMostEarlierTargets) out.earlier.resize(tree::kMostEarlierTargets);
  out.assignment = running.originals;
  out.cancel = cancel;
  return out;
}

// Something of it was started, and something waits. What was superseded, or had changed before its turn, never was.
bool half_started(const std::string& name, const AcceptedRequest& r, const decide::ControllerModel& model) {
  if (r.waiting.empty()) return false;
  if (!r.result.joined.empty()) return true;
  for (const auto ended : {outcome::kCompleted, outcome::kRestored, outcome::kCompletedFirst})
    if (r.result.finished_count(ended) > 0) return true;
  return std::any_of(model.in_flight.begin(), model.in_flight.end(),
                     [&](const auto& e) { return e.second.data.request == name; });
}

}  // namespace

Status CancelExecutor::read_lock() {
  const auto node = c_.session.get(std::string(tree::kLock), true, c_.clock.in(Leadership::kReadTimeout, c_.stop));
  if (!node) return tl::unexpected(node.error());
  const bool had = c_.model.lock.has_value();
  c_.model.lock.reset();
  if (*node) c_.model.lock = decide::LockSeen{(*node)->stat.czxid, (*node)->stat.version, (*node)->stat.ctime_ms};
  if (had != c_.model.lock.has_value()) {
    log::info(c_.model.lock ? "lock seen: nothing starts, everything in flight is rolled back" : "lock removed");
    c_.moved = true;
  }
  c_.lock_seen = false;
  return {};
}

std::vector<TopicPartition> CancelExecutor::undecided(const std::string& name) const {
  std::vector<TopicPartition> out;
  const CancelRecord& record = c_.model.cancels.at(name);
  for (const auto& [topic, partitions] : record.originals.originals)
    for (const auto& [partition, replicas] : partitions)
      if (TopicPartition tp{topic, partition}; record.undecided(tp)) out.push_back(std::move(tp));
  return out;
}

bool CancelExecutor::busy() const {
  if (c_.model.lock && !c_.model.cancels.contains(tree::cancel_result_name(c_.model.lock->czxid))) return true;
  return std::any_of(c_.model.cancels.begin(), c_.model.cancels.end(),
                     [](const auto& r) { return !r.second.result.done; });
}

Status CancelExecutor::open_record(const std::string& name) {
  CancelRecord record;
  tree::RequestResult& result = record.result;
  result.czxid = tree::hex(c_.model.lock->czxid);
  result.ctime = c_.model.lock->ctime;
  result.received = rfc3339(c_.clock.now().wall);
  const auto affect = [&](const TopicPartition& tp, const ReplicaList& originals, std::size_t top, bool decided) {
    ++result.partitions;
    record.originals.originals[tp.topic][tp.partition] = originals;
    if (!decided && !decide::may_roll_back(tp, originals, top, *c_.view))
      insert(result.refused[std::string(kNoOriginalInSync)], tp);
  };
  for (const auto& [tp, episode] : c_.model.in_flight) {
    const bool decided = episode.data.cancel == name;  // under a record of this lock that had to be made anew
    if (!episode.data.ended && (decided || !episode.data.rolling_back()))
      affect(tp, episode.data.originals, static_cast<std::size_t>(episode.data.top), decided);
  }
  for (const auto& [tp, row] : c_.view->after) {
    if (c_.model.in_flight.contains(tp) || row.origin().empty()) continue;
    insert(result.foreign, tp);
    affect(tp, row.origin(), row.origin().size(), false);
  }
  result.done = result.refused_count() == static_cast<std::size_t>(result.partitions);

  const auto written = c_.write(
      {ZkCheck{std::string(tree::kLock), c_.model.lock->version},
       ZkCreate{tree::result(name), tree::encode_result(result), ZkMode::kPersistent, ZkAcl::kCreatorAllWorldRead},
       ZkCreate{tree::originals(name), tree::encode_originals(record.originals), ZkMode::kPersistent,
                ZkAcl::kCreatorAllWorldRead}});
  if (!written) {
    const Error& error = written.error();
    if (error.op_index == 0) c_.lock_seen = true;  // the lock has changed: read it again
    // A record of this lock that could not be read when it was loaded: it can only be made anew.
    if (error.op_index == 1 && error.code == ErrorCode::kAlreadyExists) return remove_unreadable(name);
    return tl::unexpected(error);
  }
  log::info("roll back decided", {{"result", name},
                                  {"partitions", result.partitions},
                                  {"refused", result.refused_count()},
                                  {"foreign", count(result.foreign)}});
  c_.model.cancels.emplace(name, std::move(record));
  c_.moved = true;
  return {};
}

Status CancelExecutor::remove_unreadable(const std::string& name) {
  log::warn("the result of this lock cannot be read and is made anew", {{"result", name}});
  auto removed = c_.write({ZkDelete{tree::originals(name)}, ZkDelete{tree::result(name)}});
  if (!removed && removed.error().op_index == 0 && removed.error().code == ErrorCode::kNotFound)
    removed = c_.write({ZkDelete{tree::result(name)}});
  if (!removed) return tl::unexpected(removed.error());
  c_.moved = true;
  return {};
}

Status CancelExecutor::add_late_foreign(const std::string& name) {
  CancelRecord& record = c_.model.cancels.at(name);
  if (record.result_gone) return {};
  CancelRecord grown = record;
  for (const auto& [tp, row] : c_.view->after) {
    if (c_.model.in_flight.contains(tp) || row.origin().empty() || find(grown.originals.originals, tp) != nullptr)
      continue;
    ++grown.result.partitions;
    insert(grown.result.foreign, tp);
    grown.originals.originals[tp.topic][tp.partition] = row.origin();
    if (!decide::may_roll_back(tp, row.origin(), row.origin().size(), *c_.view))
      insert(grown.result.refused[std::string(kNoOriginalInSync)], tp);
  }
  if (grown.result.partitions == record.result.partitions) return {};
  const auto ended = grown.result.refused_count() + grown.result.finished_count();
  grown.result.done = ended == static_cast<std::size_t>(grown.result.partitions);
  const auto written = c_.write({ZkSet{tree::result(name), tree::encode_result(grown.result)},
                                 ZkSet{tree::originals(name), tree::encode_originals(grown.originals)}});
  if (!written) return tl::unexpected(written.error());
  record = std::move(grown);
  c_.moved = true;
  return {};
}

Status CancelExecutor::mark_episodes(const std::string& name) {
  std::vector<TopicPartition> wanted;
  for (const TopicPartition& tp : undecided(name)) {
    const auto episode = c_.model.in_flight.find(tp);
    if (episode != c_.model.in_flight.end() && !episode->second.data.rolling_back() && !episode->second.data.ended)
      wanted.push_back(tp);
  }
  for (std::size_t at = 0; at < wanted.size(); at += kBatch) {
    TreeChange change(c_.model);
    change.assert_lock(c_.model.lock->version);
    for (std::size_t i = at; i < std::min(wanted.size(), at + kBatch); ++i)
      change.put_episode(wanted[i], rolled_back(c_.model.in_flight.at(wanted[i]).data, name));
    if (auto written = c_.commit(change); !written) {
      if (written.error().op_index == 0 && written.error().code != ErrorCode::kAlreadyExists) c_.lock_seen = true;
      return written;
    }
  }
  return {};
}

Status CancelExecutor::withdraw_rest() {
  std::vector<std::string> names;
  for (const auto& [name, request] : c_.model.requests)
    if (half_started(name, request, c_.model)) names.push_back(name);
  for (const std::string& name : names) {
    TreeChange change(c_.model);
    const Assignments waiting = c_.model.requests.at(name).waiting;
    for (const auto& [topic, partitions] : waiting)
      for (const auto& [partition, replicas] : partitions) change.finish(name, {topic, partition}, outcome::kWithdrawn);
    if (auto written = c_.commit(change); !written) return written;
    c_.count_outcome(outcome::kWithdrawn, static_cast<double>(count(waiting)));
  }
  return {};
}

// The lock went early: what has no znode that says "roll back" is not rolled back any more.
Status CancelExecutor::close_removed(const std::string& name) {
  TreeChange change(c_.model);
  bool any = false;
  for (const TopicPartition& tp : undecided(name)) {
    const auto episode = c_.model.in_flight.find(tp);
    const bool ours = episode != c_.model.in_flight.end() && episode->second.data.cancel == name;
    const auto foreign = c_.model.foreign_rollbacks.find(tp);
    const bool sent = foreign != c_.model.foreign_rollbacks.end() && foreign->second.null_answered;
    if (ours || sent) continue;
    change.finish_cancel(name, tp, kLockRemoved, true);
    any = true;
  }
  return any ? c_.commit(change) : Status{};
}

Status CancelExecutor::roll_back_foreign(const std::string& name) {
  using What = decide::ForeignVerdict::What;
  const CancelRecord& record = c_.model.cancels.at(name);
  const bool standing = c_.model.lock && tree::cancel_result_name(c_.model.lock->czxid) == name;
  AlterRequest nulls;
  TreeChange change(c_.model);
  for (const TopicPartition& tp : undecided(name)) {
    if (!contains(record.result.foreign, tp)) continue;
    decide::ForeignRollback& state = c_.model.foreign_rollbacks[tp];
    const auto verdict =
        decide::roll_back_foreign(tp, *find(record.originals.originals, tp), state, *c_.view, c_.uncertain(tp));
    state.unlisted = verdict.unlisted;
    switch (verdict.what) {
      case What::kWait: break;
      case What::kSendNull:
        if (standing && nulls.size() < CallExecutor::kMostPartitions) nulls.emplace(tp, std::nullopt);
        break;
      case What::kRestored: change.finish_cancel(name, tp, outcome::kRestored, false); break;
      case What::kCompletedFirst: change.finish_cancel(name, tp, outcome::kCompletedFirst, false); break;
      case What::kRefused: change.finish_cancel(name, tp, kNoOriginalInSync, true); break;
    }
  }
  if (!change.empty())
    if (auto written = c_.commit(change); !written) return written;
  if (nulls.empty()) return {};
  const auto answers = calls_.call(nulls, true);
  if (!answers) return tl::unexpected(answers.error());
  for (const auto& [tp, answer] : *answers) {
    decide::ForeignRollback& state = c_.model.foreign_rollbacks[tp];
    state.next_call = c_.clock.now().mono + 1s;
    if (answer.code == kafka_error::kNone)
      state.null_answered = true;
    else
      state.last_error = answer;
  }
  c_.moved = true;
  return {};
}

// An affected partition whose znode is gone without an outcome here (deleted by hand): it is over, one way or another.
Status CancelExecutor::finish_empty(const std::string& name) {
  const CancelRecord& record = c_.model.cancels.at(name);
  TreeChange change(c_.model);
  for (const TopicPartition& tp : undecided(name)) {
    if (contains(record.result.foreign, tp) || c_.model.in_flight.contains(tp)) continue;
    change.finish_cancel(name, tp, "AlreadyEnded", true);
  }
  return change.empty() ? Status{} : c_.commit(change);
}

void CancelExecutor::forget_finished() {
  const std::string present = c_.model.lock ? tree::cancel_result_name(c_.model.lock->czxid) : std::string();
  std::erase_if(c_.model.cancels,
                [&](const auto& r) { return r.first != present && (r.second.result.done || r.second.result_gone); });
  if (c_.model.cancels.empty()) c_.model.foreign_rollbacks.clear();
}

Status CancelExecutor::step() {
  const std::string present = c_.model.lock ? tree::cancel_result_name(c_.model.lock->czxid) : std::string();
  if (c_.model.lock) {
    if (!c_.model.cancels.contains(present)) {
      if (auto opened = open_record(present); !opened) return opened;
      if (!c_.model.cancels.contains(present)) return {};  // made anew in the next step
    } else if (auto added = add_late_foreign(present); !added) {
      return added;
    }
    if (auto marked = mark_episodes(present); !marked) return marked;
    if (auto withdrawn = withdraw_rest(); !withdrawn) return withdrawn;
  }
  std::vector<std::string> names;
  for (const auto& [name, record] : c_.model.cancels)
    if (!record.result.done) names.push_back(name);
  for (const std::string& name : names) {
    if (name != present)
      if (auto closed = close_removed(name); !closed) return closed;
    if (auto done = roll_back_foreign(name); !done) return done;
    if (auto done = finish_empty(name); !done) return done;
  }
  forget_finished();
  return {};
}

}  // namespace kro::execute
