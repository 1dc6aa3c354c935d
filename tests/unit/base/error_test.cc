#include "base/error.h"

#include <gtest/gtest.h>

#include <set>

#include "base/assert.h"
#include "base/log.h"
#include "base/result.h"

namespace kro {
namespace {

TEST(Error, TextNamesTheOutermostFirst) {
  Error error;
  error.message = "connection refused";
  error = std::move(error).with("reading /admin").with("cluster prod-eu");
  EXPECT_EQ(error.text(), "cluster prod-eu: reading /admin: connection refused");
}

TEST(Error, WithoutMessageTheCodeSpeaks) {
  Error error;
  error.code = ErrorCode::kTimeout;
  EXPECT_EQ(error.text(), "timeout");
}

TEST(Error, EveryCodeHasATextOfItsOwn) {
  std::set<std::string_view> seen;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const auto text = to_string(static_cast<ErrorCode>(code));
    EXPECT_NE(text, "unknown") << code;
    EXPECT_TRUE(seen.insert(text).second) << text;
  }
  for (int retry = 0; retry <= static_cast<int>(Retry::kFatal); ++retry)
    EXPECT_NE(to_string(static_cast<Retry>(retry)), "unknown") << retry;
}

TEST(Result, PassOnKeepsTheErrorAndAddsWhere) {
  const Result<int> inner = fail(ErrorCode::kVersion, Retry::kConflict, "stale");
  ASSERT_FALSE(inner);
  const Result<std::string> outer = pass_on(inner.error(), "writing status");
  ASSERT_FALSE(outer);
  EXPECT_EQ(outer.error().code, ErrorCode::kVersion);
  EXPECT_EQ(outer.error().retry, Retry::kConflict);
  EXPECT_EQ(outer.error().text(), "writing status: stale");
  const Status bad = invalid("no plan");
  EXPECT_EQ(bad.error().retry, Retry::kPermanent);
}

TEST(Assert, EndsTheProcessInEveryBuild) {
  KRO_ASSERT(1 + 1 == 2);
  EXPECT_DEATH(KRO_ASSERT(1 + 1 == 3), "error_test.cc:[0-9]+: broken invariant: 1 \\+ 1 == 3");
}

TEST(Log, LinesGoToTheSinkFromTheLevelOn) {
  std::vector<std::string> lines;
  log::warn("dropped without a sink");
  log::set_sink([&](log::Level, std::string_view message, std::initializer_list<log::Field> fields) {
    std::string line(message);
    for (const auto& field : fields)
      line += " " + std::string(field.key) + "=" + field.value + (field.quoted ? "" : "!");
    lines.push_back(line);
  });
  log::set_level(log::Level::kWarn);
  log::info("too low");
  log::warn("seen", {{"text", "x"}, {"number", 7}, {"flag", true}});
  log::set_level(log::Level::kInfo);
  log::set_sink({});
  EXPECT_EQ(lines, (std::vector<std::string>{"seen text=x number=7! flag=true!"}));
}

}  // namespace
}  // namespace kro
