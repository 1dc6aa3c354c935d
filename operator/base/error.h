#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kro {

// What may be done after a failure: the only property of an error that queues and loops look at.
enum class Retry {
  kTransient,  // surely not applied: try again later
  kAmbiguous,  // may have been applied: read before writing again
  kConflict,   // a precondition failed: observe again
  kPermanent,  // the same input fails again: tell, do not retry
  kFatal,      // the process cannot go on: exit and be restarted
};

// What happened, in our own words. Adapters map their library's codes to these; nothing above an adapter looks
// at a library's code.
enum class ErrorCode {
  kUnavailable,    // the service cannot be reached, or answered that it cannot serve now
  kTimeout,        // the deadline passed
  kCancelled,      // the stop token fired
  kNotFound,       // node, object or broker does not exist
  kAlreadyExists,  // node or object exists
  kVersion,        // a version or resourceVersion precondition failed
  kNotEmpty,       // a znode has children
  kFenced,         // we are no longer the leader (the check at the head of the multi failed)
  kUnauthorized,   // credentials refused or missing permission
  kInvalid,        // the input is wrong
  kTooLarge,       // over a size limit, local or remote
  kGone,           // too old: a resourceVersion that must be listed again, or an expired session
  kUnsupported,    // the other side does not know this
  kProtocol,       // the other side sent something that cannot be understood
  kInternal,       // an unexpected failure of a library or of ours
};

// A failure with everything a person needs to read and a queue needs to decide.
//
// `op_index` is set for a failed ZooKeeper multi: the 0-based index of the operation that failed.
// `retry_after_ms` is set when the other side asked for a pause.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  Retry retry = Retry::kTransient;
  std::string message;
  std::optional<int> op_index;
  std::optional<int> retry_after_ms;
  std::vector<std::string> context;  // outermost last

  [[nodiscard]] Error with(std::string where) && {
    context.push_back(std::move(where));
    return std::move(*this);
  }

  // "outer: inner: message"
  [[nodiscard]] std::string text() const;
};

std::string_view to_string(ErrorCode code);
std::string_view to_string(Retry retry);

}  // namespace kro
