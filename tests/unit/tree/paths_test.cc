#include "tree/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace kro::tree {
namespace {

TEST(Paths, AreThoseOfTheKip) {
  EXPECT_EQ(request("request_0000000007"), "/admin/reassignment_requests/request_0000000007");
  EXPECT_EQ(reassignment({"orders", 14}), "/admin/reassignments/orders/14");
  EXPECT_EQ(result("cancel_2a"), "/admin/reassignment_results/cancel_2a");
  EXPECT_EQ(originals("cancel_2a"), "/admin/reassignment_results/cancel_2a/originals");
  EXPECT_EQ(marker("op", "uid", "3-1"), "/admin/reassignment_ledger/op/uid/3-1");
}

TEST(Paths, HexIsLowerCase) {
  EXPECT_EQ(hex(0), "0");
  EXPECT_EQ(hex(0x1F), "1f");
  EXPECT_EQ(hex(-1), "ffffffffffffffff");
  EXPECT_EQ(parse_hex("ffffffffffffffff"), -1);
  for (const char* bad : {"", "0x1f", " 1", "1g", "10000000000000000", "-1"}) EXPECT_FALSE(parse_hex(bad)) << bad;
}

TEST(Paths, ResultNames) {
  EXPECT_EQ(result_name("request_0000000007", 0x1f), "request_0000000007-1f");
  EXPECT_EQ(cancel_result_name(0x2a), "cancel_2a");
  const auto wrapped = parse_result_name(result_name("request_-2147483648", 0x1f));
  ASSERT_TRUE(wrapped) << "the sign of a wrapped number is no separator";
  EXPECT_EQ(wrapped->request, "request_-2147483648");
  EXPECT_EQ(wrapped->czxid, 0x1f);
  EXPECT_FALSE(wrapped->cancel);
  const auto cancel = parse_result_name("cancel_2a");
  ASSERT_TRUE(cancel);
  EXPECT_TRUE(cancel->cancel);
  EXPECT_EQ(cancel->czxid, 0x2a);
  for (const char* bad : {"", "x", "cancel_", "cancel_zz", "request_0000000007", "request_-1f", "request_7-",
                          "request_7-zz", "other_7-1f", "request_99999999999-1f"})
    EXPECT_FALSE(parse_result_name(bad)) << bad;
}

TEST(Paths, MarkerNames) {
  EXPECT_EQ(marker_name(3, 1), "3-1");
  EXPECT_EQ(parse_marker_name("3-12"), (MarkerName{3, 12}));
  for (const char* bad : {"", "3", "3-", "-1", "3-0", "3--1", "x-1", "3-x", "3-99999999999"})
    EXPECT_FALSE(parse_marker_name(bad)) << bad;
}

TEST(Paths, SequencesWrapAround) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "request_%010d", INT32_MIN);
  EXPECT_EQ(sequence_of(text), INT32_MIN);
  EXPECT_EQ(sequence_of("request_2147483647"), INT32_MAX);
  for (const char* bad : {"", "request_", "request_x", "request_2147483648", "request_1 ", "Request_1", "1"})
    EXPECT_FALSE(sequence_of(bad)) << bad;
  EXPECT_TRUE(sequence_before(1, 2));
  EXPECT_FALSE(sequence_before(2, 1));
  EXPECT_FALSE(sequence_before(2, 2));
  EXPECT_TRUE(sequence_before(INT32_MAX, INT32_MIN));
  EXPECT_FALSE(sequence_before(INT32_MIN, INT32_MAX));
}

TEST(Paths, SortingGoesAcrossTheWrapFromWhereverItIsSeen) {
  const std::vector<std::int32_t> sorted{INT32_MAX - 1, INT32_MAX, INT32_MIN, INT32_MIN + 1};
  for (const std::int32_t from : sorted) {
    std::vector<std::int32_t> mixed{INT32_MIN + 1, INT32_MAX, INT32_MIN, INT32_MAX - 1};
    std::sort(mixed.begin(), mixed.end(), SequenceOrder{from});
    EXPECT_EQ(mixed, sorted) << from;
  }
}

TEST(Paths, SortingWithoutAnOrderIsStillATotalOrder) {
  const std::vector<std::int32_t> circle{0, 1'500'000'000, -1'500'000'000};
  const SequenceOrder before{0};
  for (const auto a : circle)
    for (const auto b : circle)
      for (const auto c : circle)
        if (before(a, b) && before(b, c)) {
          EXPECT_TRUE(before(a, c));
        }
}

}  // namespace
}  // namespace kro::tree
