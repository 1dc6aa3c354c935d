#pragma once

#include <string>
#include <vector>

#include "decide/reassignment_observation.h"

namespace kro::decide {

// Everything of a request but its assignments: checks that `allow` does not name, limits, whose it is (api.md 3).
tree::Request request_options(const api::KafkaReassignment& cr, const Policy& policy);

// Cuts by sorted (topic, partition) so that each piece is at most 5,000 partitions and 128 KiB as a request.
// The same entries at the end of a plan are cut the same way whether or not the pieces before them were sent.
std::vector<Assignments> cut_for_requests(const Assignments& whole);

// Keys and check names of `request` that the controller does not publish: it would refuse the whole request.
// Without a controller in the tree its features are taken to be those of our own release (docs/adr).
std::vector<std::string> missing_features(const tree::Request& request, const TreeView& tree);

}  // namespace kro::decide
