#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/kube/tls_context.h"
#include "base/result.h"
#include "ports/clock.h"

namespace kro {

struct HttpRequest {
  std::string method;  // "GET", "POST", …
  std::string target;  // path and query, encoded
  std::string body;
  std::string content_type;
  std::string accept = "application/json";
  std::string token;  // bearer; empty: none
};

struct HttpHead {
  int code = 0;
  std::optional<int> retry_after_ms;
};

struct HttpAnswer {
  HttpHead head;
  std::string body;
};

struct HttpConfig {
  std::string server;
  std::string host_header;  // empty: the host of `server`. Also the name that the certificate must have.
  std::string user_agent;
  TlsMaterial tls;
};

// HTTP/1.1 to one server, on cpprestsdk, with that library's traps closed.
//
// The caller waits on a slot of its own with its own limit, never on the library's task; what it leaves behind is
// cancelled and ends by itself. Redirects are not followed. Kept-alive connections are used again; the library
// re-sends a request once when such a connection turns out dead, so every write must stand being sent twice.
//
// Errors (of our own facts, with the library's text as detail): kTimeout the deadline passed, kCancelled the stop
// token fired, kUnavailable no or half an answer, kTooLarge the answer passed 16 MiB. Any HTTP status is an answer.
// Retry is Transient for GET, else Ambiguous. Thread safe.
class HttpTransport {
 public:
  explicit HttpTransport(HttpConfig config);
  ~HttpTransport();
  HttpTransport(const HttpTransport&) = delete;
  HttpTransport& operator=(const HttpTransport&) = delete;

  Result<HttpAnswer> call(const HttpRequest& request, const Deadline& deadline);

  struct Stream {
    milliseconds open_limit;                               // until the head
    milliseconds quiet_limit;                              // between two pieces of the body
    std::function<bool(const HttpHead&)> on_head;          // false: give up
    std::function<bool(std::string_view bytes)> on_bytes;  // false: give up
  };
  // Both functions run on the calling thread; a slow one holds the server back, with at most 256 KiB and one HTTP
  // chunk in memory. Ok: the server ended the body as it should; kCancelled: stopped or given up.
  Status stream(const HttpRequest& request, const Stream& stream, std::stop_token stop);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kro
