#include "base/error.h"

namespace kro {

std::string Error::text() const {
  std::string out;
  for (auto it = context.rbegin(); it != context.rend(); ++it) {
    out += *it;
    out += ": ";
  }
  out += message.empty() ? std::string(to_string(code)) : message;
  return out;
}

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kTimeout: return "timeout";
    case ErrorCode::kCancelled: return "cancelled";
    case ErrorCode::kNotFound: return "not found";
    case ErrorCode::kAlreadyExists: return "already exists";
    case ErrorCode::kVersion: return "version conflict";
    case ErrorCode::kNotEmpty: return "not empty";
    case ErrorCode::kFenced: return "fenced";
    case ErrorCode::kUnauthorized: return "not authorized";
    case ErrorCode::kInvalid: return "invalid";
    case ErrorCode::kTooLarge: return "too large";
    case ErrorCode::kGone: return "gone";
    case ErrorCode::kUnsupported: return "unsupported";
    case ErrorCode::kProtocol: return "protocol error";
    case ErrorCode::kInternal: return "internal error";
  }
  return "unknown";
}

std::string_view to_string(Retry retry) {
  switch (retry) {
    case Retry::kTransient: return "transient";
    case Retry::kAmbiguous: return "ambiguous";
    case Retry::kConflict: return "conflict";
    case Retry::kPermanent: return "permanent";
    case Retry::kFatal: return "fatal";
  }
  return "unknown";
}

}  // namespace kro
