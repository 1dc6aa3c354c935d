#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kro {

using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

// One gauge sample of a resource that is active, or that needs attention.
struct ResourceSample {
  std::string_view metric;  // a name of metrics.md, such as "kafka_reassignment_partitions"
  MetricLabels labels;
  double value = 0;
};

// Where numbers go. Names, types, help texts and closed label lists are in one catalog (adapters/metrics); a name
// that is not in it is a broken invariant. Thread safe, never blocks for long, never fails.
class Metrics {
 public:
  virtual ~Metrics() = default;
  virtual void add(std::string_view counter, const MetricLabels& labels, double value = 1) = 0;
  virtual void set(std::string_view gauge, const MetricLabels& labels, double value) = 0;
  // Takes the series away until it is set again (gauges that exist only while something does).
  virtual void clear(std::string_view gauge, const MetricLabels& labels) = 0;
  virtual void observe(std::string_view histogram, const MetricLabels& labels, double value) = 0;
  // Replaces all series of one resource, named by `key` ("kind/namespace/name"); an empty list takes them away.
  virtual void set_resource(const std::string& key, std::vector<ResourceSample> samples) = 0;
};

}  // namespace kro
