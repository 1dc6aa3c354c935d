#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "decide/controller_model.h"
#include "decide/kafka_view.h"

namespace kro::decide {

struct StartLimits {
  std::size_t max_in_flight = 0;             // of the controller; 0: none
  std::size_t max_in_flight_per_broker = 0;  // of the controller; 0: none
  std::size_t batch = 200;                   // steps per plan
};

// What becomes of one waiting partition now.
struct StartStep {
  enum class What {
    kCreate,          // a new znode: an episode begins
    kRetarget,        // its znode gets this request's target
    kJoin,            // already on its way to the same target: its znode stays untouched
    kCompleted,       // at its target: no znode
    kChangedOutside,  // somebody moved it since acceptance: nothing is started
    kTopicDeleted,
  };
  What what = What::kCreate;
  TopicPartition tp;
  std::string result_name;     // of the newest request that names it
  tree::Reassignment episode;  // the znode's new content, for kCreate and kRetarget
};

struct StartPlan {
  std::vector<StartStep> steps;
  std::map<std::string, std::string> holding;  // result name → why nothing more of it starts now ("" : nothing holds)
};

// Which waiting partitions start now (znodes.md 4.3): slots in sequence order, round robin between clients, each
// partition for the newest accepted request that names it; the slowest partition holds nobody else up.
// `view` was read just now, 4.5 was applied to it, and no lock was seen.
StartPlan decide_start(const ControllerModel& model, const KafkaView& view, const StartLimits& limits);

// Whether the health gate is shut: a partition that nobody moves is missing replicas from its ISR.
bool cluster_unhealthy(const ControllerModel& model, const KafkaView& view);

}  // namespace kro::decide
