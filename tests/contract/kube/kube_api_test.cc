#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "contract/kube/kube_world.h"
#include "contract/kube/watch_recorder.h"

namespace kro::contract {
namespace {

using nlohmann::json;
using Type = KubeWatchEvent::Type;

const KubeResource kReassignments{"kafka-reassignment.io", "v1alpha1", "kafkareassignments"};
const KubeResource kLeases{"coordination.k8s.io", "v1", "leases"};
const KubeResource kEvents{"events.k8s.io", "v1", "events"};
const KubeResource kConfigMaps{"", "v1", "configmaps"};

Deadline soon() { return {std::chrono::steady_clock::now() + 10s, {}}; }

class KubeApiContract : public testing::TestWithParam<std::string> {
 protected:
  std::string reassignment(const std::string& name, bool suspend = false, const std::string& label = "") {
    json out = {{"apiVersion", "kafka-reassignment.io/v1alpha1"},
                {"kind", "KafkaReassignment"},
                {"metadata", {{"name", name}, {"namespace", ns()}}},
                {"spec",
                 {{"clusterRef", {{"name", "prod"}}},
                  {"suspend", suspend},
                  {"plan", {{"partitions", {{{"topic", "orders"}, {"partition", 0}, {"replicas", {1, 2, 3}}}}}}}}}};
    if (!label.empty()) out["metadata"]["labels"] = {{"mark", label}};
    return out.dump();
  }
  json read(const std::string& name) {
    auto got = api().get(kReassignments, {ns(), name}, soon());
    EXPECT_TRUE(got.has_value()) << got.error().text();
    return got && *got ? json::parse(**got) : json();
  }
  static std::string version_of(const json& object) { return object["metadata"]["resourceVersion"].get<std::string>(); }
  KubeApi& api() { return world_->api(); }
  std::string ns() { return world_->ns(); }
  KubeWatchOptions all() { return {ns(), "", 60s}; }

  std::unique_ptr<KubeWorld> world_ = make_world(GetParam());
};

INSTANTIATE_TEST_SUITE_P(Worlds, KubeApiContract, testing::ValuesIn(world_names()),
                         [](const auto& param) { return param.param; });

TEST_P(KubeApiContract, WhatDoesNotExistIsNull) {
  const auto got = api().get(kReassignments, {ns(), "nobody"}, soon());
  ASSERT_TRUE(got.has_value()) << got.error().text();
  EXPECT_FALSE(got->has_value());
}

TEST_P(KubeApiContract, AFreshObjectHasTheDefaultStatus) {
  ASSERT_TRUE(world_->apply(reassignment("fresh")));
  const json object = read("fresh");
  EXPECT_EQ(object["metadata"]["generation"], 1);
  EXPECT_EQ(object["status"]["observedGeneration"], -1);
  ASSERT_EQ(object["status"]["conditions"].size(), 2U);
  for (const json& condition : object["status"]["conditions"]) {
    EXPECT_EQ(condition["status"], "Unknown");
    EXPECT_EQ(condition["reason"], "Pending");
    EXPECT_EQ(condition["message"], "Waiting for the operator");
  }
  EXPECT_EQ(object["status"]["conditions"][0]["type"], "Reconciling");
  EXPECT_EQ(object["status"]["conditions"][1]["type"], "Ready");
}

TEST_P(KubeApiContract, OnlyTheSpecCountsGenerations) {
  ASSERT_TRUE(world_->apply(reassignment("edited")));
  ASSERT_TRUE(world_->apply(reassignment("edited", false, "blue")));
  EXPECT_EQ(read("edited")["metadata"]["generation"], 1);
  ASSERT_TRUE(world_->apply(reassignment("edited", true, "blue")));
  const json object = read("edited");
  EXPECT_EQ(object["metadata"]["generation"], 2);
  const auto put =
      api().put_status(kReassignments, {ns(), "edited"}, version_of(object), R"({"phase":"Running"})", soon());
  ASSERT_TRUE(put.has_value()) << put.error().text();
  EXPECT_EQ(read("edited")["metadata"]["generation"], 2);
}

TEST_P(KubeApiContract, AStatusIsReplacedAsAWhole) {
  ASSERT_TRUE(world_->apply(reassignment("whole")));
  const json before = read("whole");
  const auto first = api().put_status(kReassignments, {ns(), "whole"}, version_of(before),
                                      R"({"phase":"Running","summary":"a \"quoted\" Grüße"})", soon());
  ASSERT_TRUE(first.has_value()) << first.error().text();
  EXPECT_EQ(first->uid, before["metadata"]["uid"].get<std::string>());
  EXPECT_NE(first->resource_version, version_of(before));
  EXPECT_EQ(read("whole")["status"], json::parse(R"({"phase":"Running","summary":"a \"quoted\" Grüße"})"));
  const auto second =
      api().put_status(kReassignments, {ns(), "whole"}, first->resource_version, R"({"phase":"Succeeded"})", soon());
  ASSERT_TRUE(second.has_value()) << second.error().text();
  EXPECT_EQ(read("whole")["status"], json::parse(R"({"phase":"Succeeded"})"));
  EXPECT_EQ(version_of(read("whole")), second->resource_version);
  const auto same =
      api().put_status(kReassignments, {ns(), "whole"}, second->resource_version, R"({"phase":"Succeeded"})", soon());
  ASSERT_TRUE(same.has_value()) << same.error().text();
  EXPECT_EQ(same->resource_version, second->resource_version);
}

TEST_P(KubeApiContract, AStaleVersionIsAConflict) {
  ASSERT_TRUE(world_->apply(reassignment("stale")));
  const std::string old = version_of(read("stale"));
  ASSERT_TRUE(world_->apply(reassignment("stale", true)));
  const auto status = api().put_status(kReassignments, {ns(), "stale"}, old, R"({"phase":"Running"})", soon());
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().code, ErrorCode::kVersion) << status.error().text();
  EXPECT_EQ(status.error().retry, Retry::kConflict);
  const auto finalizers = api().put_finalizers(kReassignments, {ns(), "stale"}, old, R"(["kro.io/x"])", soon());
  ASSERT_FALSE(finalizers.has_value());
  EXPECT_EQ(finalizers.error().code, ErrorCode::kVersion) << finalizers.error().text();
  EXPECT_EQ(read("stale")["status"]["observedGeneration"], -1);
}

