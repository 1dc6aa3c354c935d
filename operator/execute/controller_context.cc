#include "execute/controller_context.h"

#include "tree/paths.h"

namespace kro::execute {

Result<std::vector<ZkOpResult>> ControllerContext::write(std::vector<ZkOp> ops) {
  const bool empty_calls = model.call_recorded && model.uncertain.empty();
  if (empty_calls) ops.push_back(ZkSet{std::string(tree::kControllerCall), ""});
  auto written = leadership.write(std::move(ops), stop);
  beat();
  if (written && empty_calls) model.call_recorded = false;
  return written;
}

Status ControllerContext::commit(TreeChange& change) {
  constexpr int kMostAmendments = 64;
  for (int i = 0; i < kMostAmendments; ++i) {
    const auto written = write(change.ops());
    if (written) {
      change.apply();
      moved = true;
      return {};
    }
    const Error& error = written.error();
    if (error.retry == Retry::kConflict && error.code != ErrorCode::kFenced && change.amend(error)) continue;
    if (error.code == ErrorCode::kAlreadyExists && error.op_index == 0) lock_seen = true;
    return tl::unexpected(error);
  }
  return fail(ErrorCode::kInternal, Retry::kConflict, "a change of the tree failed after many amendments");
}

void ControllerContext::end_episode(TreeChange& change, const TopicPartition& tp, std::string_view outcome) {
  const decide::Episode& episode = model.in_flight.at(tp);
  ended_targets[tp] = {episode.data.assignment, clock.now().mono};
  change.end_episode(tp);
  const std::string now = rfc3339(clock.now().wall);
  const auto finish = [&](const std::string& name) {
    change.finish(name, tp, outcome);
    if (tree::RequestResult* result = change.result(name)) result->last_progress = now;
  };
  finish(episode.data.request);
  for (const auto& [name, request] : model.requests)
    if (contains(request.result.joined, tp)) finish(name);
  // A lock's result may name it although its znode was not marked yet (the controller before died in between).
  for (const auto& [name, record] : model.cancels) {
    if (name == episode.data.cancel || contains(record.result.foreign, tp)) continue;
    if (find(record.originals.originals, tp) == nullptr || !record.undecided(tp)) continue;
    const bool completed = outcome == tree::outcome::kCompleted;
    const bool gone = outcome == tree::outcome::kTopicDeleted;
    change.finish_cancel(name, tp,
                         completed ? tree::outcome::kCompletedFirst
                         : gone    ? outcome
                                   : "ChangedOutside",
                         !completed && !gone);
  }
  if (view)
    if (const auto* partition = view->metadata.find(tp)) change.set_originals_of_waiting(tp, partition->replicas);
}

void ControllerContext::count_outcome(std::string_view outcome, double n) {
  metrics.add("kafka_reassignment_controller_partitions_total",
              {{"kafka_cluster", options.cluster_name}, {"result", std::string(outcome)}}, n);
}

}  // namespace kro::execute
