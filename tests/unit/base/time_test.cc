#include "base/time.h"

#include <gtest/gtest.h>

namespace kro {
namespace {

TEST(Rfc3339, WritesKnownTimes) {
  EXPECT_EQ(rfc3339(from_epoch_ms(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(from_epoch_ms(1'796'104'800'123)), "2026-12-01T06:00:00Z");
  EXPECT_EQ(rfc3339_micro(from_epoch_ms(1'796'104'800'123)), "2026-12-01T06:00:00.123000Z");
  EXPECT_EQ(rfc3339_micro(from_epoch_ms(-1)), "1969-12-31T23:59:59.999000Z");
}

TEST(Rfc3339, ReadsBackWhatItWrites) {
  // Leap days, ends of months and years, the last second that fits four digits.
  for (const std::int64_t ms : {0LL, 1LL, -1LL, 951'782'400'000LL, 951'868'799'999LL, 1'709'164'799'001LL,
                                4'107'542'399'000LL, 253'402'300'799'999LL, -62'135'596'800'000LL}) {
    const WallTime time = from_epoch_ms(ms);
    EXPECT_EQ(parse_rfc3339(rfc3339_micro(time)), time) << ms;
    EXPECT_EQ(parse_rfc3339(rfc3339(time)), std::chrono::floor<seconds>(time)) << ms;
  }
}

TEST(Rfc3339, ReadsOffsetsAndFractions) {
  const WallTime six = from_epoch_ms(1'796'104'800'000);
  for (const char* text :
       {"2026-12-01T06:00:00Z", "2026-12-01t06:00:00z", "2026-12-01 06:00:00Z", "2026-12-01T08:00:00+02:00",
        "2026-12-01T00:30:00-05:30", "2026-11-30T07:00:00-23:00", "2026-12-01T06:00:00.000Z"})
    EXPECT_EQ(parse_rfc3339(text), six) << text;
  EXPECT_EQ(parse_rfc3339("2026-12-01T06:00:00.5Z"), six + 500ms);
  EXPECT_EQ(parse_rfc3339("2026-12-01T06:00:00.123456789Z"), six + 123ms);
  EXPECT_EQ(parse_rfc3339("2026-12-01T05:59:60Z"), six);  // a leap second
}

TEST(Rfc3339, RefusesEverythingElse) {
  for (const char* text : {"",
                           "2026-12-01",
                           "2026-12-01T06:00:00",
                           "2026-12-01T06:00Z",
                           "2026-13-01T06:00:00Z",
                           "2026-00-01T06:00:00Z",
                           "2026-02-29T06:00:00Z",
                           "2026-04-31T06:00:00Z",
                           "2026-12-01T24:00:00Z",
                           "2026-12-01T06:60:00Z",
                           "2026-12-01T06:00:61Z",
                           "2026-12-01T06:00:00.Z",
                           "2026-12-01T06:00:00Zx",
                           "2026-12-01T06:00:00+0200",
                           "2026-12-01T06:00:00+24:00",
                           "2026-12-01T06:00:00+02:60",
                           "26-12-01T06:00:00Z",
                           "2026-1-01T06:00:00Z",
                           "2026-12-01X06:00:00Z",
                           " 2026-12-01T06:00:00Z",
                           "2026-12-01T06:00:00 Z",
                           "-026-12-01T06:00:00Z"})
    EXPECT_FALSE(parse_rfc3339(text)) << text;
}

TEST(Duration, ReadsWholeParts) {
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("30m"), 1800s);
  EXPECT_EQ(parse_duration("1h30m"), 5400s);
  EXPECT_EQ(parse_duration("1h1m1s"), 3661s);
  EXPECT_EQ(parse_duration("0s"), 0s);
  EXPECT_EQ(parse_duration("999999999h"), seconds(999'999'999LL * 3600));
}

TEST(Duration, RefusesEverythingElse) {
  for (const char* text : {"", "30", "s", "1d", "1.5h", "-1m", "1m ", " 1m", "1h30", "10ms", "9999999999s", "1H", "m1"})
    EXPECT_FALSE(parse_duration(text)) << text;
}

}  // namespace
}  // namespace kro
