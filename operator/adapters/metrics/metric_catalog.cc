#include "adapters/metrics/metric_catalog.h"

#include "adapters/metrics/domain_metrics.h"

namespace kro {
namespace {

using Values = std::vector<std::string_view>;
using Tuples = std::vector<Values>;

constexpr auto kCounter = MetricType::kCounter;
constexpr auto kGauge = MetricType::kGauge;
constexpr auto kHistogram = MetricType::kHistogram;
constexpr auto kProcess = MetricScope::kProcess;
constexpr auto kOperator = MetricComponent::kOperator;
constexpr auto kBoth = MetricComponent::kBoth;

const Values kControllers{"kafkareassignment", "kafkareassignmentcancel"};

Tuples each(const Values& values) {
  Tuples out;
  for (const auto value : values) out.push_back({value});
  return out;
}

Tuples pairs(const Values& first, const Values& second) {
  Tuples out;
  for (const auto a : first)
    for (const auto b : second) out.push_back({a, b});
  return out;
}

std::vector<MetricSpec> runtime_metrics() {
  // {name, controller} of each queue: both are the controller's name, as controller-runtime has it.
  const Tuples queues{{"kafkareassignment", "kafkareassignment"},
                      {"kafkareassignmentcancel", "kafkareassignmentcancel"}};
  const std::vector<double> work{0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
  const std::vector<double> queue{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000};
  return {
      {"controller_runtime_reconcile_total",
       kCounter,
       kProcess,
       kOperator,
       "Reconciles by controller and result.",
       {"controller", "result"},
       pairs(kControllers, {"success", "error", "requeue", "requeue_after"}),
       {}},
      {"controller_runtime_reconcile_errors_total",
       kCounter,
       kProcess,
       kOperator,
       "Reconciles that ended in an error.",
       {"controller"},
       each(kControllers),
       {}},
      {"controller_runtime_terminal_reconcile_errors_total",
       kCounter,
       kProcess,
       kOperator,
       "Reconciles that ended in an error that the same input meets again.",
       {"controller"},
       each(kControllers),
       {}},
      {"controller_runtime_reconcile_panics_total",
       kCounter,
       kProcess,
       kOperator,
       "Reconciles that ended in an unexpected failure.",
       {"controller"},
       each(kControllers),
       {}},
      {"controller_runtime_reconcile_time_seconds",
       kHistogram,
       kProcess,
       kOperator,
       "How long a reconcile takes.",
       {"controller"},
       each(kControllers),
       work},
      {"controller_runtime_max_concurrent_reconciles",
       kGauge,
       kProcess,
       kOperator,
       "Most reconciles at the same time.",
       {"controller"},
       each(kControllers),
       {}},
      {"controller_runtime_active_workers",
       kGauge,
       kProcess,
       kOperator,
       "Workers that reconcile now.",
       {"controller"},
       each(kControllers),
       {}},
      {"workqueue_depth",
       kGauge,
       kProcess,
       kOperator,
       "Keys that wait in the queue.",
       {"name", "controller"},
       queues,
       {}},
      {"workqueue_adds_total",
       kCounter,
       kProcess,
       kOperator,
       "Keys added to the queue.",
       {"name", "controller"},
       queues,
       {}},
      {"workqueue_retries_total",
       kCounter,
       kProcess,
       kOperator,
       "Keys added again after a failure.",
       {"name", "controller"},
       queues,
       {}},
      {"workqueue_queue_duration_seconds",
       kHistogram,
       kProcess,
       kOperator,
       "How long a key waits before it is worked on.",
       {"name", "controller"},
       queues,
       queue},
      {"workqueue_work_duration_seconds",
       kHistogram,
       kProcess,
       kOperator,
       "How long a key is worked on.",
       {"name", "controller"},
       queues,
       queue},
      {"workqueue_unfinished_work_seconds",
       kGauge,
       kProcess,
       kOperator,
       "Seconds of work in progress, all workers together.",
       {"name", "controller"},
       queues,
       {}},
      {"workqueue_longest_running_processor_seconds",
       kGauge,
       kProcess,
       kOperator,
       "How long the longest work in progress runs.",
       {"name", "controller"},
       queues,
       {}},
      {"leader_election_master_status",
       kGauge,
       kProcess,
       kOperator,
       "1 while this process holds the lease, else 0.",
       {"name"},
       each({"kafka-reassignment-operator"}),
       {}},
      {"rest_client_requests_total",
       kCounter,
       kProcess,
       kOperator,
       "Requests to the API server by status code, method and host.",
       {"code", "method", "host"},
       {},
       {}},
      {"process_cpu_seconds_total",
       kCounter,
       kProcess,
       kBoth,
       "User and system CPU time spent in seconds.",
       {},
       {},
       {}},
      {"process_start_time_seconds",
       kGauge,
       kProcess,
       kBoth,
       "Start of the process, in seconds since the epoch.",
       {},
       {},
       {}},
      {"process_virtual_memory_bytes", kGauge, kProcess, kBoth, "Virtual memory in bytes.", {}, {}, {}},
      {"process_resident_memory_bytes", kGauge, kProcess, kBoth, "Resident memory in bytes.", {}, {}, {}},
      {"process_threads", kGauge, kProcess, kBoth, "Threads of the process.", {}, {}, {}},
      {"process_open_fds", kGauge, kProcess, kBoth, "Open file descriptors.", {}, {}, {}},
      {"process_max_fds", kGauge, kProcess, kBoth, "Most file descriptors that may be open.", {}, {}, {}},
      {"kafka_reassignment_build_info",
       kGauge,
       kProcess,
       kBoth,
       "1, with the version in its labels.",
       {"component", "version", "revision"},
       {},
       {}},
      {"kafka_reassignment_status_writes_total",
       kCounter,
       kProcess,
       kOperator,
       "Status writes by kind and result.",
       {"kind", "result"},
       pairs({"KafkaReassignment", "KafkaReassignmentCancel"}, {"success", "conflict", "error"}),
       {}},
      {"kafka_reassignment_config_last_reload_successful",
       kGauge,
       kProcess,
       kOperator,
       "1 when the newest configuration file is in use, 0 when it was refused and the old one is.",
       {},
       {},
       {}},
  };
}

}  // namespace

const std::vector<MetricSpec>& metric_catalog() {
  static const std::vector<MetricSpec> all = [] {
    std::vector<MetricSpec> out = runtime_metrics();
    for (auto& spec : cluster_metrics()) out.push_back(std::move(spec));
    for (auto& spec : resource_metrics()) out.push_back(std::move(spec));
    return out;
  }();
  return all;
}

const std::vector<std::string_view>& scope_labels(MetricScope scope) {
  static const std::vector<std::string_view> none;
  static const std::vector<std::string_view> cluster{"kafka_cluster"};
  static const std::vector<std::string_view> resource{"kind", "namespace", "name", "kafka_cluster"};
  switch (scope) {
    case MetricScope::kProcess: return none;
    case MetricScope::kCluster: return cluster;
    case MetricScope::kResource: return resource;
  }
  return none;
}

}  // namespace kro
