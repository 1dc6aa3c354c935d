#pragma once

#include <string>
#include <string_view>

namespace kro {

// "0.1.0", of the build.
std::string_view program_version();
// The short commit of the build; "unknown" outside a checkout.
std::string_view program_revision();
// "kafka-reassignment-operator 0.1.0 (1a2b3c4)"
std::string version_line(std::string_view program);

}  // namespace kro
