#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "adapters/kube/json_scan.h"
#include "adapters/kube/line_splitter.h"
#include "adapters/kube/watch_line_codec.h"

namespace kro {
namespace {

using Type = KubeWatchEvent::Type;

TEST(JsonScanTest, FindsMembersInAnyOrder) {
  const std::string text = R"( { "a" : [1,{"b":"}"}] , "b":"x\"y", "c":{"d":{}} ,"e":-1.5e3,"f":null} )";
  EXPECT_EQ(json_scan::member(text, "a"), R"([1,{"b":"}"}])");
  EXPECT_EQ(json_scan::member(text, "b"), R"("x\"y")");
  EXPECT_EQ(json_scan::member(text, "c"), R"({"d":{}})");
  EXPECT_EQ(json_scan::member(text, "e"), "-1.5e3");
  EXPECT_EQ(json_scan::member(text, "f"), "null");
  EXPECT_FALSE(json_scan::member(text, "d").has_value()) << "nested only";
}

TEST(JsonScanTest, EveryPrefixOfAnObjectIsRefusedOrFindsWhatIsWhole) {
  const std::string text = R"({"a":{"b":["c\\",{"d":1}]},"z":"end"})";
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto found = json_scan::member(std::string_view(text).substr(0, size), "z");
    if (found) {
      EXPECT_EQ(*found, R"("end")") << size;
    }
  }
  for (const char* bad : {"", "[]", "{", "{}", "{\"a\"", "{\"a\":", "{\"a\":}", "{a:1}", "{\"a\":1 \"z\":2}", "\\"}) {
    EXPECT_FALSE(json_scan::member(bad, "z").has_value()) << bad;
  }
}

TEST(JsonScanTest, DeepNestingNeedsNoStack) {
  const std::string deep = "{\"a\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + ",\"z\":1}";
  EXPECT_EQ(json_scan::member(deep, "z"), "1");
}

TEST(JsonScanTest, PlainStringsOnly) {
  EXPECT_EQ(json_scan::plain_string(R"("ab")"), "ab");
  EXPECT_EQ(json_scan::plain_string(R"("")"), "");
  EXPECT_FALSE(json_scan::plain_string(R"("a\"b")").has_value());
  EXPECT_FALSE(json_scan::plain_string("7").has_value());
  EXPECT_FALSE(json_scan::plain_string("\"").has_value());
}

TEST(LineSplitterTest, LinesAreTheSameWhereverTheStreamIsCut) {
  const std::string stream = "{\"first\":1}\n\n{\"second\":2}\nthird\n";
  const std::vector<std::string> expected{"{\"first\":1}", "{\"second\":2}", "third"};
  for (std::size_t one = 0; one <= stream.size(); ++one) {
    for (std::size_t two = one; two <= stream.size(); ++two) {
      LineSplitter splitter(100);
      std::vector<std::string> lines;
      const auto take = [&lines](std::string_view line) {
        lines.emplace_back(line);
        return true;
      };
      const std::string_view all(stream);
      for (const auto piece : {all.substr(0, one), all.substr(one, two - one), all.substr(two)}) {
        ASSERT_EQ(splitter.feed(piece, take), LineSplitter::Outcome::kGoOn);
      }
      ASSERT_EQ(lines, expected) << one << " " << two;
      ASSERT_FALSE(splitter.has_rest());
    }
  }
}

TEST(LineSplitterTest, ALineOverTheLimitEndsIt) {
  const auto take = [](std::string_view) { return true; };
  EXPECT_EQ(LineSplitter(10).feed(std::string(11, 'x'), take), LineSplitter::Outcome::kTooLong);
  EXPECT_EQ(LineSplitter(10).feed(std::string(11, 'x') + "\n", take), LineSplitter::Outcome::kTooLong);
  LineSplitter pieces(10);
  EXPECT_EQ(pieces.feed("123456", take), LineSplitter::Outcome::kGoOn);
  EXPECT_EQ(pieces.feed("78901\n", take), LineSplitter::Outcome::kTooLong);
  LineSplitter exact(10);
  EXPECT_EQ(exact.feed("1234567890\n", take), LineSplitter::Outcome::kGoOn);
}

TEST(LineSplitterTest, AStopIsHeededAtOnce) {
  LineSplitter splitter(10);
  int lines = 0;
  EXPECT_EQ(splitter.feed("a\nb\nc\n", [&](std::string_view) { return ++lines < 2; }), LineSplitter::Outcome::kStopped);
  EXPECT_EQ(lines, 2);
}

TEST(LineSplitterTest, TellsAnUnfinishedLine) {
  LineSplitter splitter(10);
  EXPECT_EQ(splitter.feed("a\nrest", [](std::string_view) { return true; }), LineSplitter::Outcome::kGoOn);
  EXPECT_TRUE(splitter.has_rest());
}

TEST(WatchLineTest, ReadsTheUsualLine) {
  const auto line = decode_watch_line(
      R"({"type":"MODIFIED","object":{"apiVersion":"v1","kind":"K","metadata":{"name":"n","resourceVersion":"42"},"spec":{}}})");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->event.type, Type::kModified);
  EXPECT_EQ(line->event.object,
            R"({"apiVersion":"v1","kind":"K","metadata":{"name":"n","resourceVersion":"42"},"spec":{}})");
  EXPECT_EQ(line->event.resource_version, "42");
}

