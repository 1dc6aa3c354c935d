#include <gtest/gtest.h>

#include <random>

#include "tree/node_codecs.h"
#include "tree/reassignment_codec.h"
#include "tree/request_codec.h"
#include "tree/result_codec.h"

namespace kro::tree {
namespace {

const Features kFeatures{{"assignments", "client", "check", "dry_run", "max_in_flight"}, {"NoLeader"}};

void mutate(std::string& text, std::mt19937& random) {
  static const std::string kPieces[] = {"\"",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        ",",
                                        ":",
                                        "-",
                                        "1",
                                        "0",
                                        "1e9",
                                        "null",
                                        "true",
                                        "\\u0000",
                                        "\xff",
                                        "2147483648",
                                        "\"version\":1",
                                        ".",
                                        "/",
                                        "\xc3\xa4"};
  for (std::size_t n = 1 + random() % 4; n > 0; --n) {
    const std::size_t at = text.empty() ? 0 : random() % text.size();
    switch (random() % 5) {
      case 0: text.insert(at, kPieces[random() % std::size(kPieces)]); break;
      case 1:
        if (!text.empty()) text.erase(at, 1 + random() % 8);
        break;
      case 2:
        if (!text.empty()) text[at] = static_cast<char>(random() % 256);
        break;
      case 3: text.insert(at, text.substr(at / 2, random() % 20)); break;
      default: text.resize(at); break;
    }
  }
}

// What is accepted is safe, and is the same again after encode and decode.
void decode_all(const std::string& text) {
  const auto request = decode_request(text, kFeatures);
  if (const auto* r = std::get_if<Request>(&request)) {
    for (const auto& [topic, partitions] : r->assignments) {
      ASSERT_TRUE(valid_topic_name(topic)) << text;
      for (const auto& [partition, replicas] : partitions) {
        ASSERT_GE(partition, 0) << text;
        ASSERT_FALSE(replica_list_problem(replicas)) << text;
      }
    }
    const auto again = decode_request(encode_request(*r), kFeatures);
    ASSERT_TRUE(std::holds_alternative<Request>(again)) << text;
    ASSERT_EQ(std::get<Request>(again), *r) << text;
  }
  if (const auto r = decode_reassignment(text)) {
    ASSERT_FALSE(replica_list_problem(r->assignment)) << text;
    ASSERT_FALSE(replica_list_problem(r->originals)) << text;
    ASSERT_EQ(decode_reassignment(encode_reassignment(*r)).value(), *r) << text;
  }
  if (const auto r = decode_result(text)) {
    ASSERT_EQ(decode_result(encode_result(*r)).value(), *r) << text;
  }
  if (const auto r = decode_originals(text)) {
    ASSERT_EQ(decode_originals(encode_originals(*r)).value(), *r) << text;
  }
  (void)decode_lock(text);
  (void)decode_controller(text);
  (void)decode_epoch(text);
  (void)decode_call(text);
  (void)decode_foreign(text);
  (void)decode_ledger_root(text);
  if (const auto m = decode_marker(text)) {
    ASSERT_EQ(decode_marker(encode_marker(*m)).value(), *m) << text;
  }
}

TEST(Mutations, NothingThatIsReadCrashes) {
  const std::string seeds[] = {
      R"({"version":1,"assignments":{"orders":{"0":[1,2,3],"7":[3]}},"client":"a","check":["NoLeader"],"max_in_flight":2})",
      R"({"version":1,"top":2,"assignment":[2,3],"original_replicas":[1,2],"legacy":false,"request":"r","earlier":[[4]]})",
      R"({"version":1,"refused":{"X":{"t":[4]}},"finished":{"completed":{"t":[0]}},"problems":[{"topic":"t","partition":1}]})",
      R"({"version":1,"originals":{"t":{"0":[1,2]}},"topic_ids":{"t":"x"}})",
      R"({"version":1,"total":1,"partitions":[{"topic":"t","partition":0,"target":[1],"adding":[1],"removing":[2]}]})",
      R"({"version":1,"namespace":"n","name":"m","request":{"version":1}})"};
  std::mt19937 random(20261201);
  for (int round = 0; round < 6'000; ++round) {
    std::string text = seeds[random() % std::size(seeds)];
    mutate(text, random);
    decode_all(text);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

}  // namespace
}  // namespace kro::tree
