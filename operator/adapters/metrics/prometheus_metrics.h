#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ports/metrics.h"

namespace kro {

// All numbers of the process, rendered in Prometheus' text format 0.0.4.
//
// Series live in one map under one mutex, not in prometheus::Family: a family's Remove leaves references dangling
// that other threads may hold, and its Add allocates on every call. A name that the catalog does not have, a label it
// does not have, or one that is missing, is a broken invariant. Thread safe; a call holds the mutex for microseconds,
// render() for the time of a copy.
class PrometheusMetrics final : public Metrics {
 public:
  struct Options {
    bool controller = false;  // false: the operator's series exist at 0 from the start, else the controller's
    std::string version;
    std::string revision;
    std::string default_cluster;  // kafka_cluster where a caller gives none (the controller has only one)
    // Called at the head of every render, to set what is only known by looking (process_*, ages).
    std::function<void(Metrics&)> before_render;
  };

  explicit PrometheusMetrics(Options options);
  ~PrometheusMetrics() override;

  // Makes the series of a cluster, those of closed lists at 0. Again: does nothing.
  void register_cluster(const std::string& name);
  // Takes away every series of a cluster, after it left the configuration.
  void forget_cluster(const std::string& name);

  void add(std::string_view counter, const MetricLabels& labels, double value = 1) override;
  void set(std::string_view gauge, const MetricLabels& labels, double value) override;
  void clear(std::string_view gauge, const MetricLabels& labels) override;
  void observe(std::string_view histogram, const MetricLabels& labels, double value) override;
  void set_resource(const std::string& key, std::vector<ResourceSample> samples) override;

  // The whole exposition; "" when memory runs out.
  std::string render();
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";

 private:
  class Store;
  Options options_;
  std::unique_ptr<Store> store_;
};

}  // namespace kro
