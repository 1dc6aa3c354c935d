#include "fakes/recording_metrics.h"

#include <algorithm>

namespace kro {

std::string RecordingMetrics::series(std::string_view name, const MetricLabels& labels) {
  MetricLabels sorted = labels;
  std::sort(sorted.begin(), sorted.end());
  std::string out(name);
  out += '{';
  for (const auto& [key, value] : sorted) {
    if (out.back() != '{') out += ',';
    out += key;
    out += '=';
    out += value;
  }
  out += '}';
  return out;
}

void RecordingMetrics::add(std::string_view counter, const MetricLabels& labels, double value) {
  const std::scoped_lock lock(mutex_);
  values_[series(counter, labels)] += value;
}

void RecordingMetrics::set(std::string_view gauge, const MetricLabels& labels, double value) {
  const std::scoped_lock lock(mutex_);
  values_[series(gauge, labels)] = value;
}

void RecordingMetrics::clear(std::string_view gauge, const MetricLabels& labels) {
  const std::scoped_lock lock(mutex_);
  values_.erase(series(gauge, labels));
}

void RecordingMetrics::observe(std::string_view histogram, const MetricLabels& labels, double value) {
  const std::scoped_lock lock(mutex_);
  observed_[series(histogram, labels)].push_back(value);
}

void RecordingMetrics::set_resource(const std::string& key, std::vector<ResourceSample> samples) {
  const std::scoped_lock lock(mutex_);
  resources_.erase(key);
  for (const auto& sample : samples) resources_[key][series(sample.metric, sample.labels)] = sample.value;
}

double RecordingMetrics::value(std::string_view name, const MetricLabels& labels) const {
  const std::scoped_lock lock(mutex_);
  const auto at = values_.find(series(name, labels));
  return at == values_.end() ? 0 : at->second;
}

bool RecordingMetrics::has(std::string_view name, const MetricLabels& labels) const {
  const std::scoped_lock lock(mutex_);
  return values_.contains(series(name, labels));
}

std::vector<double> RecordingMetrics::observed(std::string_view name, const MetricLabels& labels) const {
  const std::scoped_lock lock(mutex_);
  const auto at = observed_.find(series(name, labels));
  return at == observed_.end() ? std::vector<double>{} : at->second;
}

double RecordingMetrics::resource_value(const std::string& key, std::string_view metric,
                                        const MetricLabels& labels) const {
  const std::scoped_lock lock(mutex_);
  const auto resource = resources_.find(key);
  if (resource == resources_.end()) return 0;
  const auto at = resource->second.find(series(metric, labels));
  return at == resource->second.end() ? 0 : at->second;
}

std::size_t RecordingMetrics::resource_size(const std::string& key) const {
  const std::scoped_lock lock(mutex_);
  const auto at = resources_.find(key);
  return at == resources_.end() ? 0 : at->second.size();
}

}  // namespace kro
