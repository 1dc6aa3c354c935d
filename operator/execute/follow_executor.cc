#include "execute/follow_executor.h"

#include <algorithm>

#include "base/log.h"
#include "decide/follow_decider.h"
#include "decide/rollback_decider.h"

namespace kro::execute {

using decide::Episode;
namespace outcome = tree::outcome;

namespace {

constexpr std::size_t kMostOutcomesPerMulti = 200;
constexpr milliseconds kFirstRetry = 1s;
constexpr milliseconds kLastRetry = 30s;

milliseconds retry_after(int refusals) {
  milliseconds wait = kFirstRetry;
  for (int i = 1; i < refusals && wait < kLastRetry; ++i) wait *= 2;
  return std::min(wait, kLastRetry);
}

}  // namespace

void FollowExecutor::note_progress(const TopicPartition& tp, Episode& episode) {
  const auto* partition = c_.view->metadata.find(tp);
  if (partition == nullptr) return;
  for (const BrokerId id : without(episode.data.assignment, episode.data.originals)) {
    auto [at, fresh] = episode.adding.try_emplace(id);
    const bool in_sync = contains(partition->isr, id);
    if (fresh) {
      at->second.last_growth = c_.view->begun.mono;
    } else if (in_sync && !at->second.in_sync) {
      at->second.last_growth = c_.view->begun.mono;
      c_.progressed.insert(episode.data.request);
    }
    at->second.in_sync = in_sync;
  }
}

void FollowExecutor::look_forward(const TopicPartition& tp, Episode& episode, std::vector<Outcome>& outcomes) {
  using What = decide::FollowVerdict::What;
  const auto verdict = decide::follow(tp, episode, *c_.view, c_.uncertain(tp));
  episode.outside = verdict.outside;
  episode.topic_missing = verdict.topic_missing;
  episode.running = verdict.running;
  if (verdict.running) {
    // Listed with our target, whoever's call it was: accepted. (A repeated call is answered 39 when an adding
    // replica is dead, although the move runs.)
    episode.last_error.reset();
    if (!episode.answered) episode.answered = c_.view->begun.mono;
  }
  switch (verdict.what) {
    case What::kWait: break;
    case What::kSubmit:
      if (episode.next_call <= c_.view->begun.mono) c_.to_submit.insert(tp);
      break;
    case What::kCompleted: outcomes.push_back({tp, outcome::kCompleted, {}}); break;
    case What::kChangedOutside: outcomes.push_back({tp, outcome::kChangedOutside, {}}); break;
    case What::kTopicDeleted: outcomes.push_back({tp, outcome::kTopicDeleted, {}}); break;
  }
}

void FollowExecutor::look_back(const TopicPartition& tp, Episode& episode, std::vector<Outcome>& outcomes) {
  using What = decide::RollbackVerdict::What;
  const auto verdict = decide::roll_back(tp, episode, *c_.view, c_.uncertain(tp));
  episode.outside = verdict.outside;
  episode.topic_missing = verdict.topic_missing;
  const bool due = episode.next_call <= c_.view->begun.mono;
  switch (verdict.what) {
    case What::kWait: break;
    case What::kSendNull:
      if (due) nulls_.insert(tp);
      break;
    case What::kSendOriginals:
      if (due) originals_.insert(tp);
      break;
    case What::kRestored: outcomes.push_back({tp, outcome::kRestored, outcome::kRestored}); break;
    case What::kCompletedFirst: outcomes.push_back({tp, outcome::kCompletedFirst, outcome::kCompletedFirst}); break;
    case What::kChangedOutside: outcomes.push_back({tp, outcome::kChangedOutside, "ChangedOutside", true}); break;
    case What::kTopicDeleted: outcomes.push_back({tp, outcome::kTopicDeleted, outcome::kTopicDeleted}); break;
  }
}

Status FollowExecutor::follow() {
  c_.to_submit.clear();
  nulls_.clear();
  originals_.clear();
  std::vector<Outcome> outcomes;
  for (auto& [tp, episode] : c_.model.in_flight) {
    if (episode.data.ended) continue;
    note_progress(tp, episode);
    if (episode.data.rolling_back())
      look_back(tp, episode, outcomes);
    else
      look_forward(tp, episode, outcomes);
  }
  return write_outcomes(outcomes);
}

void FollowExecutor::add(TreeChange& change, const Outcome& o) {
  const std::string cancel = c_.model.in_flight.at(o.tp).data.cancel;
  c_.end_episode(change, o.tp, o.outcome);
  if (!o.cancel_outcome.empty()) change.finish_cancel(cancel, o.tp, o.cancel_outcome, o.cancel_refused);
}

Status FollowExecutor::write_outcomes(std::span<const Outcome> outcomes) {
  while (!outcomes.empty()) {
    const auto batch = outcomes.first(std::min(outcomes.size(), kMostOutcomesPerMulti));
    if (auto written = write_batch(batch); !written) return written;
    outcomes = outcomes.subspan(batch.size());
  }
  return {};
}

Status FollowExecutor::write_batch(std::span<const Outcome> batch) {
  if (batch.size() == 1) return write_one(batch.front());
  TreeChange change(c_.model);
  for (const Outcome& o : batch) add(change, o);
  const Status written = c_.commit(change);
  if (written) {
    for (const Outcome& o : batch) c_.count_outcome(o.outcome);
    return {};
  }
  // One znode stands in the way of the whole batch, or its results are too much for one multi.
  if (!change.undeletable(written.error()) && written.error().code != ErrorCode::kTooLarge) return written;
  const std::size_t half = batch.size() / 2;
  if (auto first = write_batch(batch.first(half)); !first) return first;
  return write_batch(batch.subspan(half));
}

Status FollowExecutor::write_one(const Outcome& o) {
  TreeChange change(c_.model);
  add(change, o);
  Status written = c_.commit(change);
  if (!written && change.undeletable(written.error())) {
    log::warn("a reassignment znode has a child that is not ours and cannot be deleted; it is marked as ended",
              {{"partition", o.tp.text()}});
    tree::Reassignment data = c_.model.in_flight.at(o.tp).data;
    data.ended = true;
    TreeChange marked(c_.model);
    add(marked, o);
    marked.put_episode(o.tp, std::move(data));
    written = c_.commit(marked);
  }
  if (written) c_.count_outcome(o.outcome);
  return written;
}

void FollowExecutor::take_answer(const TopicPartition& tp, const AlterAnswer& answer, bool null) {
  const auto at = c_.model.in_flight.find(tp);
  if (at == c_.model.in_flight.end()) return;
  Episode& episode = at->second;
  const Now now = c_.clock.now();
  if (answer.code == kafka_error::kNone) {
    episode.answered = now.mono;
    episode.last_error.reset();
    episode.refusals = 0;
    if (episode.data.rolling_back()) (null ? episode.null_answered : episode.originals_answered) = true;
    return;
  }
  const bool nothing_runs = null && answer.code == kafka_error::kNoReassignmentInProgress;
  if (!episode.last_error || episode.last_error->code != answer.code) episode.error_since = now.wall;
  episode.last_error = answer;
  if (nothing_runs) {
    episode.answered = now.mono;  // the next list, not an older one, says what became of it
    return;
  }
  ++episode.refusals;
  episode.next_call = now.mono + retry_after(episode.refusals);
  log::warn("Kafka refused a reassignment; it is tried again",
            {{"partition", tp.text()}, {"code", answer.code}, {"message", answer.message}});
}

Status FollowExecutor::submit() {
  if (c_.to_submit.empty()) return {};
  AlterRequest request;
  while (!c_.to_submit.empty() && request.size() < CallExecutor::kMostPartitions) {
    const TopicPartition tp = *c_.to_submit.begin();
    c_.to_submit.erase(c_.to_submit.begin());
    const auto at = c_.model.in_flight.find(tp);
    if (at == c_.model.in_flight.end() || at->second.data.rolling_back() || c_.uncertain(tp)) continue;
    request.emplace(tp, at->second.data.assignment);
  }
  if (request.empty()) return {};
  const auto answers = calls_.call(request, false);
  if (!answers) return tl::unexpected(answers.error());
  for (const auto& [tp, answer] : *answers) take_answer(tp, answer, false);
  c_.moved = true;
  return {};
}

Status FollowExecutor::call_roll_backs() {
  for (const bool null : {true, false}) {
    auto& wanted = null ? nulls_ : originals_;
    AlterRequest request;
    while (!wanted.empty() && request.size() < CallExecutor::kMostPartitions) {
      const TopicPartition tp = *wanted.begin();
      wanted.erase(wanted.begin());
      const auto at = c_.model.in_flight.find(tp);
      if (at == c_.model.in_flight.end() || !at->second.data.rolling_back() || c_.uncertain(tp)) continue;
      if (const auto* row = c_.view->running(tp); null && row != nullptr) at->second.null_leaves = row->origin();
      request.emplace(tp, null ? std::nullopt : std::optional(at->second.data.originals));
    }
    if (request.empty()) continue;
    const auto answers = calls_.call(request, true);
    if (!answers) return tl::unexpected(answers.error());
    for (const auto& [tp, answer] : *answers) take_answer(tp, answer, null);
    c_.moved = true;
    return {};
  }
  return {};
}

}  // namespace kro::execute
