#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "adapters/os/files.h"
#include "adapters/os/process_figures.h"
#include "adapters/os/stop_signals.h"
#include "adapters/os/system_clock.h"

namespace kro {
namespace {

TEST(Files, ReadsWholeFilesAndNamesWhatFails) {
  const std::string path = testing::TempDir() + "kro_os_test";
  const std::string text(70'000, 'x');
  std::ofstream(path) << text;
  EXPECT_EQ(read_file(path).value_or(""), text);
  EXPECT_EQ(read_file(path, 70'000).value_or(""), text);
  const auto too_large = read_file(path, 69'999);
  ASSERT_FALSE(too_large);
  EXPECT_EQ(too_large.error().code, ErrorCode::kTooLarge);
  std::remove(path.c_str());

  const auto missing = read_file(path);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().message, "cannot read " + path + ": No such file or directory");
  EXPECT_FALSE(read_file("/proc"));
}

TEST(Files, HostnameIsSomething) { EXPECT_FALSE(hostname().empty()); }

TEST(ProcessFigures, CountsFromTheEndOfTheName) {
  // A process may call itself anything.
  const auto figures = parse_process_stat(
      "42 (a) R 1 (b) S 1 42 42 0 -1 4194304 100 0 0 0 150 50 0 0 20 0 7 0 1000 104857600 2048 18446744073709551615 1 "
      "1\n",
      1'700'000'000, 100, 4096);
  ASSERT_TRUE(figures) << figures.error().text();
  EXPECT_DOUBLE_EQ(figures->cpu_seconds, 2);
  EXPECT_DOUBLE_EQ(figures->start_time_seconds, 1'700'000'010);
  EXPECT_EQ(figures->threads, 7);
  EXPECT_EQ(figures->virtual_bytes, 104857600);
  EXPECT_EQ(figures->resident_bytes, 2048 * 4096);
}

TEST(ProcessFigures, RefusesAnotherForm) {
  for (const char* text :
       {"", "42", "42 (a)", "42 (a) S 1 2 3", "42 (a) S x x x x x x x x x x x x x x x x x x x x x x x"})
    EXPECT_FALSE(parse_process_stat(text, 0, 100, 4096)) << text;
}

TEST(ProcessFigures, OfThisProcess) {
  const auto figures = read_process_figures();
  ASSERT_TRUE(figures) << figures.error().text();
  EXPECT_GT(figures->resident_bytes, 1'000'000);
  EXPECT_GE(figures->virtual_bytes, figures->resident_bytes);
  EXPECT_GE(figures->open_fds, 3);
  EXPECT_GE(figures->max_fds, figures->open_fds);
  EXPECT_GE(figures->threads, 1);
  EXPECT_GT(figures->start_time_seconds, 1'500'000'000);
}

TEST(StopSignals, WaitGivesTheSignal) {
  StopSignals signals;
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);  // blocked, so it waits for us
  EXPECT_EQ(signals.wait({}), SIGTERM);
  ASSERT_EQ(::kill(::getpid(), SIGINT), 0);
  EXPECT_EQ(signals.wait({}), SIGINT);
}

TEST(StopSignals, WaitEndsWhenSomebodyElseStops) {
  StopSignals signals;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(signals.wait(stop.get_token()), std::nullopt);
}

TEST(SystemClock, MonotonicNeverGoesBack) {
  const SystemClock clock;
  const Now first = clock.now();
  const Now second = clock.now();
  EXPECT_GE(second.mono, first.mono);
  EXPECT_GT(epoch_ms(first.wall), 1'500'000'000'000);
}

}  // namespace
}  // namespace kro
