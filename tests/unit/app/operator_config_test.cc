#include "app/operator_config.h"

#include <gtest/gtest.h>

namespace kro {
namespace {

constexpr const char* kWhole = R"(operatorId: kube-prod-1
clusters:
- name: prod-eu
  zookeeper:
    connect: "zk-0.zk:2182,zk-1.zk:2182"
    chroot: /kafka
    sessionTimeout: 30s
    auth: {scheme: digest, usernameFile: /etc/zk/user, passwordFile: /etc/zk/password}
  allowedNamespaces: [kafka, ops]
  allowedTopics: ["*", __consumer_offsets]
- name: prod-us
  zookeeper: {connect: "zk:2181"}
watchNamespaces: [kafka]
)";

TEST(OperatorConfig, ReadsEverything) {
  const auto config = parse_operator_config(kWhole, "f");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->operator_id, "kube-prod-1");
  ASSERT_EQ(config->clusters.size(), 2U);
  const ClusterConfig& eu = config->clusters[0];
  EXPECT_EQ(eu.name, "prod-eu");
  EXPECT_EQ(eu.zookeeper.connect, "zk-0.zk:2182,zk-1.zk:2182");
  EXPECT_EQ(eu.zookeeper.chroot, "/kafka");
  EXPECT_EQ(eu.zookeeper.session_timeout, 30s);
  ASSERT_TRUE(eu.zookeeper.auth);
  EXPECT_EQ(eu.zookeeper.auth->scheme, "digest");
  EXPECT_EQ(eu.zookeeper.auth->username_file, "/etc/zk/user");
  EXPECT_EQ(eu.zookeeper.auth->password_file, "/etc/zk/password");
  EXPECT_EQ(eu.allowed_namespaces, (std::vector<std::string>{"kafka", "ops"}));
  EXPECT_EQ(eu.allowed_topics, (std::vector<std::string>{"*", "__consumer_offsets"}));
  EXPECT_EQ(config->watch_namespaces, (std::vector<std::string>{"kafka"}));
}

TEST(OperatorConfig, WhatIsNotStatedIsNotAllowed) {
  const auto config = parse_operator_config(kWhole, "f");
  ASSERT_TRUE(config);
  const ClusterConfig& us = config->clusters[1];
  EXPECT_TRUE(us.allowed_namespaces.empty());
  EXPECT_TRUE(us.allowed_topics.empty());
  EXPECT_EQ(us.zookeeper.chroot, "");
  EXPECT_EQ(us.zookeeper.session_timeout, 10s);
  EXPECT_FALSE(us.zookeeper.auth);
}

struct Refusal {
  const char* name;
  std::string from;  // of kWhole
  std::string to;
  std::string message;  // expected part, with the line
  ErrorCode code = ErrorCode::kInvalid;
};

class Refusals : public testing::TestWithParam<Refusal> {};

