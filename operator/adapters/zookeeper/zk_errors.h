#pragma once

#include <string>

#include "adapters/zookeeper/op_table.h"

namespace kro::zk {

// How far an operation had come when it failed: decides between Transient and Ambiguous.
enum class Stage {
  kNotSent,
  kReadSent,
  kWriteSent,
};

Error zk_error(Code code, Stage stage, std::string what);
// For a call that got no answer: deadline, stop token, session ended.
Error zk_error(ErrorCode code, Stage stage, std::string what);

}  // namespace kro::zk
