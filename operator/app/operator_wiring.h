#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/metrics/prometheus_metrics.h"
#include "app/operator_config.h"
#include "ports/kube_api.h"
#include "ports/zk_session.h"
#include "reconcile/cluster_worker.h"
#include "reconcile/router.h"
#include "runtime/event_recorder.h"
#include "runtime/lifecycle.h"
#include "runtime/reflector.h"
#include "runtime/status_writer.h"
#include "runtime/work_figures.h"

namespace kro {

// What every engine of one process uses; it outlives them.
struct OperatorParts {
  KubeApi& kube;
  ZkConnector& zookeeper;
  const Clock& clock;
  PrometheusMetrics& metrics;
  WorkFigures& reassignment_work;
  WorkFigures& cancel_work;
  Lifecycle& lifecycle;
  StatusWriter& statuses;
  EventRecorder& events;
  std::function<void()> on_deposed;
  std::function<void()> on_listed;  // from a reflector's thread, after each whole listing
  std::string owner;                // uid of the operator's namespace; empty: not known
  seconds attention_for;
};

// Everything that follows from one configuration: a worker a cluster (and one for resources of clusters that are not
// configured), and the reflectors that feed them. A change of clusters or namespaces is a new engine; what may be done
// where is changed in place. One thread calls it; destroying it stops all of its threads.
class OperatorEngine {
 public:
  OperatorEngine(const OperatorConfig& config, OperatorParts parts);
  ~OperatorEngine();

  // Whether `config` differs from the engine's only in what is allowed; then it is in force.
  bool adopt(const OperatorConfig& config);
  void set_leading(bool leads);
  [[nodiscard]] bool listed() const;

 private:
  void start_worker(const std::string& name, const ClusterConfig* cluster);
  void start_reflector(reconcile::Kind kind, const std::string& ns);

  OperatorConfig config_;
  OperatorParts parts_;
  std::vector<std::unique_ptr<ZkConnector>> connectors_;
  std::map<std::string, std::unique_ptr<reconcile::ClusterWorker>> workers_;
  std::map<std::string, reconcile::ClusterInbox*> inboxes_;
  std::shared_ptr<std::atomic<int>> unlisted_ = std::make_shared<std::atomic<int>>(0);
  std::vector<std::unique_ptr<reconcile::Router>> routers_;
  std::vector<std::unique_ptr<ReflectorThread>> reflectors_;  // last: they feed everything above
};

}  // namespace kro
