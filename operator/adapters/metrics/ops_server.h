#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "adapters/metrics/listen_address.h"
#include "base/result.h"

namespace kro {

// /metrics, /livez and /readyz over plain HTTP/1.1; GET and HEAD only, everything else 404.
//
// Two threads serve, at most 16 connections wait for them, each is closed after one request and given up after 1 s
// without a first byte, 2 s without another: a client can slow the page down, never the process. The callbacks run on
// the server's threads.
class OpsServer {
 public:
  struct Health {
    bool good = true;
    std::string text;  // what is wrong, one line each
  };
  struct Routes {
    std::function<std::string()> metrics;
    std::string metrics_content_type;
    std::function<Health()> livez;
    std::function<Health()> readyz;
  };

  // Binds and serves. An address that cannot be had is kUnavailable/Fatal, with address and reason. "[::]" serves
  // IPv4 too, and falls back to 0.0.0.0 where the machine has no IPv6.
  static Result<std::unique_ptr<OpsServer>> start(const ListenAddress& address, Routes routes);

  // Ends the threads; a request in hand is finished.
  ~OpsServer();
  OpsServer(const OpsServer&) = delete;
  OpsServer& operator=(const OpsServer&) = delete;

  // The port in use, which matters where 0 was asked for.
  [[nodiscard]] std::uint16_t port() const;

 private:
  class Server;
  explicit OpsServer(std::unique_ptr<Server> server);
  std::unique_ptr<Server> server_;
};

}  // namespace kro
