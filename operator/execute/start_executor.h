#pragma once

#include "decide/start_decider.h"
#include "execute/controller_context.h"

namespace kro::execute {

// Starts what waits (znodes.md 4.3): one multi that also asserts that no lock exists; Kafka is told afterwards
// (context.to_submit).
class StartExecutor {
 public:
  explicit StartExecutor(ControllerContext& context) : c_(context) {}

  static constexpr std::size_t kMostPerMulti = 200;

  // With context.view read in this step and followed. Nothing waits, or no slot is free: nothing is written.
  Status start();

 private:
  void add(TreeChange& change, const decide::StartStep& step);

  ControllerContext& c_;
  std::size_t batch_ = kMostPerMulti;  // halved while its results are too much for one multi
};

}  // namespace kro::execute
