#include "adapters/kube/kube_errors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace kro {
namespace {

constexpr std::size_t kLongestMessage = 1024;

struct StatusObject {
  std::string message;
  std::string reason;
  int code = 0;
  std::optional<int> retry_after_ms;
};

std::string cut(std::string_view text) {
  if (text.size() <= kLongestMessage) return std::string(text);
  std::size_t end = kLongestMessage;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside a UTF-8 character
  return std::string(text.substr(0, end)) + "…";
}

std::string string_of(const nlohmann::json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

StatusObject read_status(std::string_view body) {
  StatusObject out;
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object() || string_of(json, "kind") != "Status") {
    out.message = cut(body);
    return out;
  }
  out.message = cut(string_of(json, "message"));
  out.reason = string_of(json, "reason");
  if (const auto code = json.find("code"); code != json.end() && code->is_number_integer()) {
    out.code = static_cast<int>(std::clamp<std::int64_t>(code->get<std::int64_t>(), 0, 999));
  }
  if (const auto details = json.find("details"); details != json.end() && details->is_object()) {
    const auto after = details->find("retryAfterSeconds");
    if (after != details->end() && after->is_number_integer()) {
      const auto whole = std::clamp<std::int64_t>(after->get<std::int64_t>(), 0, 3600);
      if (whole > 0) out.retry_after_ms = static_cast<int>(whole * 1000);
    }
  }
  return out;
}

bool is_etcd_size_error(std::string_view message) {
  return message.find("request is too large") != std::string_view::npos ||
         message.find("trying to send message larger than max") != std::string_view::npos;
}

struct Class {
  ErrorCode code;
  Retry retry;
};

Class classify(int code, const StatusObject& status, bool write) {
  switch (code) {
    case 401:
    case 403: return {ErrorCode::kUnauthorized, Retry::kTransient};
    // Of a write: the object went away. Of a read: a type that the server does not know (yet).
    case 404: return {ErrorCode::kNotFound, write ? Retry::kConflict : Retry::kTransient};
    case 409:
      return {status.reason == "AlreadyExists" ? ErrorCode::kAlreadyExists : ErrorCode::kVersion, Retry::kConflict};
    case 410: return {ErrorCode::kGone, Retry::kConflict};
    case 413: return {ErrorCode::kTooLarge, Retry::kPermanent};
    case 408:
    case 429: return {ErrorCode::kUnavailable, Retry::kTransient};
    default: break;
  }
  if (code >= 500) {
    if (is_etcd_size_error(status.message)) return {ErrorCode::kTooLarge, Retry::kPermanent};
    return {ErrorCode::kUnavailable, write ? Retry::kAmbiguous : Retry::kTransient};
  }
  if (code >= 400) return {ErrorCode::kInvalid, Retry::kPermanent};
  // A redirect is never followed: it would carry our token to a host of its choice.
  return {ErrorCode::kProtocol, Retry::kPermanent};
}

}  // namespace

Error error_of_answer(int code, std::string_view body, std::optional<int> retry_after_ms, bool write) {
  const StatusObject status = read_status(body);
  const Class found = classify(code, status, write);
  Error error;
  error.code = found.code;
  error.retry = found.retry;
  error.message = "HTTP " + std::to_string(code);
  if (!status.message.empty()) error.message += ": " + status.message;
  error.retry_after_ms = retry_after_ms ? retry_after_ms : status.retry_after_ms;
  return error;
}

Error error_of_status_object(std::string_view status_json) {
  const StatusObject status = read_status(status_json);
  // Without a code it is an error of the server's that says nothing: as 500.
  return error_of_answer(status.code == 0 ? 500 : status.code, status_json, std::nullopt, false);
}

}  // namespace kro
