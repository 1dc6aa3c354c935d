#include "execute/start_executor.h"

#include "base/log.h"

namespace kro::execute {

namespace outcome = tree::outcome;
using What = decide::StartStep::What;

void StartExecutor::add(TreeChange& change, const decide::StartStep& step) {
  const TopicPartition& tp = step.tp;
  switch (step.what) {
    case What::kCreate:
      change.put_episode(tp, step.episode);
      change.started(step.result_name, tp);
      break;
    case What::kRetarget: {
      change.put_episode(tp, step.episode);
      change.started(step.result_name, tp);
      change.finish(c_.model.in_flight.at(tp).data.request, tp, outcome::kSuperseded);
      for (const auto& [name, request] : c_.model.requests)
        if (contains(request.result.joined, tp)) change.finish(name, tp, outcome::kSuperseded);
      break;
    }
    case What::kJoin: change.joined(step.result_name, tp); break;
    case What::kCompleted: change.finish(step.result_name, tp, outcome::kCompleted); break;
    case What::kChangedOutside: change.finish(step.result_name, tp, outcome::kChangedOutside); break;
    case What::kTopicDeleted: change.finish(step.result_name, tp, outcome::kTopicDeleted); break;
  }
  for (const auto& [name, request] : c_.model.requests)
    if (name != step.result_name && find(request.waiting, tp) != nullptr) change.finish(name, tp, outcome::kSuperseded);
}

Status StartExecutor::start() {
  decide::StartLimits limits = c_.options.limits;
  limits.batch = batch_;
  const decide::StartPlan plan = decide::decide_start(c_.model, *c_.view, limits);
  c_.holding = plan.holding;
  if (plan.steps.empty()) return {};
  TreeChange change(c_.model);
  change.assert_no_lock();
  std::size_t begun = 0;
  for (const auto& step : plan.steps) {
    add(change, step);
    if (step.what == What::kCreate || step.what == What::kRetarget) ++begun;
  }
  if (auto written = c_.commit(change); !written) {
    if (written.error().code != ErrorCode::kTooLarge || batch_ == 1) return written;
    batch_ /= 2;
    c_.moved = true;
    return {};
  }
  batch_ = kMostPerMulti;
  log::info("partitions started", {{"started", begun}, {"settled", plan.steps.size() - begun}});
  for (const auto& step : plan.steps) {
    if (step.what == What::kCreate || step.what == What::kRetarget) c_.to_submit.insert(step.tp);
    if (step.what == What::kCompleted) c_.count_outcome(outcome::kCompleted);
  }
  return {};
}

}  // namespace kro::execute
