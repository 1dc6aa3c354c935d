#include "adapters/kube/kube_errors.h"

#include <gtest/gtest.h>

#include <string>

namespace kro {
namespace {

std::string status_of(int code, const std::string& reason, const std::string& message, const std::string& more = "") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":")" + message + R"(","reason":")" + reason +
         R"(","code":)" + std::to_string(code) + more + "}";
}

struct Case {
  int code;
  std::string body;
  bool write;
  ErrorCode expected;
  Retry retry;
};

TEST(KubeErrorsTest, MapsEveryAnswer) {
  const std::vector<Case> cases = {
      {401, status_of(401, "Unauthorized", "Unauthorized"), false, ErrorCode::kUnauthorized, Retry::kTransient},
      {403, status_of(403, "Forbidden", "no"), true, ErrorCode::kUnauthorized, Retry::kTransient},
      {404, "404 page not found\n", false, ErrorCode::kNotFound, Retry::kTransient},
      {404, status_of(404, "NotFound", "x"), true, ErrorCode::kNotFound, Retry::kConflict},
      {409, status_of(409, "Conflict", "x"), true, ErrorCode::kVersion, Retry::kConflict},
      {409, status_of(409, "AlreadyExists", "x"), true, ErrorCode::kAlreadyExists, Retry::kConflict},
      {410, status_of(410, "Expired", "x"), false, ErrorCode::kGone, Retry::kConflict},
      {400, status_of(400, "BadRequest", "x"), true, ErrorCode::kInvalid, Retry::kPermanent},
      {415, "", true, ErrorCode::kInvalid, Retry::kPermanent},
      {422, status_of(422, "Invalid", "x"), true, ErrorCode::kInvalid, Retry::kPermanent},
      {413, status_of(413, "RequestEntityTooLarge", "x"), true, ErrorCode::kTooLarge, Retry::kPermanent},
      {500, status_of(500, "", "etcdserver: request is too large"), true, ErrorCode::kTooLarge, Retry::kPermanent},
      {500, status_of(500, "", "rpc error: code = ResourceExhausted desc = trying to send message larger than max (1)"),
       true, ErrorCode::kTooLarge, Retry::kPermanent},
      {500, status_of(500, "InternalError", "x"), true, ErrorCode::kUnavailable, Retry::kAmbiguous},
      {503, "", false, ErrorCode::kUnavailable, Retry::kTransient},
      {504, status_of(504, "Timeout", "Too large resource version"), false, ErrorCode::kUnavailable, Retry::kTransient},
      {429, status_of(429, "TooManyRequests", "x"), true, ErrorCode::kUnavailable, Retry::kTransient},
      {302, "<html>", true, ErrorCode::kProtocol, Retry::kPermanent},
  };
  for (const Case& one : cases) {
    const Error error = error_of_answer(one.code, one.body, std::nullopt, one.write);
    EXPECT_EQ(error.code, one.expected) << one.code << " " << one.body;
    EXPECT_EQ(error.retry, one.retry) << one.code << " " << one.body;
    EXPECT_NE(error.message.find(std::to_string(one.code)), std::string::npos);
  }
}

TEST(KubeErrorsTest, TakesThePauseFromHeaderOrDetails) {
  const std::string body = status_of(429, "TooManyRequests", "x", R"(,"details":{"retryAfterSeconds":2})");
  EXPECT_EQ(error_of_answer(429, body, std::nullopt, false).retry_after_ms, 2000);
  EXPECT_EQ(error_of_answer(429, body, 1000, false).retry_after_ms, 1000);
  EXPECT_FALSE(error_of_answer(429, "", std::nullopt, false).retry_after_ms.has_value());
  const std::string huge = status_of(429, "x", "x", R"(,"details":{"retryAfterSeconds":99999999999})");
  EXPECT_EQ(error_of_answer(429, huge, std::nullopt, false).retry_after_ms, 3'600'000);
}

TEST(KubeErrorsTest, LongAndStrangeBodiesAreCut) {
  std::string umlauts;
  while (umlauts.size() < 5000) umlauts += "ü";
  const Error error = error_of_answer(422, umlauts, std::nullopt, true);
  EXPECT_LT(error.message.size(), 1100U);
  EXPECT_NE(error.message.find("ü…"), std::string::npos);
  const std::string zero("\0\xFF{", 3);
  EXPECT_EQ(error_of_answer(500, zero, std::nullopt, false).code, ErrorCode::kUnavailable);
}

TEST(KubeErrorsTest, AnInStreamErrorIsJudgedByItsCode) {
  EXPECT_EQ(error_of_status_object(status_of(410, "Expired", "too old resource version: 1 (823)")).code,
            ErrorCode::kGone);
  const Error busy = error_of_status_object(status_of(429, "x", "x", R"(,"details":{"retryAfterSeconds":1})"));
  EXPECT_EQ(busy.code, ErrorCode::kUnavailable);
  EXPECT_EQ(busy.retry_after_ms, 1000);
  EXPECT_EQ(error_of_status_object("{}").code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace kro
