#include "adapters/kafka/wire.h"

#include <gtest/gtest.h>

#include "unit/adapters/kafka/hex.h"

namespace kro::kafka {
namespace {

TEST(Writer, WritesNumbersBigEndian) {
  Writer out(Encoding::kClassic);
  out.i8(-1);
  out.i16(0x0102);
  out.i32(-2);
  out.i64(0x0102030405060708);
  out.boolean(true);
  EXPECT_EQ(to_hex(out.take()), "ff0102fffffffe010203040506070801");
}

TEST(Writer, WritesStringsAndArraysInBothEncodings) {
  for (const auto& [encoding, expected] :
       {std::pair{Encoding::kClassic, "0002 6162 ffff 00000002 00000001 00000003 ffffffff"},
        std::pair{Encoding::kFlexible, "03 6162 00 03 00000001 00000003 00 00"}}) {
    Writer out(encoding);
    out.string("ab");
    out.null_string();
    out.ids({1, 3});
    out.null_array();
    out.tags();
    EXPECT_EQ(out.take(), from_hex(expected));
  }
}

TEST(Writer, VarintsTakeSevenBitsAByte) {
  Writer out(Encoding::kFlexible);
  for (const std::uint32_t value : {0U, 127U, 128U, 300U, 0xffffffffU}) out.uvarint(value);
  EXPECT_EQ(to_hex(out.take()), "007f8001ac02ffffffff0f");
}

TEST(Reader, ReadsBackWhatWriterWrites) {
  for (const Encoding encoding : {Encoding::kClassic, Encoding::kFlexible}) {
    Writer out(encoding);
    out.string("orders");
    out.null_string();
    out.ids({7, 3, 5});
    out.uvarint(70'000);
    out.tags();
    const std::string bytes = out.take();
    Reader in(bytes, encoding);
    EXPECT_EQ(in.string(), "orders");
    EXPECT_EQ(in.nullable_string(), std::nullopt);
    EXPECT_EQ(in.ids(), (ReplicaList{7, 3, 5}));
    EXPECT_EQ(in.uvarint(), 70'000U);
    in.tags();
    EXPECT_TRUE(in.finish("it"));
  }
}

TEST(Reader, SkipsUnknownTaggedFields) {
  const std::string bytes = from_hex("02 00 02 aabb 85 01 01 cc 07");
  Reader in(bytes, Encoding::kFlexible);
  in.tags();
  EXPECT_EQ(in.i8(), 7);
  EXPECT_TRUE(in.finish("it"));
}

TEST(Reader, AnArrayThatCannotFitIsAFaultBeforeAnythingIsAllocated) {
  for (const char* bytes : {"7fffffff 00000001", "fffffffe", "00000002 00000001"}) {
    const std::string raw = from_hex(bytes);
    Reader in(raw, Encoding::kClassic);
    EXPECT_TRUE(in.ids().empty()) << bytes;
    EXPECT_FALSE(in.ok()) << bytes;
  }
  const std::string raw = from_hex("ffffffff0f 00");
  Reader in(raw, Encoding::kFlexible);
  EXPECT_EQ(in.array(1), 0U);
  EXPECT_FALSE(in.ok());
}

TEST(Reader, AFaultSticksAndIsToldAsProtocolError) {
  const std::string raw = from_hex("00");
  Reader in(raw, Encoding::kClassic);
  EXPECT_EQ(in.i32(), 0);
  EXPECT_EQ(in.i8(), 0) << "the byte that is left is not given out any more";
  const auto status = in.finish("an answer");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kProtocol);
}

TEST(Reader, BytesTooManyAreAProtocolError) {
  const std::string raw = from_hex("0001 00");
  Reader in(raw, Encoding::kClassic);
  EXPECT_EQ(in.i16(), 1);
  const auto status = in.finish("an answer");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kProtocol);
}

TEST(Reader, VarintsThatNeverEndOrOverflowAreFaults) {
  for (const char* bytes : {"ffffffffffffffff", "ffffffff1f", "80"}) {
    const std::string raw = from_hex(bytes);
    Reader in(raw, Encoding::kFlexible);
    EXPECT_EQ(in.uvarint(), 0U) << bytes;
    EXPECT_FALSE(in.ok()) << bytes;
  }
}

TEST(Reader, UuidsAreHexTextAndTheZeroUuidIsNone) {
  const std::string raw = from_hex("33d053e7bebc4d69be2f39d957e8dff0 00000000000000000000000000000000");
  Reader in(raw, Encoding::kFlexible);
  EXPECT_EQ(in.uuid(), "33d053e7-bebc-4d69-be2f-39d957e8dff0");
  EXPECT_EQ(in.uuid(), "");
  EXPECT_TRUE(in.ok());
}

}  // namespace
}  // namespace kro::kafka
