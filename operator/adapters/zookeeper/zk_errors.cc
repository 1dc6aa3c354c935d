#include "adapters/zookeeper/zk_errors.h"

namespace kro::zk {
namespace {

struct Meaning {
  ErrorCode code;
  Retry retry;
  const char* text;
};

// `unanswered`: what may be said of an operation whose fate is unknown.
Meaning meaning_of(Code code, Retry unanswered) {
  switch (code) {
    case Code::kNoNode: return {ErrorCode::kNotFound, Retry::kConflict, "no such node"};
    case Code::kNodeExists: return {ErrorCode::kAlreadyExists, Retry::kConflict, "the node exists"};
    case Code::kBadVersion: return {ErrorCode::kVersion, Retry::kConflict, "the node has another version"};
    case Code::kNotEmpty: return {ErrorCode::kNotEmpty, Retry::kConflict, "the node has children"};
    case Code::kNoAuth: return {ErrorCode::kUnauthorized, Retry::kPermanent, "the node's ACL forbids it"};
    case Code::kInvalidAcl: return {ErrorCode::kUnauthorized, Retry::kPermanent, "the server refused the ACL"};
    case Code::kAuthFailed: return {ErrorCode::kUnauthorized, Retry::kPermanent, "credentials refused"};
    case Code::kLoginRequired: return {ErrorCode::kUnauthorized, Retry::kPermanent, "the server requires a login"};
    case Code::kBadArguments: return {ErrorCode::kInvalid, Retry::kPermanent, "bad arguments"};
    case Code::kEphemeralParent: return {ErrorCode::kInvalid, Retry::kPermanent, "the parent is ephemeral"};
    case Code::kConnectionLoss: return {ErrorCode::kUnavailable, unanswered, "connection lost"};
    case Code::kExpired: return {ErrorCode::kGone, unanswered, "session expired"};
    case Code::kDeadHandle: return {ErrorCode::kGone, Retry::kTransient, "session ended"};
    case Code::kClosing: return {ErrorCode::kCancelled, unanswered, "session closed"};
    case Code::kNotServed: return {ErrorCode::kUnavailable, Retry::kTransient, "the server cannot serve this now"};
    case Code::kOk:
    case Code::kOther: break;
  }
  return {ErrorCode::kInternal, unanswered, "unexpected answer of the ZooKeeper client"};
}

Retry unanswered(Stage stage) { return stage == Stage::kWriteSent ? Retry::kAmbiguous : Retry::kTransient; }

Error make(ErrorCode code, Retry retry, std::string message, std::string what) {
  Error error;
  error.code = code;
  error.retry = retry;
  error.message = std::move(message);
  return std::move(error).with(std::move(what));
}

}  // namespace

Error zk_error(Code code, Stage stage, std::string what) {
  const Meaning meaning = meaning_of(code, unanswered(stage));
  return make(meaning.code, meaning.retry, meaning.text, std::move(what));
}

Error zk_error(ErrorCode code, Stage stage, std::string what) {
  if (code == ErrorCode::kUnauthorized) return make(code, Retry::kPermanent, "credentials refused", std::move(what));
  const char* message = "connection lost";
  if (code == ErrorCode::kTimeout) message = "no answer before the deadline";
  if (code == ErrorCode::kCancelled) message = "given up: stopped or session closed";
  if (code == ErrorCode::kGone) message = "session expired";
  return make(code, unanswered(stage), message, std::move(what));
}

}  // namespace kro::zk
