#include "adapters/kube/http_exchange.h"

#include <gtest/gtest.h>

namespace kro {
namespace {

using News = HttpExchange::News;
using Push = HttpExchange::Push;

class HttpExchangeTest : public testing::Test {
 protected:
  // A look without waiting: the limit is long past.
  News look() { return exchange_.wait(MonoTime{}, {}, bytes_); }
  Push push(std::string_view bytes) {
    return exchange_.push(bytes, [this] { ++resumed_; });
  }

  HttpExchange exchange_;
  std::string bytes_;
  int resumed_ = 0;
};

TEST_F(HttpExchangeTest, TellsHeadThenBytesThenEnd) {
  EXPECT_EQ(look(), News::kTimeout);
  EXPECT_EQ(push("early"), Push::kGoOn);
  EXPECT_EQ(look(), News::kTimeout) << "bytes wait for the head";
  exchange_.set_head({200, std::nullopt});
  EXPECT_EQ(look(), News::kHead);
  EXPECT_EQ(exchange_.head().code, 200);
  EXPECT_EQ(look(), News::kBytes);
  EXPECT_EQ(bytes_, "early");
  push("a");
  push("b");
  exchange_.finish("");
  EXPECT_EQ(look(), News::kBytes);
  EXPECT_EQ(bytes_, "ab");
  EXPECT_EQ(look(), News::kDone);
  EXPECT_EQ(exchange_.failure(), "");
}

TEST_F(HttpExchangeTest, AFailureWithoutHeadIsTheEnd) {
  push("half");
  exchange_.finish("refused");
  EXPECT_EQ(look(), News::kDone);
  EXPECT_EQ(exchange_.failure(), "refused");
}

TEST_F(HttpExchangeTest, TheFirstEndCounts) {
  exchange_.finish("first");
  exchange_.finish("second");
  EXPECT_EQ(exchange_.failure(), "first");
}

TEST_F(HttpExchangeTest, ASlowReaderHoldsTheLibraryBack) {
  exchange_.set_head({200, std::nullopt});
  EXPECT_EQ(look(), News::kHead);
  EXPECT_EQ(push(std::string(HttpExchange::kHighWater, 'x')), Push::kGoOn);
  EXPECT_EQ(push("y"), Push::kPause);
  EXPECT_EQ(resumed_, 0);
  EXPECT_EQ(look(), News::kBytes);
  EXPECT_EQ(bytes_.size(), HttpExchange::kHighWater + 1);
  EXPECT_EQ(resumed_, 1);
  EXPECT_EQ(push("z"), Push::kGoOn);
  EXPECT_EQ(look(), News::kBytes);
  EXPECT_EQ(resumed_, 1) << "once";
}

TEST_F(HttpExchangeTest, AReaderThatLeavesFreesTheLibrary) {
  exchange_.set_head({200, std::nullopt});
  push(std::string(HttpExchange::kHighWater + 1, 'x'));
  exchange_.abandon();
  EXPECT_EQ(resumed_, 1);
  EXPECT_EQ(push("more"), Push::kAbandoned);
}

TEST_F(HttpExchangeTest, AStopIsTold) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(exchange_.wait(MonoTime::max(), stop.get_token(), bytes_), News::kStopped);
}

}  // namespace
}  // namespace kro
