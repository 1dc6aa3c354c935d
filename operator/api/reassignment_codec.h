#pragma once

#include <string>
#include <string_view>

#include "api/types.h"
#include "base/result.h"

namespace kro::api {

// Reads one KafkaReassignment as the API server sends it, in one pass and without a DOM.
//
// What the schema forbids is checked again and lands in spec.problem (the resource is told); an error is only
// returned for text that is no object with a name and a uid. `ignored`, if given, collects unknown member paths.
Result<KafkaReassignment> decode_reassignment(std::string_view text, std::vector<std::string>* ignored = nullptr);
// The whole status. Fields without a value are left out.
std::string encode_status(const ReassignmentStatus& status);

// "sha256:<hex>" of the compact JSON {"assignments":{…}}, topics bytewise, partitions numeric (api.md 1).
std::string plan_hash(const Assignments& assignments);

}  // namespace kro::api