TEST_P(Refusals, NameFileLineAndWhatToWrite) {
  const Refusal& at = GetParam();
  std::string text = kWhole;
  const std::size_t found = text.find(at.from);
  ASSERT_NE(found, std::string::npos) << at.from;
  text.replace(found, at.from.size(), at.to);
  const auto config = parse_operator_config(text, "op.yaml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().retry, Retry::kPermanent);
  EXPECT_EQ(config.error().code, at.code);
  EXPECT_NE(config.error().message.find(at.message), std::string::npos) << config.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    OperatorConfig, Refusals,
    testing::Values(
        Refusal{"UnknownKey", "watchNamespaces:", "watchNamespace:",
                "op.yaml:13: the configuration: unknown key \"watchNamespace\"; known are operatorId, clusters, "
                "watchNamespaces"},
        Refusal{"UnknownKeyDeep", "chroot:", "root:", "op.yaml:6: clusters[0].zookeeper: unknown key \"root\""},
        Refusal{"KeyTwice", "watchNamespaces: [kafka]", "operatorId: again",
                "op.yaml:13: the configuration: \"operatorId\" stands there twice"},
        Refusal{"NoId", "operatorId: kube-prod-1\n", "", "\"operatorId\" is missing"},
        Refusal{"IdUpperCase", "kube-prod-1", "Kube", "op.yaml:1: operatorId: \"Kube\" must be 1 to 63 of a-z 0-9 -"},
        Refusal{"IdTooLong", "kube-prod-1", std::string(64, 'a'), "must be 1 to 63"},
        Refusal{"IdIsAMap", "kube-prod-1", "{a: b}", "operatorId must be a text"},
        Refusal{"ClustersNoList", "clusters:\n- name: prod-eu", "clusters:\n  name: prod-eu", "op.yaml:"},
        Refusal{"NameTaken", "name: prod-us", "name: prod-eu", "op.yaml:11: clusters[1].name: \"prod-eu\" is taken"},
        Refusal{"SameTree", "{connect: \"zk:2181\"}", "{connect: \"zk-0.zk:2182,zk-1.zk:2182\", chroot: /kafka}",
                "has the same connect and chroot"},
        Refusal{"NameBad", "name: prod-us", "name: prod_us", "clusters[1].name: \"prod_us\" is no cluster name"},
        Refusal{"ConnectWithoutPort", "\"zk:2181\"", "zk",
                "op.yaml:12: clusters[1].zookeeper.connect: \"zk\" is no HOST:PORT"},
        Refusal{"ConnectWithPath", "\"zk:2181\"", "\"zk:2181/kafka\"", "write the path as chroot"},
        Refusal{"ConnectMissing", "{connect: \"zk:2181\"}", "{chroot: /k}", "\"connect\" is missing"},
        Refusal{"ChrootRelative", "chroot: /kafka", "chroot: kafka",
                "op.yaml:6: clusters[0].zookeeper.chroot \"kafka\" does not begin with /"},
        Refusal{"TimeoutNoUnit", "sessionTimeout: 30s", "sessionTimeout: 30",
                "op.yaml:7: clusters[0].zookeeper.sessionTimeout must be a duration"},
        Refusal{"TimeoutTooLong", "sessionTimeout: 30s", "sessionTimeout: 1h", "from 1s to 10m"},
        Refusal{"Tls", "sessionTimeout: 30s", "tls: {caFile: /ca}",
                "op.yaml:7: clusters[0].zookeeper.tls is not supported by this build yet", ErrorCode::kUnsupported},
        Refusal{"Sasl", "scheme: digest", "scheme: sasl-digest-md5",
                "sasl-digest-md5 is not supported by this build yet; use digest", ErrorCode::kUnsupported},
        Refusal{"SchemeUnknown", "scheme: digest", "scheme: kerberos", "\"kerberos\" is not known; use digest"},
        Refusal{"PasswordInline", "passwordFile: /etc/zk/password", "password: secret", "\"passwordFile\" is missing"},
        Refusal{"NamespaceGlob", "[kafka, ops]", "[\"*\"]",
                "op.yaml:9: \"*\" cannot stand in clusters[0].allowedNamespaces"},
        Refusal{"NamespaceTwice", "[kafka, ops]", "[kafka, kafka]", "stands twice in clusters[0].allowedNamespaces"},
        Refusal{"NamespacesNoList", "[kafka, ops]", "kafka", "clusters[0].allowedNamespaces must be a list"},
        Refusal{"TopicSlash", "__consumer_offsets", "a/b",
                "op.yaml:10: \"a/b\" cannot stand in clusters[0].allowedTopics"},
        Refusal{"BrokenYaml", "[kafka, ops]", "[kafka", "op.yaml:"},
        Refusal{"SecondDocument", "watchNamespaces:", "---\nwatchNamespaces:", "must hold one YAML document"}),
    [](const auto& at) { return at.param.name; });

TEST(OperatorConfig, NothingIsNoConfiguration) {
  EXPECT_FALSE(parse_operator_config("", "f"));
  EXPECT_FALSE(parse_operator_config("# only a comment\n", "f"));
  EXPECT_FALSE(parse_operator_config("just a text", "f"));
  EXPECT_FALSE(parse_operator_config("[1, 2]", "f"));
}

TEST(OperatorConfig, NoClusterIsAllowed) {
  const auto config = parse_operator_config("operatorId: a\nclusters: []\n", "f");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_TRUE(config->clusters.empty());
}

TEST(OperatorConfig, MissingFileIsNamed) {
  const auto config = load_operator_config("/no/such/operator.yaml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::kNotFound);
  EXPECT_NE(config.error().message.find("/no/such/operator.yaml"), std::string::npos);
}

}  // namespace
}  // namespace kro
