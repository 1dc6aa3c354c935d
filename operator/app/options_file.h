#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kro {

struct FileFlag {
  std::string name;   // without dashes in front
  std::string value;  // its text
  int line = 0;
};

// "name: value" lines of a YAML file, one map of scalars. Errors carry file:line; a repeated name is one.
Result<std::vector<FileFlag>> parse_options_file(std::string_view text, const std::string& file);
Result<std::vector<FileFlag>> read_options_file(const std::string& file);

}  // namespace kro