TEST(WatchLineTest, ReadsAnyOrderAndWhiteSpace) {
  const auto line =
      decode_watch_line(R"({ "object" : {"metadata":{"resourceVersion":"7"}} , "more":[1,2], "type" : "DELETED" })");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->event.type, Type::kDeleted);
  EXPECT_EQ(line->event.object, R"({"metadata":{"resourceVersion":"7"}})");
  EXPECT_EQ(line->event.resource_version, "7");
}

TEST(WatchLineTest, AFieldNamedLikeTheVersionElsewhereIsNotIt) {
  const auto line = decode_watch_line(
      R"({"type":"ADDED","object":{"spec":{"resourceVersion":"1","metadata":{"resourceVersion":"2"}},"metadata":{"annotations":{"resourceVersion":"3"},"resourceVersion":"4"}}})");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->event.resource_version, "4");
}

TEST(WatchLineTest, TellsTheEndOfTheInitialListFromOtherBookmarks) {
  const auto end = decode_watch_line(
      R"({"type":"BOOKMARK","object":{"kind":"K","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}})");
  ASSERT_TRUE(end.has_value());
  EXPECT_EQ(end->event.type, Type::kInitialListEnd);
  EXPECT_EQ(end->event.resource_version, "9");
  EXPECT_TRUE(end->event.object.empty());
  const auto plain =
      decode_watch_line(R"({"type":"BOOKMARK","object":{"kind":"K","metadata":{"resourceVersion":"10"}}})");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->event.type, Type::kBookmark);
}

TEST(WatchLineTest, AnObjectWithoutVersionHasNone) {
  const auto line = decode_watch_line(R"({"type":"ADDED","object":{"metadata":{}}})");
  ASSERT_TRUE(line.has_value());
  EXPECT_EQ(line->event.resource_version, "");
}

TEST(WatchLineTest, AnErrorLineHasItsStatus) {
  const auto line = decode_watch_line(R"({"type":"ERROR","object":{"kind":"Status","code":410}})");
  ASSERT_TRUE(line.has_value());
  EXPECT_TRUE(line->is_error);
  EXPECT_EQ(line->error, R"({"kind":"Status","code":410})");
}

TEST(WatchLineTest, RefusesWhatIsNoEvent) {
  for (const char* bad :
       {"", "{}", "null", "<html>", R"({"type":"ADDED"})", R"({"type":"ADDED","object":[]})",
        R"({"type":7,"object":{}})", R"({"type":"STRANGE","object":{}})", R"({"type":"ADDED","object":{)"}) {
    const auto line = decode_watch_line(bad);
    ASSERT_FALSE(line.has_value()) << bad;
    EXPECT_EQ(line.error().code, ErrorCode::kProtocol);
    EXPECT_EQ(line.error().retry, Retry::kTransient);
  }
}

}  // namespace
}  // namespace kro
