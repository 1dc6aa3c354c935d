#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace kro {

struct ZooKeeperAuthConfig {
  std::string scheme;         // "digest"
  std::string username_file;  // files of a mounted Secret
  std::string password_file;
  bool operator==(const ZooKeeperAuthConfig&) const = default;
};

struct ZooKeeperClusterConfig {
  std::string connect;  // host:port,host:port
  std::string chroot;   // "" or "/kafka"
  seconds session_timeout = 10s;
  std::optional<ZooKeeperAuthConfig> auth;
  bool operator==(const ZooKeeperClusterConfig&) const = default;
};

struct ClusterConfig {
  std::string name;
  ZooKeeperClusterConfig zookeeper;
  std::vector<std::string> allowed_namespaces;  // none unless stated
  std::vector<std::string> allowed_topics;      // globs; none unless stated
  bool operator==(const ClusterConfig&) const = default;
};

struct OperatorConfig {
  std::string operator_id;
  std::vector<ClusterConfig> clusters;        // in the order of the file
  std::vector<std::string> watch_namespaces;  // empty: all
  bool operator==(const OperatorConfig&) const = default;
};

// The operator's YAML file. All or nothing: the first problem is kInvalid/Permanent with "file:line: what, and what to
// write instead". Unknown and repeated keys are problems; what this build cannot do yet is kUnsupported, never ignored.
Result<OperatorConfig> parse_operator_config(std::string_view text, const std::string& file);

// Reads the file first; errors of reading are those of read_file.
Result<OperatorConfig> load_operator_config(const std::string& file);

}  // namespace kro
