#include "adapters/metrics/prometheus_metrics.h"

#include <prometheus/collectable.h>
#include <prometheus/histogram.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <unordered_map>

#include "adapters/metrics/metric_catalog.h"
#include "base/assert.h"

namespace kro {
namespace {

using LabelValues = std::vector<std::string>;

struct Series {
  double value = 0;
  std::unique_ptr<prometheus::Histogram> histogram;
};

struct Metric {
  const MetricSpec* spec = nullptr;
  std::vector<std::string_view> labels;  // of the scope, then its own
  std::map<LabelValues, Series> series;  // sorted, so that two renders compare
};

prometheus::MetricType type_of(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return prometheus::MetricType::Counter;
    case MetricType::kGauge: return prometheus::MetricType::Gauge;
    case MetricType::kHistogram: return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

prometheus::ClientMetric exposed(const Metric& metric, const LabelValues& values, const Series& series) {
  prometheus::ClientMetric out;
  if (series.histogram != nullptr) out = series.histogram->Collect();
  if (metric.spec->type == MetricType::kCounter) out.counter.value = series.value;
  if (metric.spec->type == MetricType::kGauge) out.gauge.value = series.value;
  out.label.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out.label.push_back({std::string(metric.labels[i]), values[i]});
  return out;
}

}  // namespace

class PrometheusMetrics::Store : public prometheus::Collectable {
 public:
  explicit Store(std::string default_cluster) : default_cluster_(std::move(default_cluster)) {
    const auto& catalog = metric_catalog();
    metrics_.reserve(catalog.size());
    for (const MetricSpec& spec : catalog) {
      Metric metric;
      metric.spec = &spec;
      metric.labels = scope_labels(spec.scope);
      metric.labels.insert(metric.labels.end(), spec.labels.begin(), spec.labels.end());
      index_.emplace(spec.name, metrics_.size());
      metrics_.push_back(std::move(metric));
    }
  }

  void at_zero(MetricScope scope, bool controller, const LabelValues& scope_values) {
    const std::scoped_lock lock(mutex_);
    const auto other = controller ? MetricComponent::kOperator : MetricComponent::kController;
    for (Metric& metric : metrics_) {
      if (metric.spec->scope != scope || metric.spec->component == other) continue;
      for (const auto& own : metric.spec->zero) {
        LabelValues values = scope_values;
        values.insert(values.end(), own.begin(), own.end());
        cell(metric, std::move(values));
      }
    }
  }

  template <class Change>
  void change(std::string_view name, MetricType type, const MetricLabels& labels, Change&& apply) {
    const std::scoped_lock lock(mutex_);
    Metric& metric = find(name);
    KRO_ASSERT(metric.spec->scope != MetricScope::kResource);
    // What is only read from elsewhere is set as a whole, counters too.
    KRO_ASSERT(metric.spec->type == type || (type == MetricType::kGauge && metric.spec->type == MetricType::kCounter));
    apply(metric, ordered(metric, labels));
  }

  void set_resource(const std::string& key, std::vector<ResourceSample> samples) {
    const std::scoped_lock lock(mutex_);
    const auto old = resources_.find(key);
    if (old != resources_.end()) {
      for (const auto& [at, values] : old->second) metrics_[at].series.erase(values);
      resources_.erase(old);
    }
    if (samples.empty()) return;
    auto& kept = resources_[key];
    for (const ResourceSample& sample : samples) {
      Metric& metric = find(sample.metric);
      KRO_ASSERT(metric.spec->scope == MetricScope::kResource);
      LabelValues values = ordered(metric, sample.labels);
      cell(metric, values).value = sample.value;
      kept.emplace_back(static_cast<std::size_t>(&metric - metrics_.data()), std::move(values));
    }
  }

  void forget_cluster(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    for (Metric& metric : metrics_) {
      if (metric.spec->scope != MetricScope::kCluster) continue;
      std::erase_if(metric.series, [&](const auto& entry) { return entry.first.front() == name; });
    }
  }

