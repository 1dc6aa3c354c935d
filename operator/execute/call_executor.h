#pragma once

#include "execute/controller_context.h"

namespace kro::execute {

// Calls that change Kafka: each behind a permit (znodes.md 4.1). ZooKeeper cannot fence a call, so the permit names
// its partitions in the tree before it goes out, and it goes out within 1 s of the permit's answer or not at all.
class CallExecutor {
 public:
  explicit CallExecutor(ControllerContext& context) : c_(context) {}

  // At most 200 partitions. The answers; an empty map when the answer is not known (the partitions are uncertain
  // now). `roll_back`: no lock assertion. Errors: the tree's, or Kafka's when the call surely was not made.
  Result<AlterAnswers> call(const AlterRequest& request, bool roll_back);

  // Ends uncertainty: answers that came late, and calls 60 s ago.
  void settle_uncertain();
  // Writes the empty record when the last answer is in and nothing else was written since.
  Status flush();

  static constexpr milliseconds kPermitAge = 1s;
  static constexpr milliseconds kCallTimeout = 10s;
  static constexpr milliseconds kAnswerTimeout = 15s;
  static constexpr milliseconds kUncertainFor = 60s;
  static constexpr std::size_t kMostPartitions = 200;

 private:
  Status take_permit(const PartitionSets& partitions, bool roll_back);

  ControllerContext& c_;
};

}  // namespace kro::execute
