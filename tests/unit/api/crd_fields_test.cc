#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "api/cancel_codec.h"
#include "api/reassignment_codec.h"

namespace kro::api {
namespace {

using Json = nlohmann::json;

YAML::Node schema(const std::string& file, const std::string& part) {
  const YAML::Node crd = YAML::LoadFile(std::string(KRO_SOURCE_DIR) + "/crds/" + file);
  return crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"][part];
}

// A value of every field that the schema has.
Json sample(const YAML::Node& node, const std::string& name) {
  if (node["x-kubernetes-int-or-string"]) return "50Mi";
  const auto type = node["type"] ? node["type"].as<std::string>() : "";
  if (node["enum"])
    return type == "integer" ? Json(node["enum"][0].as<int>()) : Json(node["enum"][0].as<std::string>());
  if (type == "array") return Json::array({sample(node["items"], name)});
  if (type == "integer") return 1;
  if (type == "boolean") return true;
  if (type == "string") {
    if (node["format"]) return "2026-12-01T06:00:00Z";
    if (name == "stallAfter") return "30m";
    return "any";
  }
  Json out = Json::object();
  if (node["properties"])
    for (const auto& field : node["properties"])
      out[field.first.as<std::string>()] = sample(field.second, field.first.as<std::string>());
  else if (node["additionalProperties"])
    out["0"] = sample(node["additionalProperties"], "0");
  return out;
}

void paths(const Json& value, const std::string& at, std::set<std::string>& out) {
  if (value.is_object())
    for (const auto& [key, child] : value.items()) paths(child, at + "." + key, out);
  else if (value.is_array() && !value.empty() && value[0].is_object())
    for (const Json& item : value) paths(item, at + "[]", out);
  else
    out.insert(at);
}

Json whole(const std::string& file) {
  return {{"metadata", {{"name", "x"}, {"namespace", "y"}, {"uid", "z"}}},
          {"spec", sample(schema(file, "spec"), "spec")},
          {"status", sample(schema(file, "status"), "status")}};
}

TEST(CrdFields, EveryFieldOfKafkaReassignmentIsRead) {
  std::vector<std::string> ignored;
  const auto cr = decode_reassignment(whole("kafkareassignments.yaml").dump(), &ignored);
  ASSERT_TRUE(cr) << cr.error().text();
  EXPECT_EQ(ignored, std::vector<std::string>{}) << "in the CRD and not in the C++ types";
  EXPECT_TRUE(cr->spec.throttle && cr->spec.suspend && cr->spec.dry_run);
}

TEST(CrdFields, EveryStatusFieldOfKafkaReassignmentIsWrittenBack) {
  const Json object = whole("kafkareassignments.yaml");
  const auto cr = decode_reassignment(object.dump());
  ASSERT_TRUE(cr);
  std::set<std::string> in, out;
  Json expected = object["status"];
  expected.erase("eta");  // not computed yet, so never written
  paths(expected, "status", in);
  paths(Json::parse(encode_status(cr->status)), "status", out);
  EXPECT_EQ(in, out);
}

TEST(CrdFields, EveryFieldOfKafkaReassignmentCancelIsRead) {
  std::vector<std::string> ignored;
  const auto cr = decode_cancel(whole("kafkareassignmentcancels.yaml").dump(), &ignored);
  ASSERT_TRUE(cr) << cr.error().text();
  EXPECT_EQ(ignored, std::vector<std::string>{}) << "in the CRD and not in the C++ types";
}

TEST(CrdFields, EveryStatusFieldOfKafkaReassignmentCancelIsWrittenBack) {
  const Json object = whole("kafkareassignmentcancels.yaml");
  const auto cr = decode_cancel(object.dump());
  ASSERT_TRUE(cr);
  std::set<std::string> in, out;
  paths(object["status"], "status", in);
  paths(Json::parse(encode_status(cr->status)), "status", out);
  EXPECT_EQ(in, out);
}

}  // namespace
}  // namespace kro::api