TEST_P(KubeApiContract, AnObjectCreatedAgainUnderItsNameIsAConflict) {
  ASSERT_TRUE(world_->apply(reassignment("again")));
  const std::string old = version_of(read("again"));
  ASSERT_TRUE(world_->erase(kReassignments, {ns(), "again"}));
  const auto gone = api().put_status(kReassignments, {ns(), "again"}, old, R"({"phase":"Running"})", soon());
  ASSERT_FALSE(gone.has_value());
  EXPECT_EQ(gone.error().code, ErrorCode::kNotFound) << gone.error().text();
  EXPECT_EQ(gone.error().retry, Retry::kConflict);
  ASSERT_TRUE(world_->apply(reassignment("again")));
  const auto other = api().put_status(kReassignments, {ns(), "again"}, old, R"({"phase":"Running"})", soon());
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::kVersion) << other.error().text();
}

TEST_P(KubeApiContract, AFinalizerHoldsADeletedObject) {
  const KubeName name{ns(), "held"};
  ASSERT_TRUE(world_->apply(reassignment("held")));
  WatchRecorder watch(api(), kReassignments, all());
  ASSERT_TRUE(watch.wait_for(Type::kInitialListEnd));
  const auto set = api().put_finalizers(kReassignments, name, version_of(read("held")),
                                        R"(["kafka-reassignment.io/operator"])", soon());
  ASSERT_TRUE(set.has_value()) << set.error().text();
  ASSERT_TRUE(world_->erase(kReassignments, name));
  const json deleting = read("held");
  ASSERT_TRUE(deleting["metadata"].contains("deletionTimestamp"));
  EXPECT_EQ(deleting["metadata"]["generation"], 2);
  const auto more = api().put_finalizers(kReassignments, name, version_of(deleting),
                                         R"(["kafka-reassignment.io/operator","kafka-reassignment.io/more"])", soon());
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().code, ErrorCode::kInvalid) << more.error().text();
  EXPECT_EQ(more.error().retry, Retry::kPermanent);
  const auto status = api().put_status(kReassignments, name, version_of(deleting), R"({"phase":"Cancelling"})", soon());
  ASSERT_TRUE(status.has_value()) << status.error().text();
  const auto last = api().put_finalizers(kReassignments, name, status->resource_version, "[]", soon());
  ASSERT_TRUE(last.has_value()) << last.error().text();
  EXPECT_TRUE(read("held").is_null());
  EXPECT_TRUE(watch.wait_for(Type::kDeleted, "held"));
}

