#pragma once

#include "execute/controller_context.h"

namespace kro::execute {

// Reads the whole tree into context.model: after leadership was won, and whenever the model may differ from the tree
// (a write whose answer was lost, a precondition that failed). Znodes that cannot be read are left out with a
// warning: foreign content is untrusted, and never stops the rest. `new_leader`: whoever led before may have calls
// under way; otherwise what this leader has learnt of znodes that did not change is kept.
// Many reads in one pipeline. What our credentials may not read is left out (nullopt) with a warning: somebody's ACL
// must not stop the rest.
Result<std::vector<std::optional<ZkNode>>> read_readable(ControllerContext& context,
                                                         const std::vector<std::string>& paths);

Status load_tree(ControllerContext& context, bool new_leader);

// After load_tree: partitions whose znode somebody deleted while they were in flight. Nothing waits for them and
// nothing is known of them any more: changed_outside, or their results would never be done.
Status finish_orphans(ControllerContext& context);

}  // namespace kro::execute
