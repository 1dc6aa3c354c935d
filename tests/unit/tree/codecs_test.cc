#include <gtest/gtest.h>

#include "tree/limits.h"
#include "tree/node_codecs.h"
#include "tree/reassignment_codec.h"
#include "tree/request_codec.h"
#include "tree/result_codec.h"

namespace kro::tree {
namespace {

const Features& features() {
  static const Features all{{"assignments", "cancel", "withdraw", "legacy", "client", "check", "allow", "dry_run",
                             "all_or_nothing", "max_in_flight", "max_in_flight_per_broker", "health_gate", "throttle"},
                            {"RackSpread", "NoLeader"}};
  return all;
}

std::string reason_of(std::string_view text, const Features& f = features()) {
  const auto decoded = decode_request(text, f);
  const auto* refusal = std::get_if<RequestRefusal>(&decoded);
  return refusal == nullptr ? "accepted" : refusal->reason;
}
std::string error_of(std::string_view text) {
  const auto decoded = decode_request(text, features());
  const auto* refusal = std::get_if<RequestRefusal>(&decoded);
  return refusal == nullptr ? "" : refusal->error;
}
Request request_of(std::string_view text) {
  const auto decoded = decode_request(text, features());
  if (const auto* refusal = std::get_if<RequestRefusal>(&decoded)) ADD_FAILURE() << refusal->error;
  const auto* request = std::get_if<Request>(&decoded);
  return request == nullptr ? Request{} : *request;
}

TEST(RequestCodec, PlainKipRequestBothWays) {
  const std::string golden =
      R"({"version":1,"assignments":{"orders":{"0":[1,2,3],"10":[3]},"pay.x_-":{"2147483647":[2147483647,0]}}})";
  const Request r = request_of(golden);
  EXPECT_EQ(r.assignments.at("orders").at(0), (ReplicaList{1, 2, 3}));
  EXPECT_EQ(r.assignments.at("pay.x_-").at(2147483647), (ReplicaList{2147483647, 0}));
  EXPECT_EQ(encode_request(r), golden);
}

TEST(RequestCodec, EveryKeyBothWays) {
  const std::string golden =
      R"({"version":1,"assignments":{"t":{"0":[1]}},"legacy":true,"client":"op/uid","check":["RackSpread"],)"
      R"("allow":["NoLeader"],"dry_run":true,"all_or_nothing":true,"max_in_flight":3,"max_in_flight_per_broker":2,)"
      R"("health_gate":true,"throttle":{"bytes_per_second":9223372036854775807}})";
  const Request r = request_of(golden);
  EXPECT_TRUE(r.legacy && r.dry_run && r.all_or_nothing && r.health_gate);
  EXPECT_EQ(r.client, "op/uid");
  EXPECT_EQ(r.max_in_flight, 3);
  EXPECT_EQ(r.max_in_flight_per_broker, 2);
  EXPECT_EQ(r.throttle_bytes_per_second, INT64_MAX);
  EXPECT_EQ(encode_request(r), golden);
  const std::string cancel = R"({"version":1,"cancel":{"t":{"0":"1f","1":"request_0000000007-1f"}}})";
  EXPECT_EQ(encode_request(request_of(cancel)), cancel);
  const std::string withdraw = R"({"version":1,"withdraw":{"request_0000000007-1f":{"t":[0,4]}}})";
  EXPECT_EQ(encode_request(request_of(withdraw)), withdraw);
}

TEST(RequestCodec, OrderOfKeysMeansNothing) {
  EXPECT_EQ(request_of(R"({"assignments":{"t":{"0":[1]}},"version":1})"),
            request_of(R"( { "version" : 1 , "assignments" : { "t" : { "0" : [ 1 ] } } } )"));
}

struct Bad {
  const char* text;
  const char* says;  // part of the error, so that it is refused for the right reason
};

TEST(RequestCodec, RefusesWholeDocuments) {
  const Bad bad[] = {
      {"", "empty"},
      {"x", "not JSON"},
      {"null", "not a JSON object"},
      {"[]", "not a JSON object"},
      {"7", "not a JSON object"},
      {R"({"assignments":{"t":{"0":[1]}}})", "\"version\" is missing"},
      {R"({"version":2,"assignments":{"t":{"0":[1]}}})", "version 2"},
      {R"({"version":0,"assignments":{"t":{"0":[1]}}})", "version 0"},
      {R"({"version":"1","assignments":{"t":{"0":[1]}}})", "integer"},
      {R"({"version":1.0,"assignments":{"t":{"0":[1]}}})", "integer"},
      {R"({"version":1e0,"assignments":{"t":{"0":[1]}}})", "integer"},
      {R"({"version":true,"assignments":{"t":{"0":[1]}}})", "integer"},
      {R"({"version":1,"version":1,"assignments":{"t":{"0":[1]}}})", "twice"},
      {R"({"version":1,"assignments":{"t":{"0":[1]},"t":{"1":[1]}}})", "twice"},
      {R"({"version":1,"assignments":{"t":{"0":[1],"0":[2]}}})", "twice"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}}} x)", "not JSON"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}})", "not JSON"},
      {R"({"version":1})", "exactly one"},
      {R"({"version":1,"assignments":{}})", "exactly one"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"cancel":{"t":{"0":"1f"}}})", "exactly one"},
      {R"({"version":1,"assignments":[]})", "object of topics"},
      {R"({"version":1,"assignments":{"t":[]}})", "object of partitions"},
      {R"({"version":1,"assignments":{"t":{}}})", "no partition"},
      {R"({"version":1,"assignments":{"t":{"0":[]}}})", "t-0"},
      {R"({"version":1,"assignments":{"t":{"0":[1],"1":[]}}})", "t-1"},
      {R"({"version":1,"assignments":{"t":{"0":[1,2,1]}}})", "t-0"},
      {R"({"version":1,"assignments":{"t":{"0":[-1]}}})", "t-0"},
      {R"({"version":1,"assignments":{"t":{"0":[2147483648]}}})", "out of range"},
      {R"({"version":1,"assignments":{"t":{"0":[18446744073709551615]}}})", "out of range"},
      {R"({"version":1,"assignments":{"t":{"0":[99999999999999999999]}}})", "integer"},
      {R"({"version":1,"assignments":{"t":{"0":[1.0]}}})", "integer"},
      {R"({"version":1,"assignments":{"t":{"0":["1"]}}})", "integer"},
      {R"({"version":1,"assignments":{"t":{"0":[null]}}})", "integer"},
      {R"({"version":1,"assignments":{"t":{"0":null}}})", "list"},
      {R"({"version":1,"assignments":{"t":{"007":[1]}}})", "partition number"},
      {R"({"version":1,"assignments":{"t":{"-0":[1]}}})", "partition number"},
      {R"({"version":1,"assignments":{"t":{"+1":[1]}}})", "partition number"},
      {R"({"version":1,"assignments":{"t":{"":[1]}}})", "partition number"},
      {R"({"version":1,"assignments":{"t":{" 1":[1]}}})", "partition number"},
      {R"({"version":1,"assignments":{"t":{"2147483648":[1]}}})", "partition number"},
      {R"({"version":1,"assignments":{"":{"0":[1]}}})", "topic name"},
      {R"({"version":1,"assignments":{".":{"0":[1]}}})", "topic name"},
      {R"({"version":1,"assignments":{"..":{"0":[1]}}})", "topic name"},
      {R"({"version":1,"assignments":{"../brokers":{"0":[1]}}})", "topic name"},
      {R"({"version":1,"assignments":{"a/b":{"0":[1]}}})", "topic name"},
      {R"({"version":1,"assignments":{"a b":{"0":[1]}}})", "topic name"},
      {R"({"version":1,"assignments":{"a\u0000":{"0":[1]}}})", "topic name"},
      {R"({"version":1,"assignments":{"ä":{"0":[1]}}})", "topic name"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"max_in_flight":0})", "max_in_flight"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"max_in_flight":-1})", "max_in_flight"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"max_in_flight":2147483648})", "max_in_flight"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"max_in_flight":1.0})", "max_in_flight"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"max_in_flight_per_broker":0})", "max_in_flight_per_broker"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"dry_run":1})", "dry_run"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"dry_run":"true"})", "dry_run"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"legacy":null})", "legacy"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"client":7})", "client"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"check":"NoLeader"})", "check"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"check":[1]})", "check"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"throttle":{"bytes_per_second":0}})", "throttle"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"throttle":{"bytes_per_second":1,"x":1}})", "throttle"},
      {R"({"version":1,"assignments":{"t":{"0":[1]}},"throttle":1})", "throttle"},
      {R"({"version":1,"cancel":{"../x":{"0":"1f"}}})", "topic name"},
      {R"({"version":1,"cancel":{"t":{"0":7}}})", "string"},
      {R"({"version":1,"withdraw":{"x":{"t":[-1]}}})", "negative"},
      {R"({"version":1,"withdraw":{"x":{"t":{}}}})", "list"},
      {"{\"version\":1,\"assignments\":{\"\xff\":{\"0\":[1]}}}", "not JSON"},
  };
  for (const Bad& b : bad) {
    EXPECT_EQ(reason_of(b.text), "MalformedRequest") << b.text;
    EXPECT_NE(error_of(b.text).find(b.says), std::string::npos) << b.text << " says: " << error_of(b.text);
  }
}

