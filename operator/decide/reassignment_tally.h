#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "decide/reassignment_observation.h"

namespace kro::decide {

// Where every partition of the plan stands.
//
// What counts for a partition is the newest request of ours that names it (its newer target wins). One that names
// another target than the spec means it has to be asked for again; so does one that ended badly for an earlier
// attempt, and one that was refused for an earlier generation, once that generation's request would say something else.
struct Tally {
  std::int64_t total = 0;
  Assignments unasked;                     // never asked for with this target
  Assignments busy;                        // refused because somebody else moves it; asked again under Wait
  std::vector<std::size_t> busy_requests;  // fully refused for that reason alone
  std::int64_t pending = 0;                // asked, no result yet
  std::int64_t waiting = 0;                // accepted, not started
  std::int64_t in_flight = 0;
  std::int64_t completed = 0, completed_first = 0, restored = 0, withdrawn = 0;
  std::int64_t changed_outside = 0, topic_deleted = 0, superseded = 0, lost = 0;
  std::map<std::string, std::int64_t> refused;  // reason → partitions; busy ones not
  std::map<std::string, TopicPartition> first;  // an example for each refusal and bad outcome
  std::string error;                            // what a controller said of a malformed request

  [[nodiscard]] std::int64_t refused_count() const;
  // Asked for and not ended.
  [[nodiscard]] std::int64_t unsettled() const { return pending + waiting + in_flight; }
  [[nodiscard]] std::int64_t cancelled() const { return restored + withdrawn; }
  // Kafka was, or is, moving something.
  [[nodiscard]] bool started() const {
    return in_flight + completed + completed_first + restored + changed_outside + topic_deleted + superseded > 0;
  }
};

// `options` is what a request of now would carry besides assignments (check and allow count).
Tally tally(const api::KafkaReassignment& cr, const std::vector<SentRequest>& requests, const tree::Request& options);

}  // namespace kro::decide
