#include "execute/call_executor.h"

#include "base/log.h"
#include "tree/paths.h"

namespace kro::execute {

Status CallExecutor::take_permit(const PartitionSets& partitions, bool roll_back) {
  PartitionSets all = partitions;
  for (const auto& [tp, until] : c_.model.uncertain) insert(all, tp);
  std::vector<ZkOp> ops;
  if (!roll_back) {
    ops.push_back(ZkCreate{std::string(tree::kLock), "", ZkMode::kPersistent});
    ops.push_back(ZkDelete{std::string(tree::kLock), kAnyVersion});
  }
  ops.push_back(ZkSet{std::string(tree::kControllerCall), tree::encode_call(all)});
  // Straight to leadership: the record must not be emptied by the same multi.
  const auto written = c_.leadership.write(std::move(ops), c_.stop);
  if (!written) {
    if (!roll_back && written.error().code == ErrorCode::kAlreadyExists && written.error().op_index == 0)
      c_.lock_seen = true;
    return tl::unexpected(written.error());
  }
  c_.model.call_recorded = true;
  return {};
}

Result<AlterAnswers> CallExecutor::call(const AlterRequest& request, bool roll_back) {
  PartitionSets partitions;
  for (const auto& [tp, target] : request) insert(partitions, tp);

  constexpr int kTries = 3;
  bool permitted = false;
  for (int i = 0; i < kTries && !permitted; ++i) {
    if (auto permit = take_permit(partitions, roll_back); !permit) return tl::unexpected(permit.error());
    const MonoTime taken = c_.clock.now().mono;
    permitted = c_.session.state() == ZkState::kConnected && c_.clock.now().mono - taken < kPermitAge;
  }
  if (!permitted) return fail(ErrorCode::kUnavailable, Retry::kTransient, "no connected session: no call to Kafka");

  auto answers = c_.kafka.alter_reassignments(request, kCallTimeout, c_.clock.in(kAnswerTimeout, c_.stop));
  c_.beat();
  if (answers) return answers;
  const Error& error = answers.error();
  if (error.code == ErrorCode::kUnauthorized) {
    AlterAnswers refused;
    for (const auto& [tp, target] : request) refused[tp] = {kafka_error::kClusterAuthorizationFailed, error.message};
    return refused;
  }
  if (error.retry != Retry::kAmbiguous) return tl::unexpected(error);
  log::warn("no answer from Kafka: these partitions get no other call until it comes or 60 s passed",
            {{"partitions", request.size()}, {"error", error.text()}});
  for (const auto& [tp, target] : request) c_.model.uncertain[tp] = c_.clock.now().mono + kUncertainFor;
  return AlterAnswers{};
}

void CallExecutor::settle_uncertain() {
  for (const AlterAnswers& late : c_.kafka.late_answers())
    for (const auto& [tp, answer] : late)
      if (c_.model.uncertain.erase(tp) > 0) c_.moved = true;
  const MonoTime now = c_.clock.now().mono;
  if (std::erase_if(c_.model.uncertain, [&](const auto& u) { return u.second <= now; }) > 0) c_.moved = true;
}

Status CallExecutor::flush() {
  if (!c_.model.call_recorded || !c_.model.uncertain.empty()) return {};
  const auto written = c_.write({});
  if (!written) return tl::unexpected(written.error());
  return {};
}

}  // namespace kro::execute
