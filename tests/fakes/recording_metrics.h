#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "ports/metrics.h"

namespace kro {

// Keeps what it is told, for tests to ask. Labels may be given in any order. Thread safe.
class RecordingMetrics final : public Metrics {
 public:
  void add(std::string_view counter, const MetricLabels& labels, double value = 1) override;
  void set(std::string_view gauge, const MetricLabels& labels, double value) override;
  void clear(std::string_view gauge, const MetricLabels& labels) override;
  void observe(std::string_view histogram, const MetricLabels& labels, double value) override;
  void set_resource(const std::string& key, std::vector<ResourceSample> samples) override;

  // Value of a counter or gauge; 0 where it was never told.
  [[nodiscard]] double value(std::string_view name, const MetricLabels& labels = {}) const;
  // Whether the series exists.
  [[nodiscard]] bool has(std::string_view name, const MetricLabels& labels = {}) const;
  // Everything observed, in order.
  [[nodiscard]] std::vector<double> observed(std::string_view name, const MetricLabels& labels = {}) const;
  // Value of a sample of a resource; 0 where there is none.
  [[nodiscard]] double resource_value(const std::string& key, std::string_view metric,
                                      const MetricLabels& labels) const;
  // How many samples a resource has.
  [[nodiscard]] std::size_t resource_size(const std::string& key) const;

  // "name{a=1,b=2}", labels sorted.
  static std::string series(std::string_view name, const MetricLabels& labels);

 private:
  mutable std::mutex mutex_;
  std::map<std::string, double> values_;
  std::map<std::string, std::vector<double>> observed_;
  std::map<std::string, std::map<std::string, double>> resources_;
};

}  // namespace kro
