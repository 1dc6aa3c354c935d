#include "adapters/kafka/kafka_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kro {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

TEST(KafkaClientConfig, ReadsBootstrapServers) {
  const auto config = parse_kafka_client_config("kafka-0.kafka:9092, 10.0.0.7:19092 ,[2001:db8::1]:9093,");
  ASSERT_TRUE(config);
  EXPECT_THAT(config->bootstrap,
              ElementsAre(HostPort{"kafka-0.kafka", 9092}, HostPort{"10.0.0.7", 19092}, HostPort{"2001:db8::1", 9093}));
  EXPECT_EQ(config->bootstrap[2].text(), "[2001:db8::1]:9093");
  EXPECT_EQ(config->client_id, "kafka-reassignment-operator");
}

TEST(KafkaClientConfig, RefusesWhatIsNoAddress) {
  for (const char* text : {"", " , ", "kafka", "kafka:", ":9092", "kafka:0", "kafka:65536", "kafka:9092x", "kafka:-1",
                           "::1:9092", "PLAINTEXT://kafka:9092", "[]:9092", "ka fka:9092"}) {
    const auto config = parse_kafka_client_config(text);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().code, ErrorCode::kInvalid) << text;
    EXPECT_EQ(config.error().retry, Retry::kPermanent) << text;
  }
}

TEST(KafkaClientConfig, TakesTheClientIdOfTheProperties) {
  const auto config = parse_kafka_client_config("k:1", "security.protocol=PLAINTEXT\nclient.id = team-a\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->client_id, "team-a");
}

TEST(KafkaClientConfig, AnotherSecurityProtocolIsUnsupportedAndSecretsAreNotTold) {
  for (const char* protocol : {"SSL", "SASL_PLAINTEXT", "SASL_SSL", "plaintext"}) {
    const auto config = parse_kafka_client_config(
        "k:1", std::string("sasl.jaas.config=password=\"canary\"\nsecurity.protocol=") + protocol);
    ASSERT_FALSE(config) << protocol;
    EXPECT_EQ(config.error().code, ErrorCode::kUnsupported);
    EXPECT_EQ(config.error().retry, Retry::kPermanent);
    EXPECT_THAT(config.error().text(), HasSubstr(protocol));
    EXPECT_THAT(config.error().text(), Not(HasSubstr("canary")));
  }
}

TEST(Properties, AreReadAsJavaReadsThem) {
  const auto got = parse_properties(
      "# comment\n! comment\r\n\n  a=1\nb : 2\nc 3\nd\ne=\nf = x \\\n   y\\\n z\ng\\:h=i\\=j\\\\\nk=\\u0041\\tb\n"
      "a=last wins\r\nl=#no comment");
  ASSERT_TRUE(got);
  EXPECT_THAT(*got, ElementsAre(Pair("a", "last wins"), Pair("b", "2"), Pair("c", "3"), Pair("d", ""), Pair("e", ""),
                                Pair("f", "x yz"), Pair("g:h", "i=j\\"), Pair("k", "A\tb"), Pair("l", "#no comment")));
}

TEST(Properties, AnEscapeThatCannotBeReadIsToldWithoutItsValue) {
  for (const char* text : {"a=\\u12", "a=canary\\uzzzz", "a=\\u00e9"}) {
    const auto got = parse_properties(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(got.error().text(), HasSubstr("\"a\""));
    EXPECT_THAT(got.error().text(), Not(HasSubstr("canary")));
  }
}

}  // namespace
}  // namespace kro
