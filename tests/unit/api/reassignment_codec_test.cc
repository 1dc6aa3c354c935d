#include "api/reassignment_codec.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "api/json_cursor.h"
#include "domain/sha256.h"

namespace kro::api {
namespace {

using Json = nlohmann::json;

Json manifest(const Json& spec) {
  Json out = {{"metadata",
               {{"namespace", "kafka"}, {"name", "move"}, {"uid", "u-1"}, {"resourceVersion", "7"}, {"generation", 2}}},
              {"spec", spec}};
  if (!out["spec"].contains("clusterRef")) out["spec"]["clusterRef"] = {{"name", "prod"}};
  return out;
}

std::string problem(const Json& spec) {
  const auto cr = decode_reassignment(manifest(spec).dump());
  return cr ? cr->spec.problem : "not decoded: " + cr.error().text();
}

TEST(Sha256, VectorsOfTheStandard) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  Sha256 million;
  for (int i = 0; i < 1000; ++i) million.update(std::string(1000, 'a'));
  EXPECT_EQ(million.hex_digest(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(PlanHash, IsThatOfTheSortedCompactJson) {
  const Assignments plan = {{"b", {{10, {1, 2}}, {2, {3}}}}, {"a", {{0, {2, 1}}}}};
  EXPECT_EQ(plan_hash(plan), "sha256:" + sha256_hex(R"({"assignments":{"a":{"0":[2,1]},"b":{"2":[3],"10":[1,2]}}})"));
}

TEST(PlanHash, BothFormsOfOnePlanHaveTheSame) {
  const auto one =
      decode_reassignment(manifest({{"assignments", {{"orders", {{"0", {1, 2}}, {"1", {2, 3}}}}}}}).dump());
  const auto other = decode_reassignment(
      manifest({{"plan",
                 {{"version", 1},
                  {"partitions",
                   {{{"topic", "orders"}, {"partition", 1}, {"replicas", {2, 3}}, {"log_dirs", {"any", "any"}}},
                    {{"topic", "orders"}, {"partition", 0}, {"replicas", {1, 2}}}}}}}})
          .dump());
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->spec.problem, "");
  EXPECT_EQ(other->spec.problem, "");
  EXPECT_FALSE(other->spec.log_dirs);
  EXPECT_EQ(plan_hash(one->spec.assignments), plan_hash(other->spec.assignments));
}

struct Bad {
  const char* name;
  Json spec;
  const char* says;
};

class BadSpec : public ::testing::TestWithParam<Bad> {};

TEST_P(BadSpec, IsToldAndNotCarriedOut) {
  const std::string found = problem(GetParam().spec);
  EXPECT_NE(found.find(GetParam().says), std::string::npos) << "found: " << found;
}

Json plan_of(const Json& entries) { return {{"plan", {{"partitions", entries}}}}; }

INSTANTIATE_TEST_SUITE_P(
    Spec, BadSpec,
    ::testing::Values(
        Bad{"EmptyReplicas", {{"assignments", {{"t", {{"0", Json::array()}}}}}}, "empty"},
        Bad{"DuplicateReplicas", {{"assignments", {{"t", {{"0", {1, 1}}}}}}}, "twice"},
        Bad{"NegativeReplica", {{"assignments", {{"t", {{"0", {-1}}}}}}}, "out of range"},
        Bad{"HugeReplica", {{"assignments", {{"t", {{"0", {2147483648LL}}}}}}}, "out of range"},
        Bad{"TextReplica", {{"assignments", {{"t", {{"0", {"1"}}}}}}}, "whole number"},
        Bad{"PathTopic", {{"assignments", {{"../brokers", {{"0", {1}}}}}}}, "not a topic name"},
        Bad{"DotTopic", plan_of({{{"topic", ".."}, {"partition", 0}, {"replicas", {1}}}}), "not a topic name"},
        Bad{"LongTopic", {{"assignments", {{std::string(250, 'x'), {{"0", {1}}}}}}}, "not a topic name"},
        Bad{"LeadingZero", {{"assignments", {{"t", {{"01", {1}}}}}}}, "not a partition number"},
        Bad{"NegativePartition", plan_of({{{"topic", "t"}, {"partition", -1}, {"replicas", {1}}}}), "out of range"},
        Bad{"TwoEntriesForOnePartition",
            plan_of({{{"topic", "t"}, {"partition", 0}, {"replicas", {1}}},
                     {{"topic", "t"}, {"partition", 0}, {"replicas", {2}}}}),
            "stands twice"},
        Bad{"MissingReplicas", plan_of({{{"topic", "t"}, {"partition", 0}}}), "needs topic"},
        Bad{"EmptyPlan", plan_of(Json::array()), "at least one"},
        Bad{"EmptyAssignments", {{"assignments", Json::object()}}, "at least one"},
        Bad{"NoForm", Json::object(), "exactly one"},
        Bad{"TwoForms", {{"assignments", {{"t", {{"0", {1}}}}}}, {"rollbackOf", {{"name", "x"}}}}, "exactly one"},
        Bad{"BadCluster",
            {{"clusterRef", {{"name", "Prod_1"}}}, {"assignments", {{"t", {{"0", {1}}}}}}},
            "cluster name"},
        Bad{"UnknownAllow", {{"assignments", {{"t", {{"0", {1}}}}}}, {"allow", {"Everything"}}}, "allow"},
        Bad{"ZeroInFlight", {{"assignments", {{"t", {{"0", {1}}}}}}, {"maxInFlight", 0}}, "maxInFlight"},
        Bad{"BadPolicy", {{"assignments", {{"t", {{"0", {1}}}}}}, {"conflictPolicy", "Fight"}}, "conflictPolicy"},
        Bad{"ShortStall", {{"assignments", {{"t", {{"0", {1}}}}}}, {"stallAfter", "5s"}}, "stallAfter"},
        Bad{"SeventeenReplicas",
            {{"assignments", {{"t", {{"0", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}}}}}}},
            "more than 16"}),
    [](const auto& bad) { return bad.param.name; });

TEST(Decode, BadEntryNeverReachesTheAssignments) {
  const auto cr = decode_reassignment(manifest({{"assignments", {{"t", {{"0", Json::array()}, {"1", {1}}}}}}}).dump());
  ASSERT_TRUE(cr);
  EXPECT_EQ(kro::find(cr->spec.assignments, TopicPartition{"t", 0}), nullptr);
  EXPECT_NE(cr->spec.problem, "");
}

TEST(Decode, DefaultsAreThoseOfTheSchema) {
  const auto cr = decode_reassignment(manifest({{"assignments", {{"t", {{"0", {1}}}}}}}).dump());
  ASSERT_TRUE(cr);
  EXPECT_EQ(cr->spec.max_in_flight, 100);
  EXPECT_TRUE(cr->spec.health_gate);
  EXPECT_EQ(cr->spec.conflict_policy, "Wait");
  EXPECT_EQ(cr->spec.stall_after, "30m");
  EXPECT_EQ(cr->spec.deletion_policy, "Orphan");
}

TEST(Decode, LogDirsThatNameADirectoryAreNoted) {
  const auto cr = decode_reassignment(
      manifest(plan_of({{{"topic", "t"}, {"partition", 0}, {"replicas", {1}}, {"log_dirs", {"/data"}}}})).dump());
  ASSERT_TRUE(cr);
  EXPECT_TRUE(cr->spec.log_dirs);
}

TEST(Decode, TextThatIsNoObjectIsAnErrorAndNeverACrash) {
  const std::string good = manifest({{"assignments", {{"t", {{"0", {1}}}}}}}).dump();
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_FALSE(decode_reassignment(good.substr(0, n))) << n;
  EXPECT_FALSE(decode_reassignment(R"({"metadata":{"name":"x"}})"));
  EXPECT_FALSE(decode_reassignment("[]"));
  EXPECT_FALSE(decode_reassignment(R"({"metadata":{"name":"\ud800","uid":"x"},"spec":)" + std::string(100, '[')));
}

TEST(Status, RoundTripKeepsEverything) {
  ReassignmentStatus s;
  s.observed_generation = 3;
  s.phase = "Running";
  s.summary = "with \"quotes\", \\ and \n and \x01 and caf\xc3\xa9 and a broken \xff byte";
  s.plan_hash = "sha256:00";
  s.progress = {"1/2 (50%)", 2, 0, 1, 1, 0, 0, 5, 10};
  s.start = s.last_progress = s.completion = "2026-12-01T06:00:00Z";
  s.requests = {{"request_0000000007", "0x1f", 2, true}};
  s.problems = {{"orders", 4, "7,3", "12,3", "7,3", "3", "TargetBrokerDown", "restored"}};
  s.tree = {"shared", "controller-0", "admin-api", "2026-12-01T06:00:00Z"};
  s.conditions = {{"Ready", "False", "Moving", "wait", 3, "2026-12-01T06:00:00Z"}};
  Json whole = manifest({{"assignments", {{"t", {{"0", {1}}}}}}});
  whole["status"] = Json::parse(encode_status(s));
  const auto back = decode_reassignment(whole.dump());
  ASSERT_TRUE(back);
  ReassignmentStatus read = back->status;
  EXPECT_NE(read.summary.find("\xef\xbf\xbd"), std::string::npos);
  read.summary = s.summary;
  EXPECT_TRUE(same(read, s));
  EXPECT_EQ(read.tree, s.tree);
}

TEST(Status, LastSyncTimeAloneIsNoNews) {
  ReassignmentStatus a;
  ReassignmentStatus b;
  b.tree.last_sync = "2026-12-01T06:00:00Z";
  EXPECT_TRUE(same(a, b));
  b.phase = "Running";
  EXPECT_FALSE(same(a, b));
}

}  // namespace
}  // namespace kro::api
