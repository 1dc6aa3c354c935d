#pragma once

#include <string_view>

#include "base/result.h"
#include "ports/kube_api.h"

namespace kro {

// One line of a watch.
struct WatchLine {
  KubeWatchEvent event;    // views into the line
  std::string_view error;  // set for an ERROR line instead of `event`: the Status object's text
  bool is_error = false;
};

// Reads {"type":…,"object":…} in any order of members. kProtocol/Transient: not such a line (a later stream may be
// right again).
Result<WatchLine> decode_watch_line(std::string_view line);

}  // namespace kro
