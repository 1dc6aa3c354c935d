#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "fakes/fake_kube.h"
#include "fakes/fake_zk.h"
#include "fakes/faulty_zk.h"
#include "fakes/manual_clock.h"
#include "fakes/recording_metrics.h"
#include "reconcile/cluster_reconciler.h"
#include "reconcile/router.h"
#include "runtime/reflector.h"
#include "tree/paths.h"
#include "tree/result_codec.h"

namespace kro {

using Json = nlohmann::json;

// The whole operator for one cluster, without a thread: fake API server, fake ZooKeeper, a clock that a test moves.
//
// operator_dies() and operator_starts() are kill -9 and a restart: nothing but the two servers survives.
class OperatorRig : public ::testing::Test {
 protected:
  OperatorRig() : kube_([this] { return clock_.now().wall; }), zk_(std::make_shared<FakeZk>(&clock_)) {
    kube_.set_blocking_watches(false);
    if (std::getenv("KRO_TEST_LOG") != nullptr)
      log::set_sink([](log::Level, std::string_view message, std::initializer_list<log::Field> fields) {
        std::fprintf(stderr, "%.*s", static_cast<int>(message.size()), message.data());
        for (const log::Field& f : fields)
          std::fprintf(stderr, " %.*s=%s", static_cast<int>(f.key.size()), f.key.data(), f.value.c_str());
        std::fprintf(stderr, "\n");
      });
    operator_starts();
  }

  // `clusters`: of "prod" and "" those that it has a worker for; the latter is always there.
  void operator_starts(const std::set<std::string>& clusters = {"prod", ""}) {
    connector_ = std::make_unique<FaultyZkConnector>(std::make_unique<FakeZkConnector>(zk_), faults_);
    reconcile::ClusterSettings settings;
    settings.identity = {"op", "owner-uid", "prod"};
    settings.policy = policy_;
    settings.zookeeper.connect = "zk:2181";
    const auto make_deps = [this] {
      return reconcile::ClusterDeps{kube_,
                                    clock_,
                                    metrics_,
                                    reassignment_work_,
                                    cancel_work_,
                                    [this](const std::string& key, StatusWrite write) { write_status(key, write); },
                                    [this](const EventNote& note) { notes_.push_back(note); },
                                    [this] { ++deposed_; }};
    };
    cluster_ = std::make_unique<reconcile::ClusterReconciler>(settings, make_deps(), connector_.get());
    reconcile::ClusterSettings nowhere;
    nowhere.policy.operator_id = "op";
    nowhere.policy.cluster_known = false;
    nowhere_ = std::make_unique<reconcile::ClusterReconciler>(nowhere, make_deps(), nullptr);
    std::map<std::string, reconcile::ClusterInbox*> inboxes = {{"", &nowhere_->inbox()}};
    if (clusters.contains("prod"))
      inboxes["prod"] = &cluster_->inbox();
    else
      cluster_.reset();
    routers_.clear();
    reflectors_.clear();
    for (const auto kind : {reconcile::Kind::kCancel, reconcile::Kind::kReassignment}) {
      routers_.push_back(std::make_unique<reconcile::Router>(kind, "", inboxes, [] {}));
      reflectors_.push_back(std::make_unique<Reflector>(
          kube_, ReflectorConfig{reconcile::resource_of(kind), ""}, *routers_.back(), clock_, [] { return 0.5; },
          [](const ReflectorHealth&) {}));
    }
    lead(true);
  }

  void operator_dies() {
    reflectors_.clear();
    routers_.clear();
    cluster_.reset();
    nowhere_.reset();
    for (const std::int64_t session : zk_->sessions()) zk_->expire(session);
  }

  void lead(bool leads) {
    if (cluster_) cluster_->inbox().post(reconcile::Leadership{leads});
    nowhere_->inbox().post(reconcile::Leadership{leads});
  }

  // Everything that is due now, until nothing changes any more.
  void settle() {
    for (int i = 0; i < 6; ++i) {
      for (const auto& reflector : reflectors_) reflector->step({});
      if (cluster_) cluster_->step({});
      nowhere_->step({});
    }
  }
  void pass(milliseconds span) {
    for (milliseconds done{0}; done < span; done += 500ms) {
      clock_.advance(500ms);
      settle();
    }
  }

  void write_status(const std::string&, StatusWrite& write) {
    write.done(kube_.put_status(write.resource, write.name, write.resource_version, write.status_json, clock_.in(1s)));
  }