TEST(RequestCodec, TopicNamesAreAsLongAsKafkaAllows) {
  const auto with = [](std::size_t n) {
    return "{\"version\":1,\"assignments\":{\"" + std::string(n, 'x') + "\":{\"0\":[1]}}}";
  };
  EXPECT_EQ(reason_of(with(249)), "accepted");
  EXPECT_EQ(reason_of(with(250)), "MalformedRequest");
}

TEST(RequestCodec, UnknownKeysAndChecksAreUnsupported) {
  EXPECT_EQ(reason_of(R"({"version":1,"assignments":{"t":{"0":[1]}},"shadow":1})"), "UnsupportedFeature");
  EXPECT_EQ(reason_of(R"({"version":1,"assignments":{"t":{"0":[1]}},"check":["Moon"]})"), "UnsupportedFeature");
  EXPECT_EQ(reason_of(R"({"version":1,"assignments":{"t":{"0":[1]}},"allow":["Moon"]})"), "UnsupportedFeature");
  EXPECT_EQ(reason_of(R"({"version":1,"assignments":{"t":{"0":[1]}},"check":["dry_run"]})"), "UnsupportedFeature")
      << "a key is not a check";
  const Features few{{"client"}, {}};
  EXPECT_EQ(reason_of(R"({"version":1,"assignments":{"t":{"0":[1]}},"dry_run":true})", few), "UnsupportedFeature")
      << "known to the protocol, but not executed by this build";
  EXPECT_EQ(reason_of(R"({"version":1,"cancel":{"t":{"0":"1f"}}})", few), "UnsupportedFeature");
  EXPECT_EQ(reason_of(R"({"version":1,"assignments":{"t":{"0":[1]}},"client":"a"})", few), "accepted");
}

