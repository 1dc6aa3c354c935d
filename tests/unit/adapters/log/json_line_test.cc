#include "adapters/log/json_line.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "adapters/log/json_log.h"

namespace kro {
namespace {

const WallTime kTime = from_epoch_ms(1'796'104'800'123);

nlohmann::json parsed(const std::string& line) {
  auto json = nlohmann::json::parse(line, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << line;
  return json;
}

TEST(JsonLine, HasTimeLevelMessageAndFieldsInOrder) {
  EXPECT_EQ(json_line(kTime, log::Level::kWarn, "session lost",
                      {{"cluster", "prod-eu"}, {"count", 3}, {"leads", false}, {"share", 0.5}}),
            R"({"ts":"2026-12-01T06:00:00.123Z","level":"warn","msg":"session lost","cluster":"prod-eu","count":3,)"
            R"("leads":false,"share":0.500000})");
}

TEST(JsonLine, ForeignTextCannotForgeFieldsOrLines) {
  const std::string evil = "a\",\"level\":\"error\"}\n{\"x\":1\t\x1b[31m\x7f\\";
  const std::string line = json_line(kTime, log::Level::kInfo, "m", {{"text", evil}});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  const auto json = parsed(line);
  EXPECT_EQ(json.at("text").get<std::string>(), evil);
  EXPECT_EQ(json.at("level").get<std::string>(), "info");
}

TEST(JsonLine, BytesThatAreNoUtf8BecomeTheReplacement) {
  const std::vector<std::string> bad{"\xff",     "\xc0\xaf", "\xed\xa0\x80",    "\xf5\x80\x80\x80",
                                     "\xe2\x82", "\x80",     "\xf0\x80\x80\x80"};
  for (const auto& bytes : bad) {
    const auto text =
        parsed(json_line(kTime, log::Level::kInfo, "m", {{"t", "a" + bytes + "b"}})).at("t").get<std::string>();
    EXPECT_EQ(text.front(), 'a');
    EXPECT_EQ(text.back(), 'b');
    EXPECT_NE(text.find("\uFFFD"), std::string::npos);
  }
  EXPECT_EQ(parsed(json_line(kTime, log::Level::kInfo, "m", {{"t", "é€😀"}})).at("t").get<std::string>(), "é€😀");
}

TEST(JsonLine, EveryByteGivesValidJson) {
  for (int byte = 0; byte < 256; ++byte)
    parsed(json_line(kTime, log::Level::kInfo, std::string(1, static_cast<char>(byte)), {}));
}

TEST(JsonLine, LongTextIsCutBetweenCharacters) {
  std::string text(kMostLogFieldBytes - 1, 'x');
  text += "€";
  const auto cut = parsed(json_line(kTime, log::Level::kInfo, "m", {{"t", text}})).at("t").get<std::string>();
  EXPECT_EQ(cut, std::string(kMostLogFieldBytes - 1, 'x') + "…");
  const std::string whole(kMostLogFieldBytes, 'x');
  EXPECT_EQ(parsed(json_line(kTime, log::Level::kInfo, "m", {{"t", whole}})).at("t").get<std::string>(), whole);
}

TEST(JsonLine, NumbersThatJsonDoesNotHaveAreText) {
  const auto json = parsed(
      json_line(kTime, log::Level::kInfo, "m",
                {{"nan", std::numeric_limits<double>::quiet_NaN()}, {"inf", std::numeric_limits<double>::infinity()}}));
  EXPECT_TRUE(json.at("nan").is_string());
  EXPECT_TRUE(json.at("inf").is_string());
}

TEST(LogLevel, Names) {
  EXPECT_EQ(parse_log_level("debug"), log::Level::kDebug);
  EXPECT_EQ(parse_log_level("info"), log::Level::kInfo);
  EXPECT_EQ(parse_log_level("warn"), log::Level::kWarn);
  EXPECT_EQ(parse_log_level("error"), log::Level::kError);
  for (const char* bad : {"", "INFO", "trace", "warning"}) EXPECT_FALSE(parse_log_level(bad)) << bad;
}

TEST(JsonLog, LineArrivesOnStderrWhole) {
  testing::internal::CaptureStderr();
  install_json_log(log::Level::kInfo);
  log::debug("too low");
  log::info("seen %s {}", {{"n", 1}});
  log::set_sink({});
  const std::string out = testing::internal::GetCapturedStderr();
  ASSERT_FALSE(out.empty());
  EXPECT_EQ(out.find('\n'), out.size() - 1);
  const auto json = parsed(out);
  EXPECT_EQ(json.at("msg").get<std::string>(), "seen %s {}");
  EXPECT_EQ(json.at("n").get<int>(), 1);
}

}  // namespace
}  // namespace kro
