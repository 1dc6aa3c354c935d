// kafka-reassignment-controller: plays KIP-236's controller for one tree. This file only wires; execute/ has the logic.

#include <unistd.h>

#include <cstdio>
#include <random>
#include <thread>

#include "adapters/kafka/kafka_client.h"
#include "adapters/log/json_log.h"
#include "adapters/metrics/ops_server.h"
#include "adapters/metrics/prometheus_metrics.h"
#include "adapters/os/files.h"
#include "adapters/os/memory.h"
#include "adapters/os/process_figures.h"
#include "adapters/os/stop_signals.h"
#include "adapters/os/system_clock.h"
#include "adapters/zookeeper/zk_connector.h"
#include "app/options.h"
#include "app/options_version.h"
#include "execute/controller_loop.h"
#include "runtime/step_thread.h"

namespace kro {
namespace {

int usage_error(const std::string& text) {
  std::fprintf(stderr, "kafka-reassignment-controller: %s\n", text.c_str());
  return 2;
}

std::string_view to_text(TreeChoice tree) {
  switch (tree) {
    case TreeChoice::kAuto: return "auto";
    case TreeChoice::kShared: return "shared";
    case TreeChoice::kOwn: return "own";
  }
  return "auto";
}

// "pod-name-3f2a91c4": two processes of one host are two controllers.
std::string controller_id(const std::string& host) {
  std::random_device random;
  char suffix[16];
  std::snprintf(suffix, sizeof suffix, "%08x", random());
  return host + "-" + suffix;
}

execute::ControllerOptions loop_options(const ControllerOptions& flags) {
  execute::ControllerOptions out;
  out.host = hostname();
  out.id = controller_id(out.host);
  out.cluster_name = flags.cluster_name;
  out.tree = to_text(flags.tree);
  out.zookeeper.connect = flags.zookeeper;
  out.zookeeper.chroot = flags.chroot;
  out.limits.max_in_flight = static_cast<std::size_t>(flags.max_in_flight);
  out.limits.max_in_flight_per_broker = static_cast<std::size_t>(flags.max_in_flight_per_broker);
  return out;
}

Result<KafkaClientConfig> kafka_config(const ControllerOptions& flags) {
  std::string properties;
  if (!flags.command_config.empty()) {
    auto text = read_file(flags.command_config);
    if (!text) return pass_on(text.error(), "--command-config");
    properties = std::move(*text);
  }
  return parse_kafka_client_config(flags.bootstrap_server, properties);
}

int run(const ControllerOptions& flags) {
  if (flags.driver == DriverChoice::kLegacyZnode)
    return usage_error("--driver legacy-znode is not supported by this release: use admin-api (Kafka 2.4 and newer)");
  auto kafka = kafka_config(flags);
  if (!kafka) return usage_error(kafka.error().text());

  keep_memory_small();
  StopSignals signals;
  install_json_log(flags.log_level);
  SystemClock clock;
  PrometheusMetrics::Options metric_options;
  metric_options.controller = true;
  metric_options.version = program_version();
  metric_options.revision = program_revision();
  metric_options.default_cluster = flags.cluster_name;
  metric_options.before_render = [&](Metrics& m) { report_process(m); };
  PrometheusMetrics metrics(std::move(metric_options));
  metrics.register_cluster(flags.cluster_name);

  Lifecycle lifecycle(clock);
  const auto heartbeat = lifecycle.worker("controller");
  auto ops = OpsServer::start(flags.listen, {[&] { return metrics.render(); }, PrometheusMetrics::kContentType,
                                             [&] {
                                               auto health = lifecycle.livez();
                                               return OpsServer::Health{health.good, std::move(health.text)};
                                             },
                                             [&] {
                                               auto health = lifecycle.readyz();
                                               return OpsServer::Health{health.good, std::move(health.text)};
                                             }});
  if (!ops) {
    log::error("cannot serve", {{"error", ops.error().text()}});
    return 1;
  }

  const auto admin = make_kafka_admin(std::move(*kafka), [&](std::string_view api, int code) {
    metrics.add("kafka_reassignment_controller_kafka_requests_total",
                {{"kafka_cluster", flags.cluster_name}, {"api", std::string(api)}, {"code", std::to_string(code)}});
  });
  const auto connector = make_zk_connector();
  execute::ControllerLoop loop(*connector, *admin, clock, metrics, loop_options(flags));
  log::info("started", {{"zookeeper", flags.zookeeper + flags.chroot},
                        {"bootstrap_server", flags.bootstrap_server},
                        {"listen", flags.listen.text()},
                        {"version", program_version()}});
  std::jthread worker([&](const std::stop_token& stop) { loop.run(stop, *heartbeat); });
  ReleaseTimer release;
  release.busy(clock.now().mono);
  StepThread memory("memory", [&](const std::stop_token&) -> milliseconds {
    if (release.due(clock.now().mono)) {
      trim_memory();
      release_clean_pages();
    }
    return ReleaseTimer::kQuiet;
  });
  signals.wait(lifecycle.stop_token());
  log::info("stopping");
  worker.request_stop();
  worker.join();
  log::info("stopped");
  return lifecycle.exit_code();
}

}  // namespace
}  // namespace kro

int main(int argc, char** argv) {
  const auto parsed = kro::parse_controller_options(argc, argv);
  if (!parsed.options) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  return kro::run(*parsed.options);
}
