#include "app/options_file.h"

#include <yaml-cpp/yaml.h>

#include <exception>
#include <set>

#include "adapters/os/files.h"

namespace kro {

Result<std::vector<FileFlag>> parse_options_file(std::string_view text, const std::string& file) {
  const auto at = [&](const YAML::Mark& mark) { return file + ":" + std::to_string(mark.line + 1) + ": "; };
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.size() > 1) return invalid(file + " holds more than one document");
    std::vector<FileFlag> out;
    if (documents.empty() || documents[0].IsNull()) return out;
    if (!documents[0].IsMap())
      return invalid(at(documents[0].Mark()) + "must be a map of flags, such as \"tree: own\"");
    std::set<std::string> seen;
    for (const auto& entry : documents[0]) {
      if (!entry.first.IsScalar()) return invalid(at(entry.first.Mark()) + "a flag's name must be a text");
      FileFlag flag;
      flag.name = entry.first.Scalar();
      flag.line = entry.first.Mark().line + 1;
      if (!entry.second.IsScalar()) return invalid(at(entry.first.Mark()) + flag.name + " must be one value");
      flag.value = entry.second.Scalar();
      if (!seen.insert(flag.name).second) return invalid(at(entry.first.Mark()) + flag.name + " stands there twice");
      out.push_back(std::move(flag));
    }
    return out;
  } catch (const YAML::Exception& error) {
    return invalid(at(error.mark) + error.msg);
  } catch (const std::exception& error) {
    return invalid(file + ": " + error.what());
  }
}

Result<std::vector<FileFlag>> read_options_file(const std::string& file) {
  const auto text = read_file(file);
  if (!text) return tl::unexpected<Error>(text.error());
  return parse_options_file(*text, file);
}

}  // namespace kro
