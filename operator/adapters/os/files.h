#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace kro {

// The whole file. Errors name the path and the system's reason: kNotFound, kUnauthorized, kTooLarge (over `most`
// bytes) or kInternal, all Retry::kTransient: a mounted file may be there a moment later.
Result<std::string> read_file(const std::string& path, std::size_t most = 4UL << 20U);

// The machine's name, which in a pod is the pod's; "localhost" when the system has none.
std::string hostname();

}  // namespace kro
