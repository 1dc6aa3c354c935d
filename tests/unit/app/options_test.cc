#include "app/options.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "app/options_addresses.h"
#include "app/options_file.h"

namespace kro {
namespace {

template <class Parse>
auto run(Parse parse, std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "program");
  return parse(static_cast<int>(arguments.size()), arguments.data());
}
auto run_operator(const std::vector<const char*>& arguments) { return run(parse_operator_options, arguments); }
auto run_controller(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), {"--zookeeper", "zk:2181", "--bootstrap-server", "b:9092"});
  return run(parse_controller_options, arguments);
}

// Sets a variable for the life of one test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~Environment() { ::unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) : path_(testing::TempDir() + "kro_options_test.yaml") {
    std::ofstream(path_) << text;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

TEST(OperatorOptions, DefaultsAreThoseOfTheSpecification) {
  const auto parsed = run_operator({"--config", "c.yaml"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->config_file, "c.yaml");
  EXPECT_EQ(parsed.options->kubeconfig, "");
  EXPECT_EQ(parsed.options->listen.text(), "[::]:8080");
  EXPECT_FALSE(parsed.options->leader_elect);
  EXPECT_EQ(parsed.options->lease_namespace, "");
  EXPECT_EQ(parsed.options->log_level, log::Level::kInfo);
  EXPECT_EQ(parsed.options->attention_for, std::chrono::hours(168));
}

TEST(OperatorOptions, EveryFlagArrives) {
  const auto parsed = run_operator({"--config=c.yaml", "--kubeconfig=k", "--listen=127.0.0.1:0", "--leader-elect",
                                    "--lease-namespace=ops", "--log-level=debug", "--attention-for=2h"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->kubeconfig, "k");
  EXPECT_EQ(parsed.options->listen.text(), "127.0.0.1:0");
  EXPECT_TRUE(parsed.options->leader_elect);
  EXPECT_EQ(parsed.options->lease_namespace, "ops");
  EXPECT_EQ(parsed.options->log_level, log::Level::kDebug);
  EXPECT_EQ(parsed.options->attention_for, std::chrono::hours(2));
}

TEST(OperatorOptions, EnvironmentStandsInAndTheCommandLineWins) {
  const Environment config("KRO_OPERATOR_CONFIG", "from-env.yaml");
  const Environment ns("KRO_OPERATOR_LEASE_NAMESPACE", "from-env");
  const Environment elect("KRO_OPERATOR_LEADER_ELECT", "true");
  const auto parsed = run_operator({"--lease-namespace", "from-flag"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->config_file, "from-env.yaml");
  EXPECT_EQ(parsed.options->lease_namespace, "from-flag");
  EXPECT_TRUE(parsed.options->leader_elect);
}

TEST(OperatorOptions, WrongUsageEndsWithTwoAndSaysWhat) {
  const std::vector<std::pair<std::vector<const char*>, std::string>> cases{
      {{}, "--config"},
      {{"--config", "c", "--log-level", "loud"}, "use debug, info, warn or error"},
      {{"--config", "c", "--listen", "localhost:80"}, "numeric address"},
      {{"--config", "c", "--attention-for", "7d"}, "no duration"},
      {{"--config", "c", "--nonsense"}, "--nonsense"},
      {{"--config", "c", "stray"}, "stray"},
  };
  for (const auto& [arguments, expected] : cases) {
    const auto parsed = run_operator(arguments);
    EXPECT_FALSE(parsed.options) << expected;
    EXPECT_EQ(parsed.exit_code, 2) << expected;
    EXPECT_NE(parsed.text.find(expected), std::string::npos) << parsed.text;
    EXPECT_NE(parsed.text.find("kafka-reassignment-operator"), std::string::npos) << parsed.text;
  }
}

TEST(OperatorOptions, WrongValueInTheEnvironmentIsWrongUsage) {
  const Environment level("KRO_OPERATOR_LOG_LEVEL", "loud");
  const auto parsed = run_operator({"--config", "c"});
  EXPECT_FALSE(parsed.options);
  EXPECT_EQ(parsed.exit_code, 2);
}

TEST(OperatorOptions, HelpNamesEveryFlagWithItsDefaultAndVariable) {
  const auto parsed = run_operator({"--help"});
  EXPECT_FALSE(parsed.options);
  EXPECT_EQ(parsed.exit_code, 0);
  for (const char* text :
       {"--config", "--kubeconfig", "--listen", "[::]:8080", "--leader-elect", "--lease-namespace", "--log-level",
        "info", "--attention-for", "168h", "KRO_OPERATOR_LEASE_NAMESPACE", "--version"})
    EXPECT_NE(parsed.text.find(text), std::string::npos) << text << "\n" << parsed.text;
}

TEST(OperatorOptions, VersionNeedsNothingElse) {
  const auto parsed = run_operator({"--version"});
  EXPECT_EQ(parsed.exit_code, 0);
  EXPECT_EQ(parsed.text.find("kafka-reassignment-operator 0."), 0U) << parsed.text;
}

TEST(ControllerOptions, DefaultsAreThoseOfTheSpecification) {
  const auto parsed = run_controller({});
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->zookeeper, "zk:2181");
  EXPECT_EQ(parsed.options->chroot, "");
  EXPECT_EQ(parsed.options->bootstrap_server, "b:9092");
  EXPECT_EQ(parsed.options->command_config, "");
  EXPECT_EQ(parsed.options->tree, TreeChoice::kAuto);
  EXPECT_EQ(parsed.options->driver, DriverChoice::kAuto);
  EXPECT_EQ(parsed.options->max_in_flight, 0);
  EXPECT_EQ(parsed.options->max_in_flight_per_broker, 0);
  EXPECT_EQ(parsed.options->listen.text(), "[::]:8081");
}

TEST(ControllerOptions, EveryFlagArrives) {
  const auto parsed = run_controller({"--zookeeper=z1:2181,[::1]:2182/a/b", "--command-config=p", "--tree=own",
                                      "--driver=legacy-znode", "--cluster-name=prod", "--max-in-flight=7",
                                      "--max-in-flight-per-broker=2", "--listen=[::1]:9", "--log-level=warn"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->zookeeper, "z1:2181,[::1]:2182");
  EXPECT_EQ(parsed.options->chroot, "/a/b");
  EXPECT_EQ(parsed.options->command_config, "p");
  EXPECT_EQ(parsed.options->tree, TreeChoice::kOwn);
  EXPECT_EQ(parsed.options->driver, DriverChoice::kLegacyZnode);
  EXPECT_EQ(parsed.options->cluster_name, "prod");
  EXPECT_EQ(parsed.options->max_in_flight, 7);
  EXPECT_EQ(parsed.options->max_in_flight_per_broker, 2);
  EXPECT_EQ(parsed.options->listen.text(), "[::1]:9");
  EXPECT_EQ(parsed.options->log_level, log::Level::kWarn);
}

TEST(ControllerOptions, CommandLineBeatsEnvironmentBeatsFile) {
  const TemporaryFile file(
      "zookeeper: file:1\nbootstrap-server: file:2\ncluster-name: file\ntree: own\ndriver: "
      "legacy-znode\nmax-in-flight: 3\n");
  const Environment name("KRO_CONTROLLER_CLUSTER_NAME", "env");
  const Environment tree("KRO_CONTROLLER_TREE", "shared");
  const auto parsed = run(parse_controller_options, {"--config", file.path(), "--cluster-name", "flag"});
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->zookeeper, "file:1");
  EXPECT_EQ(parsed.options->bootstrap_server, "file:2");
  EXPECT_EQ(parsed.options->cluster_name, "flag");
  EXPECT_EQ(parsed.options->tree, TreeChoice::kShared);
  EXPECT_EQ(parsed.options->driver, DriverChoice::kLegacyZnode);
  EXPECT_EQ(parsed.options->max_in_flight, 3);
}

TEST(ControllerOptions, FileMayBeNamedByTheEnvironment) {
  const TemporaryFile file("zookeeper: file:1\nbootstrap-server: file:2\n");
  const Environment config("KRO_CONTROLLER_CONFIG", file.path());
  const auto parsed = run(parse_controller_options, {});
  ASSERT_TRUE(parsed.options) << parsed.text;
  EXPECT_EQ(parsed.options->zookeeper, "file:1");
}

TEST(ControllerOptions, BadFileEndsWithTwoAndNamesTheLine) {
  {
    const TemporaryFile file("tree: own\nmax-inflight: 3\n");
    const auto parsed = run_controller({"--config", file.path()});
    EXPECT_EQ(parsed.exit_code, 2);
    EXPECT_NE(parsed.text.find(":2: there is no flag \"max-inflight\""), std::string::npos) << parsed.text;
  }
  const TemporaryFile file("tree: sideways\n");
  const auto parsed = run_controller({"--config", file.path()});
  EXPECT_EQ(parsed.exit_code, 2);
  EXPECT_NE(parsed.text.find("none of auto|shared|own"), std::string::npos) << parsed.text;
}

TEST(ControllerOptions, MissingFileEndsWithTwo) {
  const auto parsed = run_controller({"--config", "/no/such/file"});
  EXPECT_EQ(parsed.exit_code, 2);
  EXPECT_NE(parsed.text.find("/no/such/file"), std::string::npos) << parsed.text;
}

TEST(ControllerOptions, WrongUsageEndsWithTwo) {
  EXPECT_EQ(run(parse_controller_options, {}).exit_code, 2);
  EXPECT_EQ(run(parse_controller_options, {"--zookeeper", "zk:2181"}).exit_code, 2);
  EXPECT_EQ(run_controller({"--zookeeper", "zk"}).exit_code, 2);
  EXPECT_EQ(run_controller({"--zookeeper", "zk:2181/kafka/"}).exit_code, 2);
  EXPECT_EQ(run_controller({"--bootstrap-server", "b:0"}).exit_code, 2);
  EXPECT_EQ(run_controller({"--tree", "both"}).exit_code, 2);
  EXPECT_EQ(run_controller({"--max-in-flight", "-1"}).exit_code, 2);
  EXPECT_EQ(run_controller({"--max-in-flight", "many"}).exit_code, 2);
}

std::string file_problem(std::string_view text) {
  const auto flags = parse_options_file(text, "f");
  return flags ? "" : flags.error().message;
}

TEST(OptionsFile, RefusesWhatIsNoFlagAndValue) {
  EXPECT_TRUE(parse_options_file("", "f")->empty());
  EXPECT_EQ(file_problem("a: 1\na: 2\n"), "f:2: a stands there twice");
  EXPECT_EQ(file_problem("- a\n").substr(0, 4), "f:1:");
  EXPECT_EQ(file_problem("x: 1\na: [1]\n"), "f:2: a must be one value");
  EXPECT_EQ(file_problem("a: 1\n---\nb: 2\n"), "f holds more than one document");
  EXPECT_EQ(file_problem("a: [1\n").substr(0, 2), "f:");
}

TEST(Addresses, HostPortLists) {
  for (const char* good : {"a:1", "zk-0.zk.svc:2181,zk-1:2181", "10.0.0.1:65535", "[fe80::1]:2181"})
    EXPECT_TRUE(check_host_ports(good, "x")) << good;
  for (const char* bad :
       {"", "a", "a:", ":1", "a:0", "a:65536", "a:1,", ",a:1", "a:1 ", "a b:1", "a:1,,b:1", "a:-1", "::1:2181"})
    EXPECT_FALSE(check_host_ports(bad, "x")) << bad;
}

TEST(Addresses, Chroots) {
  for (const char* good : {"", "/kafka", "/a/b-c/d_e.f"}) EXPECT_TRUE(check_chroot(good)) << good;
  for (const char* bad : {"/", "kafka", "/kafka/", "//kafka", "/a//b", "/a/../b", "/.", "/a b", "/a\n"})
    EXPECT_FALSE(check_chroot(bad)) << bad;
}

}  // namespace
}  // namespace kro
