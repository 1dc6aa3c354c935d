#include <gtest/gtest.h>

#include <regex>
#include <stdexcept>
#include <string>

#include "adapters/os/files.h"
#include "adapters/os/memory.h"

namespace kro {
namespace {

std::string mapping(const std::string& head, const std::string& anonymous = "0", const std::string& swap = "0") {
  return head + "\nSize:                 20 kB\nKernelPageSize:        4 kB\nRss:                  16 kB\n" +
         "Anonymous:           " + anonymous + " kB\nSwap:                " + swap +
         " kB\nSwapPss:               0 kB\nVmFlags: rd ex mr mw me\n";
}

const std::string kCode = "55ac970fe000-55ac97103000 r-xp 00002000 fe:00 247026          /usr/bin/cat";

TEST(CleanMappings, CodeOfAFile) {
  const auto clean = clean_mappings(mapping(kCode));
  ASSERT_EQ(clean.size(), 1U);
  EXPECT_EQ(clean[0], (CleanMapping{0x55ac970fe000, 0x55ac97103000, 16UL * 1024}));
}

TEST(CleanMappings, EachOfSeveral) {
  const std::string all = mapping("1000-3000 r--p 00000000 fe:00 1 /a b") +
                          mapping("3000-4000 rw-p 00000000 fe:00 1 /a") +
                          mapping("5000-6000 r-xp 00000000 fe:00 1 /c (deleted)");
  const auto clean = clean_mappings(all);
  ASSERT_EQ(clean.size(), 2U);
  EXPECT_EQ(clean[0].begin, 0x1000U);
  EXPECT_EQ(clean[1].end, 0x6000U);
}

TEST(CleanMappings, NothingThatCouldBeLost) {
  EXPECT_TRUE(clean_mappings(mapping(kCode, "4")).empty()) << "a page of its own: a relocation";
  EXPECT_TRUE(clean_mappings(mapping(kCode, "0", "4")).empty()) << "a page of its own that is swapped out";
  EXPECT_TRUE(clean_mappings(mapping("1000-2000 rw-p 00000000 fe:00 1 /a")).empty()) << "writable";
  EXPECT_TRUE(clean_mappings(mapping("1000-2000 r--s 00000000 fe:00 1 /a")).empty()) << "shared";
  EXPECT_TRUE(clean_mappings(mapping("1000-2000 r--p 00000000 00:00 0")).empty()) << "no file";
  EXPECT_TRUE(clean_mappings(mapping("1000-2000 r-xp 00000000 00:00 0 [vdso]")).empty()) << "of the kernel";
}

TEST(CleanMappings, WhatIsNotUnderstoodIsLeftOut) {
  EXPECT_TRUE(clean_mappings("").empty());
  EXPECT_TRUE(clean_mappings("\n\n").empty());
  EXPECT_TRUE(clean_mappings(kCode).empty()) << "no figures";
  EXPECT_TRUE(clean_mappings(kCode + "\nRss: 4 kB\nAnonymous: 0 kB\n").empty()) << "no word on swap";
  EXPECT_TRUE(clean_mappings(kCode + "\nRss: 4 kB\nAnonymous: 0\nSwap: 0 kB\n").empty()) << "no unit";
  EXPECT_TRUE(clean_mappings(mapping(kCode, "x")).empty());
  EXPECT_TRUE(clean_mappings(mapping("2000-1000 r-xp 00000000 fe:00 1 /a")).empty());
  EXPECT_TRUE(clean_mappings(mapping("1000-2000 r-xp 00000000 fe:00")).empty());
  EXPECT_TRUE(clean_mappings("Rss: 4 kB\nAnonymous: 0 kB\nSwap: 0 kB\n").empty()) << "figures of nothing";
}

std::size_t resident_file_kb() {
  const auto text = read_file("/proc/self/status");
  if (!text) return 0;
  const std::size_t at = text->find("RssFile:");
  return at == std::string::npos ? 0 : std::stoul(text->substr(at + 8));
}

TEST(ReleaseCleanPages, MemoryFallsAndEverythingStillWorks) {
  const std::size_t before = resident_file_kb();
  const std::size_t given_back = release_clean_pages();
  const std::size_t after = resident_file_kb();
  EXPECT_GT(given_back, 512U * 1024);
  EXPECT_LT(after + 512, before);
  // Code, constants, relocated tables and unwind data of several libraries, all after the release.
  EXPECT_TRUE(std::regex_match("kafka-42", std::regex("[a-z]+-[0-9]+")));
  EXPECT_THROW(static_cast<void>(std::stoi("x")), std::invalid_argument);
  EXPECT_GT(release_clean_pages(), 0U) << "what was used has come back, and can be given back again";
  EXPECT_EQ(std::to_string(4.5).substr(0, 3), "4.5");
}

TEST(ReleaseTimer, WaitsForQuietAndThenForThePeriod) {
  ReleaseTimer timer;
  const MonoTime t0 = MonoTime(1000s);
  EXPECT_FALSE(timer.due(t0)) << "nothing was done yet";
  timer.busy(t0);
  EXPECT_FALSE(timer.due(t0 + 4s));
  timer.busy(t0 + 4s);
  EXPECT_FALSE(timer.due(t0 + 8s)) << "not quiet for long enough";
  EXPECT_TRUE(timer.due(t0 + 9s));
  EXPECT_FALSE(timer.due(t0 + 9s)) << "once";
  timer.busy(t0 + 20s);
  EXPECT_FALSE(timer.due(t0 + 40s)) << "a release a period at most";
  EXPECT_FALSE(timer.due(t0 + 9s + ReleaseTimer::kPeriod - 1s));
  EXPECT_TRUE(timer.due(t0 + 9s + ReleaseTimer::kPeriod));
  EXPECT_TRUE(timer.due(t0 + 9s + 2 * ReleaseTimer::kPeriod)) << "again without anything large";
}

}  // namespace
}  // namespace kro
