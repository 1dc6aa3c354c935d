#pragma once

#include <optional>
#include <string>

#include "adapters/metrics/listen_address.h"
#include "base/log.h"
#include "base/time.h"

namespace kro {

struct OperatorOptions {
  std::string config_file;
  std::string kubeconfig;  // empty: in-cluster credentials
  ListenAddress listen{"::", 8080, true};
  bool leader_elect = false;
  std::string lease_namespace;  // empty: the namespace of the pod
  log::Level log_level = log::Level::kInfo;
  seconds attention_for = std::chrono::hours(168);  // how long failed resources keep their phase metric
};

enum class TreeChoice { kAuto, kShared, kOwn };
enum class DriverChoice { kAuto, kAdminApi, kLegacyZnode };

struct ControllerOptions {
  std::string zookeeper;         // host:port,host:port
  std::string chroot;            // "" or "/kafka"
  std::string bootstrap_server;  // host:port,host:port
  std::string command_config;    // a Kafka client properties file; empty: none
  TreeChoice tree = TreeChoice::kAuto;
  DriverChoice driver = DriverChoice::kAuto;
  std::string cluster_name = "default";
  int max_in_flight = 0;             // 0: no limit of its own
  int max_in_flight_per_broker = 0;  // 0: no limit of its own
  ListenAddress listen{"::", 8081, true};
  log::Level log_level = log::Level::kInfo;
};

// Either options, or the end of the process: `text` belongs on stdout when exit_code is 0 (--help, --version), else
// on stderr (2: wrong usage, nothing was contacted).
template <class Options>
struct ParsedOptions {
  std::optional<Options> options;
  int exit_code = 0;
  std::string text;
};

// A flag on the command line wins over its environment variable (KRO_OPERATOR_LEASE_NAMESPACE for
// --lease-namespace, KRO_CONTROLLER_… for the controller), and that over the file of the controller's --config.
ParsedOptions<OperatorOptions> parse_operator_options(int argc, const char* const* argv);
ParsedOptions<ControllerOptions> parse_controller_options(int argc, const char* const* argv);

}  // namespace kro
