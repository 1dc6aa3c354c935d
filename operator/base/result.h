#pragma once

#include <tl/expected.hpp>

#include "base/error.h"

namespace kro {

// Every fallible function returns one; exceptions end inside an adapter's .cc file.
template <class T>
using Result = tl::expected<T, Error>;

using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, Retry retry, std::string message) {
  Error error;
  error.code = code;
  error.retry = retry;
  error.message = std::move(message);
  return tl::unexpected<Error>(std::move(error));
}

// Bad input: the same input fails again.
[[nodiscard]] inline tl::unexpected<Error> invalid(std::string message) {
  return fail(ErrorCode::kInvalid, Retry::kPermanent, std::move(message));
}

[[nodiscard]] inline tl::unexpected<Error> pass_on(Error error, std::string where) {
  return tl::unexpected<Error>(std::move(error).with(std::move(where)));
}

}  // namespace kro