TEST(RequestCodec, SizesAreBounded) {
  Request r;
  for (int p = 0; p < 5000; ++p) r.assignments["t"][p] = {1, 2};
  ASSERT_LE(encode_request(r).size(), kMostRequestBytes);
  EXPECT_EQ(reason_of(encode_request(r)), "accepted");
  r.assignments["u"][0] = {1};
  EXPECT_EQ(reason_of(encode_request(r)), "MalformedRequest");
  const std::string long_client =
      "{\"version\":1,\"assignments\":{\"t\":{\"0\":[1]}},\"client\":\"" + std::string(kMostRequestBytes, 'c') + "\"}";
  EXPECT_EQ(reason_of(long_client), "MalformedRequest");
}

TEST(RequestCodec, ErrorsAreShortAndWholeCharacters) {
  std::string key;
  for (int i = 0; i < 30'000; ++i) key += "ä";
  const std::string error = error_of("{\"version\":1,\"" + key + "\":1}");
  EXPECT_FALSE(error.empty());
  EXPECT_LE(error.size(), 1100U);
  RequestResult result;
  result.error = error;
  EXPECT_EQ(decode_result(encode_result(result))->error, error) << "no half of a character";
}

TEST(RequestCodec, DepthBombIsNoBomb) {
  for (const std::size_t depth : {17U, 1000U, 60'000U}) {
    EXPECT_EQ(reason_of(std::string(depth, '[')), "MalformedRequest");
    EXPECT_EQ(reason_of(std::string(depth, '[') + std::string(depth, ']')), "MalformedRequest");
    std::string nested = "{\"version\":1,\"assignments\":";
    for (std::size_t i = 0; i < depth; ++i) nested += "{\"a\":";
    nested += "1" + std::string(depth, '}') + "}";
    EXPECT_EQ(reason_of(nested), "MalformedRequest");
  }
  EXPECT_NE(
      error_of("{\"version\":1,\"assignments\":" + std::string(20, '[') + std::string(20, ']') + "}").find("deep"),
      std::string::npos);
}

TEST(ReassignmentCodec, BothWays) {
  const std::string plain =
      R"({"version":1,"top":2,"assignment":[2,3],"original_replicas":[1,2],"legacy":false,"request":"request_0000000007-1f"})";
  const auto r = decode_reassignment(plain);
  ASSERT_TRUE(r);
  EXPECT_EQ(encode_reassignment(*r), plain);
  const std::string full =
      R"({"version":1,"top":2,"assignment":[1,2],"original_replicas":[1,2],"legacy":true,"request":"legacy_1f",)"
      R"("topic_id":"abc","step":[1,2,3],"earlier":[[2,3],[4]],"cancel":"cancel_2a","order_known":false,"ended":true})";
  const auto f = decode_reassignment(full);
  ASSERT_TRUE(f);
  EXPECT_TRUE(f->rolling_back());
  EXPECT_FALSE(f->order_known);
  EXPECT_EQ(f->earlier, (std::vector<ReplicaList>{{2, 3}, {4}}));
  EXPECT_EQ(encode_reassignment(*f), full);
}

TEST(ReassignmentCodec, UnknownKeysAreIgnoredAndBadOnesRefuse) {
  EXPECT_TRUE(decode_reassignment(R"({"version":1,"top":1,"assignment":[1],"original_replicas":[2],"later":{"a":1}})"));
  for (const char* bad :
       {R"({"version":1,"assignment":[1],"original_replicas":[2]})", R"({"version":1,"top":1,"original_replicas":[2]})",
        R"({"version":1,"top":1,"assignment":[1]})", R"({"version":1,"top":1,"assignment":[],"original_replicas":[2]})",
        R"({"version":1,"top":1,"assignment":[1],"original_replicas":[]})",
        R"({"version":1,"top":1,"assignment":[1,1],"original_replicas":[2]})",
        R"({"version":1,"top":-1,"assignment":[1],"original_replicas":[2]})",
        R"({"version":1,"top":1,"assignment":[1],"original_replicas":[2],"step":[]})",
        R"({"version":1,"top":1,"assignment":[1],"original_replicas":[2],"earlier":[[]]})",
        R"({"version":1,"top":1,"assignment":[1],"original_replicas":[2],"cancel":1})",
        R"({"version":1,"top":1,"assignment":[1],"original_replicas":[2],"ended":"no"})"})
    EXPECT_FALSE(decode_reassignment(bad)) << bad;
}

TEST(ResultCodec, BothWays) {
  const std::string golden =
      R"({"version":1,"request":"request_0000000007","czxid":"1f","ctime":1700000000000,"client":"op/uid",)"
      R"("received":"2026-12-01T06:00:00Z","partitions":120,"waiting":73,"refused":{"BrokerNotAvailable":{"orders":[4,9]}},)"
      R"("finished":{"completed":{"orders":[0,1]}},"joined":{"orders":[2]},"bytes":{"moved":5,"total":9},)"
      R"("last_progress":"2026-12-01T06:00:05Z","holding":"ClusterUnhealthy","if_cancelled":{"restorable":8,"refused":2},)"
      R"("problems_total":1,"problems":[{"topic":"orders","partition":14,"current":[7,3,5],"target":[12,3,5],)"
      R"("originals":[7,3,5],"isr":[7,3,5],"leader":7,"cause":"KafkaError","code":39,"brokers":[12],)"
      R"("since":"2026-12-01T06:00:01Z","if_cancelled":"restored"}],"error":"what, where","done":false})";
  const auto r = decode_result(golden);
  ASSERT_TRUE(r) << r.error().text();
  EXPECT_EQ(encode_result(*r), golden);
  EXPECT_EQ(r->outcome_of({"orders", 4}), "refused");
  EXPECT_EQ(r->outcome_of({"orders", 1}), "completed");
  EXPECT_EQ(r->outcome_of({"orders", 2}), "");
  EXPECT_EQ(r->in_flight(), 120 - 73 - 4);
  EXPECT_EQ(r->problems.at(0).code, 39);
  EXPECT_EQ(r->finished_count("restored"), 0U);
}

TEST(ResultCodec, UnknownKeysAreIgnoredAndTextOfOthersIsMended) {
  EXPECT_TRUE(decode_result(R"({"version":1,"later":[1.5,{"a":null}],"done":true})")->done);
  RequestResult cut;
  cut.client = "\xc3";
  EXPECT_TRUE(decode_result(encode_result(cut)));
  for (const char* bad : {R"({"version":1,"waiting":2147483648})", R"({"version":1,"waiting":1.0})",
                          R"({"version":1,"refused":[]})", R"({"version":1,"finished":{"completed":{"../x":[1]}}})",
                          R"({"version":1,"finished":{"completed":{"t":[-1]}}})", R"({"version":1,"problems":{}})",
                          R"({"version":1,"problems":[1]})", R"({"version":1,"problems":[{"code":40000}]})",
                          R"({"version":1,"done":1})", R"({"version":1,"bytes":[]})"})
    EXPECT_FALSE(decode_result(bad)) << bad;
}

TEST(OriginalsCodec, BothWays) {
  const std::string golden = R"({"version":1,"originals":{"orders":{"0":[1,2,3]}},"topic_ids":{"orders":"id"}})";
  const auto o = decode_originals(golden);
  ASSERT_TRUE(o);
  EXPECT_EQ(encode_originals(*o), golden);
  EXPECT_TRUE(decode_originals(R"({"version":1,"originals":{},"later":1})"));
  EXPECT_FALSE(decode_originals(R"({"version":1,"topic_ids":{}})"));
  EXPECT_FALSE(decode_originals(R"({"version":1,"originals":{"t":{"0":[]}}})"));
  EXPECT_FALSE(decode_originals(R"({"version":1,"originals":{},"topic_ids":{"t":1}})"));
}

TEST(NodeCodecs, LockIsALockWhateverIsInIt) {
  EXPECT_EQ(decode_lock(""), Lock{});
  EXPECT_EQ(decode_lock("\xff"), Lock{});
  EXPECT_EQ(decode_lock(R"({"version":2,"owner":"me"})"), Lock{}) << "only a well-formed owner is one";
  EXPECT_EQ(decode_lock(R"({"version":1,"owner":7})"), Lock{});
  EXPECT_EQ(encode_lock({"op"}), R"({"version":1,"owner":"op"})");
  EXPECT_EQ(decode_lock(encode_lock({"op"})).owner, "op");
}

TEST(NodeCodecs, EpochIsADecimalNumber) {
  EXPECT_EQ(decode_epoch("").value(), 0);
  EXPECT_EQ(decode_epoch("41").value(), 41);
  for (const char* bad : {"-1", "+1", " 1", "1 ", "0x1", "1.0", "9223372036854775808", "x"})
    EXPECT_FALSE(decode_epoch(bad)) << bad;
}

TEST(NodeCodecs, TheOthersBothWays) {
  const ControllerNode node{"id", "host", 7, "shared", "admin-api", "cluster", "3.9", {"client", "RackSpread"}};
  EXPECT_EQ(decode_controller(encode_controller(node)).value(), node);
  EXPECT_EQ(encode_call({}), "");
  EXPECT_TRUE(decode_call("").value().empty());
  const PartitionSets sets{{"t", {0, 4}}};
  EXPECT_EQ(encode_call(sets), R"({"version":1,"partitions":{"t":[0,4]}})");
  EXPECT_EQ(decode_call(encode_call(sets)).value(), sets);
  EXPECT_FALSE(decode_call(R"({"version":1})"));
  const Foreign foreign{3, {{{"t", 1}, {2, 3}, {3}, {1}}}};
  EXPECT_EQ(decode_foreign(encode_foreign(foreign)).value(), foreign);
  EXPECT_FALSE(decode_foreign(R"({"version":1,"total":-1})"));
  const LedgerRoot root{4, "uid", "main"};
  EXPECT_EQ(encode_ledger_root(root), R"({"version":1,"epoch":4,"owner":"uid","cluster":"main"})");
  EXPECT_EQ(decode_ledger_root(encode_ledger_root(root)).value(), root);
  const Marker marker{"ns", "name", R"({"version":1})", 2};
  EXPECT_EQ(decode_marker(encode_marker(marker)).value(), marker);
  EXPECT_FALSE(decode_marker(R"({"version":1,"namespace":"a","name":"b"})"));
}

}  // namespace
}  // namespace kro::tree
