#include "app/options_version.h"

namespace kro {

std::string_view program_version() { return KRO_VERSION; }
std::string_view program_revision() { return KRO_REVISION; }

std::string version_line(std::string_view program) {
  return std::string(program) + " " + std::string(program_version()) + " (" + std::string(program_revision()) + ")";
}

}  // namespace kro
