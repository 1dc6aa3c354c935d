#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "adapters/kafka/kafka_client.h"
#include "base/result.h"
#include "ports/clock.h"

namespace kro::kafka {

// The event loop that all connections of one client share. One thread at a time; connections must go first.
class Network {
 public:
  Network();
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  struct Loop;
  Loop& loop() { return *loop_; }

 private:
  std::unique_ptr<Loop> loop_;
};

// A larger answer is taken for rubbish (an HTTP server's "HTTP" reads as 1.2 GB). 100,000 partitions need about 10 MB.
constexpr std::size_t kMostAnswerBytes = 64UL * 1024 * 1024;

// One TCP connection to a broker, TCP_NODELAY, carrying length-prefixed frames. Blocking calls end at the deadline or
// when the stop token fires, and leave the connection usable: what arrived stays buffered.
//
// Errors: kUnavailable (refused, reset, closed), kTimeout, kCancelled, kProtocol (an impossible length). After
// kUnavailable or kProtocol the connection is closed for good.
class Connection {
 public:
  // Resolves and tries each address in turn.
  static Result<std::unique_ptr<Connection>> open(Network& network, const HostPort& address, const Deadline& deadline);
  ~Connection();

  // Every error says Transient: the broker got no whole frame, and will not, for the connection is closed then.
  Status send(std::string_view frame, const Deadline& deadline);
  // One frame without its length.
  Result<std::string> receive(const Deadline& deadline);
  // The same without waiting; nullopt: not yet.
  Result<std::optional<std::string>> poll();
  void close();

 private:
  struct Socket;
  explicit Connection(std::unique_ptr<Socket> socket);
  Result<std::optional<std::string>> take_frame();

  std::unique_ptr<Socket> socket_;
};

}  // namespace kro::kafka