TEST_P(KubeApiContract, CreatingTwiceIsAlreadyExists) {
  const std::string map = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"twice"},"data":{"a":"b"}})";
  const auto first = api().create(kConfigMaps, ns(), map, soon());
  ASSERT_TRUE(first.has_value()) << first.error().text();
  EXPECT_EQ(json::parse(*first)["metadata"]["namespace"], ns());
  const auto second = api().create(kConfigMaps, ns(), map, soon());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kAlreadyExists) << second.error().text();
  EXPECT_EQ(second.error().retry, Retry::kConflict);
  const auto nonsense = api().create(kConfigMaps, ns(), "{nonsense", soon());
  ASSERT_FALSE(nonsense.has_value());
  EXPECT_EQ(nonsense.error().code, ErrorCode::kInvalid) << nonsense.error().text();
}

TEST_P(KubeApiContract, AWatchListsThenFollows) {
  ASSERT_TRUE(world_->apply(reassignment("one")));
  ASSERT_TRUE(world_->apply(reassignment("two")));
  WatchRecorder watch(api(), kReassignments, all());
  ASSERT_TRUE(watch.wait_for(Type::kInitialListEnd));
  auto events = watch.events();
  ASSERT_GE(events.size(), 4U);
  EXPECT_EQ(events[0].type, Type::kOpened);
  EXPECT_EQ(events[1].type, Type::kAdded);
  EXPECT_EQ(events[2].type, Type::kAdded);
  EXPECT_EQ(events[3].type, Type::kInitialListEnd);
  EXPECT_FALSE(events[3].resource_version.empty());

  ASSERT_TRUE(world_->apply(reassignment("three")));
  ASSERT_TRUE(world_->apply(reassignment("three", true)));
  ASSERT_TRUE(world_->erase(kReassignments, {ns(), "three"}));
  ASSERT_TRUE(watch.wait_for(Type::kDeleted, "three"));
  events = watch.events();
  std::vector<Type> types;
  for (const SeenEvent& event : events) {
    if (event.name() == "three") types.push_back(event.type);
    if (event.object.is_object()) {
      EXPECT_EQ(event.resource_version, version_of(event.object));
    }
  }
  EXPECT_EQ(types, (std::vector<Type>{Type::kAdded, Type::kModified, Type::kDeleted}));
}

TEST_P(KubeApiContract, AWatchGoesOnFromAVersion) {
  const auto first = world_->apply(reassignment("early"));
  ASSERT_TRUE(first);
  ASSERT_TRUE(world_->apply(reassignment("late")));
  WatchRecorder watch(api(), kReassignments, {ns(), first->resource_version, 60s});
  ASSERT_TRUE(watch.wait_for(Type::kAdded, "late"));
  for (const SeenEvent& event : watch.events()) {
    EXPECT_NE(event.name(), "early");
    EXPECT_NE(event.type, Type::kInitialListEnd);
  }
}

TEST_P(KubeApiContract, AWatchSeesItsNamespaceAlone) {
  const std::string elsewhere =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"elsewhere","namespace":"default"}})";
  ASSERT_TRUE(world_->apply(elsewhere));
  ASSERT_TRUE(api().create(kConfigMaps, ns(), R"({"metadata":{"name":"here"}})", soon()));
  WatchRecorder mine(api(), kConfigMaps, all());
  WatchRecorder everything(api(), kConfigMaps, {"", "", 60s});
  ASSERT_TRUE(mine.wait_for(Type::kInitialListEnd));
  ASSERT_TRUE(everything.wait_for(Type::kInitialListEnd));
  const auto has = [](WatchRecorder& watch, const std::string& name) {
    for (const SeenEvent& event : watch.events()) {
      if (event.name() == name) return true;
    }
    return false;
  };
  EXPECT_TRUE(has(mine, "here"));
  EXPECT_FALSE(has(mine, "elsewhere"));
  EXPECT_TRUE(has(everything, "here"));
  EXPECT_TRUE(has(everything, "elsewhere"));
  ASSERT_TRUE(world_->erase(kConfigMaps, {"default", "elsewhere"}));
}

TEST_P(KubeApiContract, ATooOldVersionIsGone) {
  world_->expire_first_version();
  WatchRecorder watch(api(), kReassignments, {ns(), "1", 60s});
  const auto outcome = watch.outcome();
  ASSERT_TRUE(outcome.has_value());
  ASSERT_FALSE(outcome->has_value());
  EXPECT_EQ(outcome->error().code, ErrorCode::kGone) << outcome->error().text();
}

TEST_P(KubeApiContract, TheServersTimeOutIsAGoodEnd) {
  ASSERT_TRUE(world_->apply(reassignment("before")));
  WatchRecorder watch(api(), kReassignments, {ns(), "", 2s});
  const auto outcome = watch.outcome();
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->has_value()) << outcome->error().text();
}

