#pragma once

#include "execute/controller_context.h"

namespace kro::execute {

// Reads Kafka once: API 46, Metadata (of `topics`, or of all), API 46, and, with `configs`, min.insync.replicas of
// `topics`.
Result<decide::KafkaView> poll_kafka(ControllerContext& c, const std::set<std::string>& topics, bool all_topics,
                                     bool configs);

// The topics that the model speaks of: in flight, waiting, or under roll back.
std::set<std::string> topics_of_interest(const decide::ControllerModel& model);

constexpr milliseconds kKafkaReadTimeout = 15s;

}  // namespace kro::execute