  Series& cell(Metric& metric, LabelValues values) {
    const auto [at, made] = metric.series.try_emplace(std::move(values));
    if (made && metric.spec->type == MetricType::kHistogram)
      at->second.histogram = std::make_unique<prometheus::Histogram>(metric.spec->buckets);
    return at->second;
  }

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    const std::scoped_lock lock(mutex_);
    std::vector<prometheus::MetricFamily> out;
    out.reserve(metrics_.size());
    for (const Metric& metric : metrics_) {
      if (metric.series.empty()) continue;
      prometheus::MetricFamily family;
      family.name = metric.spec->name;
      family.help = metric.spec->help;
      family.type = type_of(metric.spec->type);
      family.metric.reserve(metric.series.size());
      for (const auto& [values, series] : metric.series) family.metric.push_back(exposed(metric, values, series));
      out.push_back(std::move(family));
    }
    return out;
  }

 private:
  Metric& find(std::string_view name) {
    const auto at = index_.find(name);
    KRO_ASSERT(at != index_.end() && "a metric that is not in the catalog");
    return metrics_[at->second];
  }

  // The values in the order of the catalog.
  LabelValues ordered(const Metric& metric, const MetricLabels& labels) const {
    LabelValues out;
    out.reserve(metric.labels.size());
    std::size_t used = 0;
    for (const std::string_view wanted : metric.labels) {
      const auto given =
          std::find_if(labels.begin(), labels.end(), [&](const auto& label) { return label.first == wanted; });
      if (given != labels.end()) {
        out.push_back(given->second);
        ++used;
        continue;
      }
      KRO_ASSERT(wanted == "kafka_cluster" && !default_cluster_.empty() && "a metric without one of its labels");
      out.push_back(default_cluster_);
    }
    KRO_ASSERT(used == labels.size() && "a metric with a label that it does not have");
    return out;
  }

  mutable std::mutex mutex_;
  const std::string default_cluster_;
  std::vector<Metric> metrics_;  // in the order of the catalog; never grows after construction
  std::unordered_map<std::string_view, std::size_t> index_;
  // key → its series: which metric, which labels
  std::unordered_map<std::string, std::vector<std::pair<std::size_t, LabelValues>>> resources_;
};

PrometheusMetrics::PrometheusMetrics(Options options)
    : options_(std::move(options)), store_(std::make_unique<Store>(options_.default_cluster)) {
  store_->at_zero(MetricScope::kProcess, options_.controller, {});
  set("kafka_reassignment_build_info",
      {{"component", options_.controller ? "controller" : "operator"},
       {"version", options_.version},
       {"revision", options_.revision}},
      1);
}

PrometheusMetrics::~PrometheusMetrics() = default;

void PrometheusMetrics::register_cluster(const std::string& name) {
  store_->at_zero(MetricScope::kCluster, options_.controller, {name});
}

void PrometheusMetrics::forget_cluster(const std::string& name) { store_->forget_cluster(name); }

void PrometheusMetrics::add(std::string_view counter, const MetricLabels& labels, double value) {
  KRO_ASSERT(value >= 0);
  store_->change(counter, MetricType::kCounter, labels,
                 [&](Metric& metric, LabelValues values) { store_->cell(metric, std::move(values)).value += value; });
}

void PrometheusMetrics::set(std::string_view gauge, const MetricLabels& labels, double value) {
  store_->change(gauge, MetricType::kGauge, labels,
                 [&](Metric& metric, LabelValues values) { store_->cell(metric, std::move(values)).value = value; });
}

void PrometheusMetrics::clear(std::string_view gauge, const MetricLabels& labels) {
  store_->change(gauge, MetricType::kGauge, labels,
                 [](Metric& metric, const LabelValues& values) { metric.series.erase(values); });
}

void PrometheusMetrics::observe(std::string_view histogram, const MetricLabels& labels, double value) {
  store_->change(histogram, MetricType::kHistogram, labels, [&](Metric& metric, LabelValues values) {
    store_->cell(metric, std::move(values)).histogram->Observe(value);
  });
}

void PrometheusMetrics::set_resource(const std::string& key, std::vector<ResourceSample> samples) {
  store_->set_resource(key, std::move(samples));
}

std::string PrometheusMetrics::render() {
  try {
    if (options_.before_render) options_.before_render(*this);
    return prometheus::TextSerializer().Serialize(store_->Collect());
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace kro