TEST_P(KubeApiContract, AStopEndsAWatchAtOnce) {
  WatchRecorder watch(api(), kReassignments, all());
  ASSERT_TRUE(watch.wait_for(Type::kInitialListEnd));
  const auto begin = std::chrono::steady_clock::now();
  watch.stop();
  const auto outcome = watch.outcome();
  ASSERT_TRUE(outcome.has_value() && !outcome->has_value());
  EXPECT_EQ(outcome->error().code, ErrorCode::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
}

TEST_P(KubeApiContract, ASinkThatGivesUpEndsTheWatch) {
  const Status outcome = api().watch(kReassignments, all(), [](const KubeWatchEvent&) { return false; }, {});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, ErrorCode::kCancelled);
}

TEST_P(KubeApiContract, ALeaseIsReplacedOnItsVersionAlone) {
  const auto lease = [&](const std::string& holder, const std::string& version) {
    json out = {
        {"apiVersion", "coordination.k8s.io/v1"},
        {"kind", "Lease"},
        {"metadata", {{"name", "lead"}, {"namespace", ns()}}},
        {"spec",
         {{"holderIdentity", holder}, {"leaseDurationSeconds", 15}, {"renewTime", "2026-12-01T00:00:00.000000Z"}}}};
    if (!version.empty()) out["metadata"]["resourceVersion"] = version;
    return out.dump();
  };
  const KubeName name{ns(), "lead"};
  const auto made = api().create(kLeases, ns(), lease("a", ""), soon());
  ASSERT_TRUE(made.has_value()) << made.error().text();
  const std::string version = version_of(json::parse(*made));
  const auto renewed = api().replace(kLeases, name, lease("b", version), soon());
  ASSERT_TRUE(renewed.has_value()) << renewed.error().text();
  EXPECT_EQ(json::parse(*renewed)["spec"]["holderIdentity"], "b");
  const auto stale = api().replace(kLeases, name, lease("c", version), soon());
  ASSERT_FALSE(stale.has_value());
  EXPECT_EQ(stale.error().code, ErrorCode::kVersion) << stale.error().text();
  const auto blind = api().replace(kLeases, name, lease("c", ""), soon());
  ASSERT_FALSE(blind.has_value());
  EXPECT_EQ(blind.error().code, ErrorCode::kInvalid) << blind.error().text();
}

TEST_P(KubeApiContract, AnEventIsCreatedAndItsSeriesPatched) {
  const auto event = [&](const std::string& name, const std::string& time) {
    return json{{"apiVersion", "events.k8s.io/v1"},
                {"kind", "Event"},
                {"metadata", {{"name", name}, {"namespace", ns()}}},
                {"eventTime", time},
                {"reportingController", "kafka-reassignment.io/operator"},
                {"reportingInstance", "pod-0"},
                {"action", "Submit"},
                {"reason", "Requested"},
                {"type", "Normal"},
                {"note", "first"},
                {"regarding",
                 {{"apiVersion", "kafka-reassignment.io/v1alpha1"},
                  {"kind", "KafkaReassignment"},
                  {"name", "x"},
                  {"namespace", ns()}}}}
        .dump();
  };
  const auto rough = api().create(kEvents, ns(), event("rough", "2026-12-01T00:00:00Z"), soon());
  ASSERT_FALSE(rough.has_value());
  EXPECT_EQ(rough.error().code, ErrorCode::kInvalid) << rough.error().text();
  const auto made = api().create(kEvents, ns(), event("fine", "2026-12-01T00:00:00.123000Z"), soon());
  ASSERT_TRUE(made.has_value()) << made.error().text();
  const KubeName name{ns(), "fine"};
  const auto counted = api().merge_patch(
      kEvents, name, R"({"series":{"count":2,"lastObservedTime":"2026-12-01T00:01:00.000000Z"}})", soon());
  ASSERT_TRUE(counted.has_value()) << counted.error().text();
  EXPECT_EQ(json::parse(*counted)["series"]["count"], 2);
  const auto changed = api().merge_patch(kEvents, name, R"({"note":"second"})", soon());
  ASSERT_FALSE(changed.has_value());
  EXPECT_EQ(changed.error().code, ErrorCode::kInvalid) << changed.error().text();
  const auto missing = api().merge_patch(kEvents, {ns(), "nobody"}, R"({"series":null})", soon());
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound) << missing.error().text();
}

TEST_P(KubeApiContract, AStoppedCallIsCancelled) {
  std::stop_source stop;
  stop.request_stop();
  Deadline deadline = soon();
  deadline.stop = stop.get_token();
  const auto got = api().get(kReassignments, {ns(), "x"}, deadline);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code, ErrorCode::kCancelled) << got.error().text();
}

}  // namespace
}  // namespace kro::contract
