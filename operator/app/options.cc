#include "app/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <vector>

#include "adapters/log/json_log.h"
#include "app/options_addresses.h"
#include "app/options_file.h"
#include "app/options_version.h"

namespace kro {
namespace {

constexpr const char* kOperator = "kafka-reassignment-operator";
constexpr const char* kController = "kafka-reassignment-controller";

std::string environment_name(const std::string& prefix, std::string flag) {
  std::replace(flag.begin(), flag.end(), '-', '_');
  std::transform(flag.begin(), flag.end(), flag.begin(), [](unsigned char c) { return std::toupper(c); });
  return prefix + flag;
}

// Every option by its environment variable; the last of several values on the command line counts.
void finish_options(CLI::App& app, const std::string& prefix) {
  for (CLI::Option* option : app.get_options()) {
    const std::string name = option->get_single_name();
    if (name == "help" || name == "version") continue;
    option->envname(environment_name(prefix, name));
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  }
  app.failure_message([](const CLI::App* failed, const CLI::Error& error) {
    return failed->get_name() + ": " + error.what() + "\nRun " + failed->get_name() + " --help for all flags.\n";
  });
}

template <class Check>
CLI::Validator checked(Check check, const std::string& shown) {
  return CLI::Validator(
      [check](std::string& text) {
        const auto good = check(text);
        return good ? std::string() : good.error().text();
      },
      shown);
}

CLI::Validator level_check() {
  return checked(
      [](const std::string& text) -> Status {
        if (parse_log_level(text)) return {};
        return invalid("\"" + text + "\" is no level; use debug, info, warn or error");
      },
      "debug|info|warn|error");
}

CLI::Validator listen_check() { return checked(parse_listen_address, "ADDRESS:PORT"); }

CLI::Validator one_of(const std::vector<std::string>& values) {
  std::string shown;
  for (const auto& value : values) shown += (shown.empty() ? "" : "|") + value;
  return checked(
      [values, shown](const std::string& text) -> Status {
        if (std::find(values.begin(), values.end(), text) != values.end()) return {};
        return invalid("\"" + text + "\" is none of " + shown);
      },
      shown);
}

template <class Options>
ParsedOptions<Options> ended(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream out;
  std::ostringstream problems;
  app.exit(error, out, problems);
  ParsedOptions<Options> parsed;
  parsed.exit_code = error.get_exit_code() == 0 ? 0 : 2;
  parsed.text = out.str() + problems.str();
  return parsed;
}

template <class Options>
ParsedOptions<Options> usage_error(const std::string& program, const std::string& message) {
  ParsedOptions<Options> parsed;
  parsed.exit_code = 2;
  parsed.text = program + ": " + message + "\n";
  return parsed;
}

// CLI11 takes arguments last first, without the program's name.
std::vector<std::string> reversed(std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

std::vector<std::string> arguments_of(int argc, const char* const* argv) {
  return argc > 1 ? std::vector<std::string>(argv + 1, argv + argc) : std::vector<std::string>();
}

// The texts as they were given, before they are turned into values.
struct ControllerTexts {
  std::string config, zookeeper, tree = "auto", driver = "auto", listen = "[::]:8081", log_level = "info";
};

void describe_controller(CLI::App& app, ControllerOptions& options, ControllerTexts& texts) {
  app.option_defaults()->always_capture_default();
  app.set_help_flag("--help", "Print this text");
  app.set_version_flag("--version", version_line(kController), "Print version and revision");
  app.add_option("--config", texts.config, "A YAML file with any of the other flags, such as \"tree: own\"")
      ->type_name("FILE")
      ->always_capture_default(false);
  app.add_option("--zookeeper", texts.zookeeper, "ZooKeeper of the cluster")
      ->type_name("HOST:PORT,…[/CHROOT]")
      ->required()
      ->always_capture_default(false)
      ->check(checked(parse_zookeeper_address, ""));
  app.add_option("--bootstrap-server", options.bootstrap_server, "Brokers of the cluster")
      ->type_name("HOST:PORT,…")
      ->required()
      ->always_capture_default(false)
      ->check(checked([](const std::string& text) { return check_host_ports(text, "broker address"); }, ""));
  app.add_option("--command-config", options.command_config, "A Kafka client properties file, as Kafka's tools take it")
      ->type_name("FILE")
      ->always_capture_default(false);
  app.add_option("--tree", texts.tree, "Whether brokers act on the same znodes")
      ->type_name("")
      ->check(one_of({"auto", "shared", "own"}));
  app.add_option("--driver", texts.driver, "How Kafka is told to move partitions")
      ->type_name("")
      ->check(one_of({"auto", "admin-api", "legacy-znode"}));
  app.add_option("--cluster-name", options.cluster_name, "Name of the cluster in metrics and results")
      ->type_name("NAME");
  app.add_option("--max-in-flight", options.max_in_flight, "Most partitions in flight at any time; 0: no limit")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--max-in-flight-per-broker", options.max_in_flight_per_broker,
                 "Most moves at any time that one broker gains or feeds; 0: no limit")
      ->type_name("N")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--listen", texts.listen, "Where /metrics, /livez and /readyz are served")
      ->type_name("")
      ->check(listen_check());
  app.add_option("--log-level", texts.log_level, "Least level that is logged")->type_name("")->check(level_check());
  finish_options(app, "KRO_CONTROLLER_");
}

// The flags of the file given by --config that neither the command line nor the environment sets.
Result<std::vector<std::string>> from_file(const CLI::App& parsed_alone) {
  std::vector<std::string> out;
  const auto file = parsed_alone.get_option("--config")->as<std::string>();
  if (file.empty()) return out;
  const auto flags = read_options_file(file);
  if (!flags) return tl::unexpected<Error>(flags.error());
  for (const auto& flag : *flags) {
    const CLI::Option* known = parsed_alone.get_option_no_throw("--" + flag.name);
    if (known == nullptr || flag.name == "config" || flag.name == "help" || flag.name == "version")
      return invalid(file + ":" + std::to_string(flag.line) + ": there is no flag \"" + flag.name + "\"");
    if (known->count() == 0) out.push_back("--" + flag.name + "=" + flag.value);
  }
  return out;
}

}  // namespace

ParsedOptions<OperatorOptions> parse_operator_options(int argc, const char* const* argv) {
  OperatorOptions options;
  std::string listen = "[::]:8080";
  std::string level = "info";
  std::string attention = "168h";
  CLI::App app("Moves Kafka partitions as KafkaReassignment resources say.", kOperator);
  app.option_defaults()->always_capture_default();
  app.set_help_flag("--help", "Print this text");
  app.set_version_flag("--version", version_line(kOperator), "Print version and revision");
  app.add_option("--config", options.config_file, "The operator's configuration; re-read when it changes")
      ->type_name("FILE")
      ->required()
      ->always_capture_default(false);
  app.add_option("--kubeconfig", options.kubeconfig, "Credentials of the API server [in-cluster]")
      ->type_name("FILE")
      ->always_capture_default(false);
  app.add_option("--listen", listen, "Where /metrics, /livez and /readyz are served")
      ->type_name("")
      ->check(listen_check());
  app.add_flag("--leader-elect", options.leader_elect, "Work only while holding the lease")
      ->always_capture_default(false);
  app.add_option("--lease-namespace", options.lease_namespace, "Namespace of the lease [that of the pod]")
      ->type_name("NS")
      ->always_capture_default(false);
  app.add_option("--log-level", level, "Least level that is logged")->type_name("")->check(level_check());
  app.add_option("--attention-for", attention, "How long failed resources keep their phase metric")
      ->type_name("")
      ->check(checked(
          [](const std::string& text) -> Status {
            if (parse_duration(text)) return {};
            return invalid("\"" + text + "\" is no duration; use one such as 90s, 30m or 168h");
          },
          "DURATION"));
  finish_options(app, "KRO_OPERATOR_");
  try {
    app.parse(reversed(arguments_of(argc, argv)));
  } catch (const CLI::ParseError& error) {
    return ended<OperatorOptions>(app, error);
  }
  options.listen = parse_listen_address(listen).value_or(options.listen);
  options.log_level = parse_log_level(level).value_or(options.log_level);
  options.attention_for = parse_duration(attention).value_or(options.attention_for);
  ParsedOptions<OperatorOptions> parsed;
  parsed.options = std::move(options);
  return parsed;
}

ParsedOptions<ControllerOptions> parse_controller_options(int argc, const char* const* argv) {
  const char* about = "Serves the reassignment requests of one Kafka cluster.";
  std::vector<std::string> arguments = arguments_of(argc, argv);

  // First what is given without the file: what that lacks may stand in the file.
  {
    ControllerOptions ignored;
    ControllerTexts texts;
    CLI::App first(about, kController);
    describe_controller(first, ignored, texts);
    first.get_option("--zookeeper")->required(false);
    first.get_option("--bootstrap-server")->required(false);
    try {
      first.parse(reversed(arguments));
      auto flags = from_file(first);
      if (!flags) return usage_error<ControllerOptions>(kController, flags.error().text());
      arguments.insert(arguments.begin(), flags->begin(), flags->end());
    } catch (const CLI::ParseError&) {
      // Told by the second pass, which fails in the same way.
    }
  }

  ControllerOptions options;
  ControllerTexts texts;
  CLI::App app(about, kController);
  describe_controller(app, options, texts);
  try {
    app.parse(reversed(arguments));
  } catch (const CLI::ParseError& error) {
    return ended<ControllerOptions>(app, error);
  }
  if (auto address = parse_zookeeper_address(texts.zookeeper)) {
    options.zookeeper = address->connect;
    options.chroot = address->chroot;
  }
  options.tree = texts.tree == "shared" ? TreeChoice::kShared
                 : texts.tree == "own"  ? TreeChoice::kOwn
                                        : TreeChoice::kAuto;
  options.driver = texts.driver == "admin-api"      ? DriverChoice::kAdminApi
                   : texts.driver == "legacy-znode" ? DriverChoice::kLegacyZnode
                                                    : DriverChoice::kAuto;
  options.listen = parse_listen_address(texts.listen).value_or(options.listen);
  options.log_level = parse_log_level(texts.log_level).value_or(options.log_level);
  ParsedOptions<ControllerOptions> parsed;
  parsed.options = std::move(options);
  return parsed;
}

}  // namespace kro
