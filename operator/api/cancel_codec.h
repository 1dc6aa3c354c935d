#pragma once

#include <string>
#include <string_view>

#include "api/types.h"
#include "base/result.h"

namespace kro::api {

// As decode_reassignment, for a KafkaReassignmentCancel.
Result<KafkaReassignmentCancel> decode_cancel(std::string_view text, std::vector<std::string>* ignored = nullptr);
std::string encode_status(const CancelStatus& status);
// ["kafka-reassignment.io/operator", …]: with ours added or taken out, everybody else's kept in order.
std::string encode_finalizers(const ObjectMeta& meta, bool with_ours);

}  // namespace kro::api
