#pragma once

#include <vector>

#include "adapters/metrics/metric_catalog.h"

namespace kro {

// The parts of the catalog that are about Kafka clusters and about single resources.
std::vector<MetricSpec> cluster_metrics();
std::vector<MetricSpec> resource_metrics();

}  // namespace kro
