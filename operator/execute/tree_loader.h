#pragma once

#include "execute/controller_context.h"

namespace kro::execute {

// Reads the whole tree into context.model: after leadership was won, and whenever the model may differ from the tree
// (a write whose answer was lost, a precondition that failed). Znodes that cannot be read are left out with a
// warning: foreign content is untrusted, and never stops the rest. `new_leader`: whoever led before may have calls
// under way; otherwise what this leader has learnt of znodes that did not change is kept.
Status load_tree(ControllerContext& context, bool new_leader);

}  // namespace kro::execute