  // --- people ---
  static Json reassignment(const std::string& name, const Json& assignments) {
    return {{"apiVersion", "kafka-reassignment.io/v1alpha1"},
            {"kind", "KafkaReassignment"},
            {"metadata", {{"name", name}, {"namespace", "kafka"}}},
            {"spec", {{"clusterRef", {{"name", "prod"}}}, {"assignments", assignments}}}};
  }
  static Json cancel_all(const std::string& name) {
    return {{"apiVersion", "kafka-reassignment.io/v1alpha1"},
            {"kind", "KafkaReassignmentCancel"},
            {"metadata", {{"name", name}, {"namespace", "kafka"}}},
            {"spec", {{"clusterRef", {{"name", "prod"}}}, {"all", true}}}};
  }
  void apply(const Json& manifest) {
    const auto done = kube_.apply(manifest.dump());
    ASSERT_TRUE(done) << done.error().text();
  }
  void erase(reconcile::Kind kind, const std::string& name) {
    ASSERT_TRUE(kube_.erase(reconcile::resource_of(kind), {"kafka", name}));
  }
  [[nodiscard]] Json object(const std::string& name, reconcile::Kind kind = reconcile::Kind::kReassignment) const {
    const auto text = kube_.object(reconcile::resource_of(kind), {"kafka", name});
    return text ? Json::parse(*text) : Json();
  }
  [[nodiscard]] Json status(const std::string& name, reconcile::Kind kind = reconcile::Kind::kReassignment) const {
    const Json o = object(name, kind);
    return o.is_object() ? o.value("status", Json::object()) : Json::object();
  }
  [[nodiscard]] std::string phase(const std::string& name,
                                  reconcile::Kind kind = reconcile::Kind::kReassignment) const {
    return status(name, kind).value("phase", "");
  }
  // "True/Reason" of a condition.
  [[nodiscard]] std::string condition(const std::string& name, const std::string& type,
                                      reconcile::Kind kind = reconcile::Kind::kReassignment) const {
    const Json s = status(name, kind);
    if (!s.contains("conditions")) return "";
    for (const Json& c : s["conditions"])
      if (c.value("type", "") == type) return c.value("status", "") + "/" + c.value("reason", "");
    return "";
  }
  [[nodiscard]] std::vector<std::string> told(const std::string& name) const {
    std::vector<std::string> out;
    for (const EventNote& note : notes_)
      if (note.regarding.name.name == name) out.push_back(note.reason);
    return out;
  }

  // --- the controller's side ---
  void controller_leads() {
    tree::ControllerNode node;
    node.id = "controller-0";
    node.tree = "shared";
    node.driver = "admin-api";
    node.features = {"client",
                     "check",
                     "allow",
                     "dry_run",
                     "all_or_nothing",
                     "max_in_flight",
                     "health_gate",
                     "MinInsyncReplicas",
                     "ReplicationFactorChange",
                     "InternalTopics",
                     "UnderReplicated",
                     "NoLeader",
                     "RackSpread",
                     "PartitionsBusy"};
    zk_->put("/admin/reassignment_controller", tree::encode_controller(node));
  }
  [[nodiscard]] std::vector<std::string> inbox() const { return zk_->names("/admin/reassignment_requests"); }
  [[nodiscard]] Json request(const std::string& name) const {
    return Json::parse(zk_->peek("/admin/reassignment_requests/" + name)->data);
  }
  [[nodiscard]] std::string result_name(const std::string& request) const {
    return tree::result_name(request, zk_->peek("/admin/reassignment_requests/" + request)->stat.czxid);
  }
  void put_result(const std::string& name, const tree::RequestResult& result) {
    zk_->put("/admin/reassignment_results/" + name, tree::encode_result(result));
    if (!zk_->peek("/admin/reassignment_results/" + name + "/originals"))
      zk_->put("/admin/reassignment_results/" + name + "/originals", R"({"version":1,"originals":{}})");
  }
  // Accepts a request and leaves all of it in flight.
  std::string accept(const std::string& request, int partitions) {
    const std::string name = result_name(request);
    tree::RequestResult result;
    result.request = request;
    result.partitions = partitions;
    result.received = rfc3339(clock_.now().wall);
    put_result(name, result);
    zk_->remove("/admin/reassignment_requests/" + request);
    return name;
  }
  void finish(const std::string& result_name, const std::string& outcome, const PartitionSets& sets) {
    auto result = *tree::decode_result(zk_->peek("/admin/reassignment_results/" + result_name)->data);
    result.finished[outcome] = sets;
    result.last_progress = rfc3339(clock_.now().wall);
    result.done = static_cast<int>(result.finished_count() + result.refused_count()) == result.partitions;
    put_result(result_name, result);
  }
  std::string refuse(const std::string& request, const std::string& reason, const PartitionSets& sets) {
    const std::string name = result_name(request);
    tree::RequestResult result;
    result.request = request;
    result.partitions = static_cast<int>(count(sets));
    result.refused[reason] = sets;
    result.done = true;
    put_result(name, result);
    zk_->remove("/admin/reassignment_requests/" + request);
    return name;
  }
  [[nodiscard]] std::vector<std::string> markers(const std::string& uid) const {
    return zk_->names("/admin/reassignment_ledger/op/" + uid);
  }
  [[nodiscard]] std::string uid(const std::string& name) const {
    return object(name)["metadata"]["uid"].get<std::string>();
  }

  ManualClock clock_;
  RecordingMetrics metrics_;
  WorkFigures reassignment_work_{metrics_, clock_, "kafkareassignment"};
  WorkFigures cancel_work_{metrics_, clock_, "kafkareassignmentcancel"};
  FakeKube kube_;
  std::shared_ptr<FakeZk> zk_;
  std::shared_ptr<ZkFaults> faults_ = std::make_shared<ZkFaults>();
  decide::Policy policy_{"op", true, {"kafka"}, {"*"}};
  std::unique_ptr<FaultyZkConnector> connector_;
  std::unique_ptr<reconcile::ClusterReconciler> cluster_;
  std::unique_ptr<reconcile::ClusterReconciler> nowhere_;
  std::vector<std::unique_ptr<reconcile::Router>> routers_;
  std::vector<std::unique_ptr<Reflector>> reflectors_;
  std::vector<EventNote> notes_;
  int deposed_ = 0;
};

}  // namespace kro
