#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"

namespace kro {

// Maps an HTTP answer other than 2xx, or the Status object of an in-stream ERROR, to our errors as ports/kube_api.h
// lists them. `body` may be anything: a Status object, text, HTML. `write`: the request could change something, so
// that a 5xx leaves open whether it did.
Error error_of_answer(int code, std::string_view body, std::optional<int> retry_after_ms, bool write);

// The Status object of a watch's ERROR line; its code decides.
Error error_of_status_object(std::string_view status_json);

}  // namespace kro
