#pragma once

#include <string_view>
#include <vector>

namespace kro {

enum class MetricType { kCounter, kGauge, kHistogram };

// Which labels a metric has besides its own, and so for how long its series live.
enum class MetricScope {
  kProcess,   // none; as long as the process
  kCluster,   // kafka_cluster; from register_cluster on
  kResource,  // kind, namespace, name, kafka_cluster; while its resource is active or needs attention
};

enum class MetricComponent { kOperator, kController, kBoth };

struct MetricSpec {
  std::string_view name;
  MetricType type = MetricType::kGauge;
  MetricScope scope = MetricScope::kProcess;
  MetricComponent component = MetricComponent::kBoth;
  std::string_view help;
  std::vector<std::string_view> labels;             // besides those of the scope
  std::vector<std::vector<std::string_view>> zero;  // values of `labels` that exist at 0 from the start
  std::vector<double> buckets;                      // upper bounds, of histograms
};

// Every metric that the executables may write: names, labels and closed lists of design and dashboards in one place.
const std::vector<MetricSpec>& metric_catalog();

// The labels of a scope, in the order of the exposition.
const std::vector<std::string_view>& scope_labels(MetricScope scope);

}  // namespace kro
