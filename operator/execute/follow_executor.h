#pragma once

#include <span>

#include "execute/call_executor.h"
#include "execute/controller_context.h"

namespace kro::execute {

// Applies one poll to everything in flight (znodes.md 4.5, and the roll backs of 4.7): outcomes are written in the
// multi that ends the znode, never later; what Kafka is to be told is gathered in context.to_submit.
class FollowExecutor {
 public:
  FollowExecutor(ControllerContext& context, CallExecutor& calls) : c_(context), calls_(calls) {}

  // After a poll. Errors are the tree's.
  Status follow();
  // Tells Kafka the targets of context.to_submit: one call. Errors: the tree's, or Kafka's (nothing was sent).
  Status submit();
  // Tells Kafka what the roll backs need: one call of nulls, or of explicit originals.
  Status call_roll_backs();

 private:
  struct Outcome {
    TopicPartition tp;
    std::string_view outcome;         // in the request's results
    std::string_view cancel_outcome;  // in the cancel's; empty: not under roll back
    bool cancel_refused = false;
  };
  void note_progress(const TopicPartition& tp, decide::Episode& episode);
  void look_forward(const TopicPartition& tp, decide::Episode& episode, std::vector<Outcome>& outcomes);
  void look_back(const TopicPartition& tp, decide::Episode& episode, std::vector<Outcome>& outcomes);
  Status write_outcomes(std::span<const Outcome> outcomes);
  Status write_batch(std::span<const Outcome> batch);
  void add(TreeChange& change, const Outcome& outcome);
  Status write_one(const Outcome& outcome);
  void take_answer(const TopicPartition& tp, const AlterAnswer& answer, bool null);

  ControllerContext& c_;
  CallExecutor& calls_;
  std::set<TopicPartition> nulls_;
  std::set<TopicPartition> originals_;
};

}  // namespace kro::execute
