#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "adapters/kube/kube_client.h"

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;

namespace kro {

// One HTTP/1.1 connection on a bare TLS socket: the least that can talk to an API server, as what the operator's
// client is compared with. Blocking, one thread at a time; every failure ends the process with its reason.
class RawHttps {
 public:
  explicit RawHttps(const KubeConnection& to);
  ~RawHttps();
  RawHttps(const RawHttps&) = delete;
  RawHttps& operator=(const RawHttps&) = delete;

  // Sends and reads the whole answer; the body. Any status but 2xx ends the process.
  std::string call(std::string_view method, const std::string& path, std::string_view body = {});
  // Opens a stream that read_line() reads from; no other call follows.
  void open_stream(const std::string& path);
  // The next line of a stream, without its end; false at the end of the stream.
  bool read_line(std::string& line);
  // Ends a read that waits in another thread.
  void shut();

 private:
  void send(std::string_view method, const std::string& path, std::string_view body);
  void read_head();
  bool fill();
  void need(std::size_t bytes);
  std::string take_line();
  bool next_chunk();

  std::string host_;
  std::string token_;
  int fd_ = -1;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  std::string in_;     // read from the socket and not yet used
  std::string lines_;  // of a stream, chunks removed
  bool chunked_ = false;
  std::size_t length_ = 0;
  std::vector<char> buffer_ = std::vector<char>(64UL * 1024);
};

}  // namespace kro
