#pragma once

#include <mutex>
#include <string>

#include "base/time.h"

namespace kro {

// The bearer token of the moment.
//
// Tokens of service accounts live an hour and are replaced in their file, so the file is read again every minute
// and whenever the server refused the token. A file that cannot be read leaves the last token in force. Thread safe.
class TokenSource {
 public:
  TokenSource(std::string fixed, std::string file) : file_(std::move(file)), token_(std::move(fixed)) {}

  // Empty: none.
  [[nodiscard]] std::string get(MonoTime now);
  // After a 401: true if another token than `refused` was found, so that the request is worth repeating.
  [[nodiscard]] bool renew(const std::string& refused, MonoTime now);

 private:
  void read(MonoTime now);

  std::mutex mutex_;
  std::string file_;
  std::string token_;
  MonoTime read_at_{};
  bool read_once_ = false;
};

}  // namespace kro
