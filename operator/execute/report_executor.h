#pragma once

#include "execute/controller_context.h"

namespace kro::execute {

// What is told rather than decided: how far results are, sizes, problems, foreign moves, and which results are kept
// (znodes.md 6). Late or lost, it changes nothing that anybody decides on.
class ReportExecutor {
 public:
  explicit ReportExecutor(ControllerContext& context) : c_(context) {}

  // Results that changed, at most every report interval. With context.view of this step.
  Status report();
  // /admin/reassignment_foreign, when it changed; logs partitions that Kafka lists with nothing left of the target.
  Status publish_foreign();
  // Bytes of leaders and adding replicas, every sizes interval, and soon after a start. Never fails: a broker may be
  // away.
  void read_sizes();
  // Deletes done results past their time.
  Status retain();
  void gauges();

 private:
  bool fill(const std::string& name, const decide::AcceptedRequest& request, tree::RequestResult& result);
  Status delete_result(const std::string& name, const tree::RequestResult& result);

  ControllerContext& c_;
  MonoTime next_report_{};
  MonoTime next_look_{};  // for sizes of what has just started
  MonoTime next_sizes_{};
  MonoTime next_retention_{};
  std::map<std::string, std::int64_t> finished_bytes_;  // result name → bytes of partitions that ended
  std::map<TopicPartition, std::pair<std::string, std::int64_t>> counted_;  // in flight: whose, and its total
};

}  // namespace kro::execute
