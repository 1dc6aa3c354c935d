#pragma once

#include <optional>
#include <string>

#include "decide/controller_model.h"
#include "decide/kafka_view.h"

namespace kro::decide {

// A replica whose broker is up and that has neither joined nor grown for so long is a problem (znodes.md 6).
inline constexpr milliseconds kNoGrowth = 60s;

// Why an episode cannot finish now; nullopt: nothing is known to stand in its way. Looked for in this order: a broker
// that it needs is down, no leader, Kafka refused the call, a replica that does not grow. `since` is left to the
// caller, who remembers when the cause began.
std::optional<tree::Problem> find_problem(const TopicPartition& tp, const Episode& episode, const KafkaView& view);

}  // namespace kro::decide
