#include "adapters/metrics/prometheus_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "adapters/metrics/listen_address.h"
#include "adapters/metrics/metric_catalog.h"

namespace kro {
namespace {

PrometheusMetrics::Options options(bool controller = false) {
  PrometheusMetrics::Options out;
  out.controller = controller;
  out.version = "0.1.0";
  out.revision = "abc";
  return out;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::size_t series_count(const std::string& text) {
  std::istringstream lines(text);
  std::size_t n = 0;
  for (std::string line; std::getline(lines, line);) n += !line.empty() && line.front() != '#' ? 1U : 0U;
  return n;
}

const MetricLabels kName{
    {"kind", "KafkaReassignment"}, {"namespace", "kafka"}, {"name", "drain"}, {"kafka_cluster", "prod"}};

ResourceSample sample(std::string_view metric, const MetricLabels& own, double value) {
  MetricLabels labels = kName;
  labels.insert(labels.end(), own.begin(), own.end());
  return {metric, labels, value};
}

TEST(PrometheusMetrics, ClosedListsExistAtZeroFromTheStart) {
  PrometheusMetrics metrics(options());
  const std::string text = metrics.render();
  EXPECT_TRUE(
      has_line(text, R"(controller_runtime_reconcile_total{controller="kafkareassignment",result="requeue_after"} 0)"));
  EXPECT_TRUE(
      has_line(text, R"(workqueue_depth{name="kafkareassignmentcancel",controller="kafkareassignmentcancel"} 0)"));
  EXPECT_TRUE(has_line(text, R"(leader_election_master_status{name="kafka-reassignment-operator"} 0)"));
  EXPECT_TRUE(
      has_line(text, R"(kafka_reassignment_build_info{component="operator",version="0.1.0",revision="abc"} 1)"));
  EXPECT_TRUE(has_line(text, "# TYPE controller_runtime_reconcile_total counter"));
  EXPECT_TRUE(has_line(text, "# TYPE workqueue_queue_duration_seconds histogram"));
}

TEST(PrometheusMetrics, ClusterSeriesComeAndGoWithTheCluster) {
  PrometheusMetrics metrics(options());
  EXPECT_EQ(metrics.render().find("prod-eu"), std::string::npos);
  metrics.register_cluster("prod-eu");
  std::string text = metrics.render();
  for (const char* line :
       {R"(kafka_reassignment_completed_total{kafka_cluster="prod-eu",result="partially_cancelled"} 0)",
        R"(kafka_reassignment_refused_total{kafka_cluster="prod-eu",reason="BrokerNotAvailable"} 0)",
        R"(kafka_reassignment_cancel_partitions_total{kafka_cluster="prod-eu",outcome="restored"} 0)",
        R"(kafka_reassignment_tree_in_flight{kafka_cluster="prod-eu",owner="foreign"} 0)"})
    EXPECT_TRUE(has_line(text, line)) << line;
  // Exists only while there is a lock.
  EXPECT_EQ(text.find("cancel_lock_created"), std::string::npos);
  metrics.add("kafka_reassignment_completed_total", {{"kafka_cluster", "prod-eu"}, {"result", "failed"}}, 2);
  metrics.register_cluster("prod-eu");  // again: keeps what was counted
  EXPECT_TRUE(
      has_line(metrics.render(), R"(kafka_reassignment_completed_total{kafka_cluster="prod-eu",result="failed"} 2)"));
  metrics.forget_cluster("prod-eu");
  EXPECT_EQ(metrics.render().find("prod-eu"), std::string::npos);
}

TEST(PrometheusMetrics, BudgetIsKept) {
  PrometheusMetrics metrics(options());
  const std::size_t runtime = series_count(metrics.render());
  EXPECT_LE(runtime, 300U);
  metrics.register_cluster("a");
  EXPECT_LE(series_count(metrics.render()) - runtime, 170U);
  PrometheusMetrics controller(options(true));
  controller.register_cluster("a");
  EXPECT_LE(series_count(controller.render()), 300U);
}

TEST(PrometheusMetrics, GaugesAreSetAndCleared) {
  PrometheusMetrics metrics(options());
  const MetricLabels cluster{{"kafka_cluster", "c"}};
  const char* name = "kafka_reassignment_cancel_lock_created_timestamp_seconds";
  metrics.set(name, cluster, 1.7e9);
  EXPECT_NE(metrics.render().find(name), std::string::npos);
  metrics.clear(name, cluster);
  metrics.clear(name, cluster);
  EXPECT_EQ(metrics.render().find(name), std::string::npos);
}

TEST(PrometheusMetrics, HistogramsCount) {
  PrometheusMetrics metrics(options());
  metrics.observe("controller_runtime_reconcile_time_seconds", {{"controller", "kafkareassignment"}}, 0.02);
  const std::string text = metrics.render();
  EXPECT_TRUE(has_line(text, R"(controller_runtime_reconcile_time_seconds_count{controller="kafkareassignment"} 1)"));
  EXPECT_TRUE(has_line(
      text, R"(controller_runtime_reconcile_time_seconds_bucket{controller="kafkareassignment",le="0.01"} 0)"));
  EXPECT_TRUE(has_line(
      text, R"(controller_runtime_reconcile_time_seconds_bucket{controller="kafkareassignment",le="0.025"} 1)"));
  EXPECT_TRUE(has_line(
      text, R"(controller_runtime_reconcile_time_seconds_bucket{controller="kafkareassignment",le="+Inf"} 1)"));
}

TEST(PrometheusMetrics, LabelOrderMeansNothing) {
  PrometheusMetrics metrics(options());
  metrics.add("rest_client_requests_total", {{"host", "h"}, {"code", "200"}, {"method", "GET"}});
  metrics.add("rest_client_requests_total", {{"code", "200"}, {"method", "GET"}, {"host", "h"}});
  EXPECT_TRUE(has_line(metrics.render(), R"(rest_client_requests_total{code="200",method="GET",host="h"} 2)"));
}

TEST(PrometheusMetrics, LabelValuesAreEscaped) {
  PrometheusMetrics metrics(options());
  metrics.add("rest_client_requests_total", {{"host", "a\"b\\c\nd"}, {"code", "200"}, {"method", "GET"}});
  EXPECT_NE(metrics.render().find("host=\"a\\\"b\\\\c\\nd\""), std::string::npos);
}

TEST(PrometheusMetrics, SeriesOfAResourceAreReplacedAsAWhole) {
  PrometheusMetrics metrics(options());
  metrics.set_resource("kra/kafka/drain", {sample("kafka_reassignment_phase", {{"phase", "Running"}}, 1),
                                           sample("kafka_reassignment_partitions", {{"state", "in_flight"}}, 10)});
  std::string text = metrics.render();
  EXPECT_TRUE(has_line(
      text,
      R"(kafka_reassignment_phase{kind="KafkaReassignment",namespace="kafka",name="drain",kafka_cluster="prod",phase="Running"} 1)"));
  EXPECT_NE(text.find("state=\"in_flight\""), std::string::npos);

  metrics.set_resource("kra/kafka/drain", {sample("kafka_reassignment_phase", {{"phase", "Failed"}}, 1)});
  text = metrics.render();
  EXPECT_EQ(text.find("Running"), std::string::npos);
  EXPECT_EQ(text.find("state=\"in_flight\""), std::string::npos);
  EXPECT_NE(text.find("phase=\"Failed\""), std::string::npos);

  metrics.set_resource("kra/kafka/drain", {});
  metrics.set_resource("kra/kafka/never", {});
  EXPECT_EQ(metrics.render().find("drain"), std::string::npos);
}

TEST(PrometheusMetrics, TheControllersClusterIsImplied) {
  auto given = options(true);
  given.default_cluster = "prod";
  PrometheusMetrics metrics(given);
  metrics.set("kafka_reassignment_controller_leader", {}, 1);
  EXPECT_TRUE(has_line(metrics.render(), R"(kafka_reassignment_controller_leader{kafka_cluster="prod"} 1)"));
}

TEST(PrometheusMetrics, BeforeRenderMaySet) {
  auto given = options();
  given.before_render = [](Metrics& to) { to.set("process_cpu_seconds_total", {}, 1.5); };
  PrometheusMetrics metrics(given);
  const std::string text = metrics.render();
  EXPECT_TRUE(has_line(text, "process_cpu_seconds_total 1.5"));
  EXPECT_TRUE(has_line(text, "# TYPE process_cpu_seconds_total counter"));
}

TEST(PrometheusMetricsDeath, WhatIsNotInTheCatalogIsABrokenInvariant) {
  PrometheusMetrics metrics(options());
  EXPECT_DEATH(metrics.add("no_such_total", {}), "not in the catalog");
  EXPECT_DEATH(metrics.add("workqueue_adds_total", {{"name", "a"}}), "without one of its labels");
  EXPECT_DEATH(metrics.add("workqueue_adds_total", {{"name", "a"}, {"controller", "a"}, {"topic", "t"}}),
               "a label that it does not have");
  EXPECT_DEATH(metrics.observe("workqueue_adds_total", {{"name", "a"}, {"controller", "a"}}, 1), "broken invariant");
  EXPECT_DEATH(metrics.set("kafka_reassignment_stalled", {}, 1), "broken invariant");
}

TEST(MetricCatalog, NamesAreUniqueDescribedAndOfTheirType) {
  const std::set<std::string_view> forbidden{"topic", "partition", "broker", "znode", "message", "user"};
  std::set<std::string_view> seen;
  for (const MetricSpec& spec : metric_catalog()) {
    EXPECT_TRUE(seen.insert(spec.name).second) << spec.name;
    EXPECT_FALSE(spec.help.empty()) << spec.name;
    EXPECT_EQ(spec.type == MetricType::kCounter, spec.name.ends_with("_total")) << spec.name;
    EXPECT_EQ(spec.type == MetricType::kHistogram, !spec.buckets.empty()) << spec.name;
    EXPECT_TRUE(std::is_sorted(spec.buckets.begin(), spec.buckets.end())) << spec.name;
    for (const auto label : spec.labels) EXPECT_FALSE(forbidden.contains(label)) << spec.name;
    for (const auto& values : spec.zero) EXPECT_EQ(values.size(), spec.labels.size()) << spec.name;
  }
}

TEST(ListenAddress, ReadsNumericAddresses) {
  for (const auto& [text, shown] :
       std::vector<std::pair<std::string, std::string>>{{"[::]:8080", "[::]:8080"},
                                                        {":8080", "[::]:8080"},
                                                        {"0.0.0.0:80", "0.0.0.0:80"},
                                                        {"127.0.0.1:0", "127.0.0.1:0"},
                                                        {"[fe80::1]:65535", "[fe80::1]:65535"}}) {
    const auto address = parse_listen_address(text);
    ASSERT_TRUE(address) << text;
    EXPECT_EQ(address->text(), shown);
  }
  for (const char* bad : {"", "8080", "localhost:80", "::1:80", "[::1]", "[::1:80", "1.2.3:80", "1.2.3.4:",
                          "1.2.3.4:65536", "1.2.3.4:-1", "1.2.3.4:8o", "[]:80", "[1.2.3.4]:80", "1.2.3.4:80 "})
    EXPECT_FALSE(parse_listen_address(bad)) << bad;
}

}  // namespace
}  // namespace kro
