// A server cannot be tried without sockets: these tests use the loopback interface, on ports that the system chooses.
#include "adapters/metrics/ops_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace kro {
namespace {

int connect_to(std::uint16_t port, bool v6 = false) {
  const int fd = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
  timeval limit{20, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  int rc = 0;
  if (v6) {
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    at.sin6_port = htons(port);
    at.sin6_addr = in6addr_loopback;
    rc = ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  } else {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    rc = ::connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  }
  EXPECT_EQ(rc, 0);
  return fd;
}

// Everything until the server closes.
std::string read_all(int fd) {
  std::string out;
  char buffer[4096];
  while (true) {
    const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
    if (n <= 0) break;
    out.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(fd);
  return out;
}

std::string ask(std::uint16_t port, const std::string& request, bool v6 = false) {
  const int fd = connect_to(port, v6);
  EXPECT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
  return read_all(fd);
}

std::string get(std::uint16_t port, const std::string& path, bool v6 = false) {
  return ask(port, "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n", v6);
}

class OpsServerTest : public testing::Test {
 protected:
  std::unique_ptr<OpsServer> start(const char* address = "127.0.0.1:0") {
    OpsServer::Routes routes;
    routes.metrics = [this] { return metrics_; };
    routes.metrics_content_type = "text/plain; version=0.0.4; charset=utf-8";
    routes.livez = [this] { return live_; };
    routes.readyz = [this] { return ready_; };
    auto server = OpsServer::start(*parse_listen_address(address), std::move(routes));
    EXPECT_TRUE(server) << server.error().text();
    return std::move(*server);
  }
  std::string metrics_ = "a 1\n";
  OpsServer::Health live_;
  OpsServer::Health ready_;
};

TEST_F(OpsServerTest, ServesMetricsWithTheFormatsType) {
  const auto server = start();
  const std::string answer = get(server->port(), "/metrics");
  EXPECT_EQ(answer.find("HTTP/1.1 200"), 0U) << answer;
  EXPECT_NE(answer.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\r\n\r\na 1\n"), std::string::npos) << answer;
}

TEST_F(OpsServerTest, HealthIsA200OrA503WithTheCause) {
  ready_ = {false, "cache is not ready\n"};
  const auto server = start();
  EXPECT_EQ(get(server->port(), "/livez").find("HTTP/1.1 200"), 0U);
  const std::string ready = get(server->port(), "/readyz");
  EXPECT_EQ(ready.find("HTTP/1.1 503"), 0U) << ready;
  EXPECT_NE(ready.find("cache is not ready"), std::string::npos) << ready;
}

TEST_F(OpsServerTest, EverythingElseIsRefused) {
  const auto server = start();
  EXPECT_EQ(get(server->port(), "/").find("HTTP/1.1 404"), 0U);
  EXPECT_EQ(get(server->port(), "/metrics/../etc/passwd").find("HTTP/1.1 404"), 0U);
  EXPECT_EQ(ask(server->port(), "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").find("HTTP/1.1 404"),
            0U);
  EXPECT_EQ(ask(server->port(), "nonsense\r\n\r\n").find("HTTP/1.1 400"), 0U);
}

TEST_F(OpsServerTest, AllAddressesServeBothFamilies) {
  const int probe = ::socket(AF_INET6, SOCK_STREAM, 0);
  if (probe < 0) GTEST_SKIP() << "this machine has no IPv6";
  ::close(probe);
  const auto server = start("[::]:0");
  EXPECT_EQ(get(server->port(), "/livez").find("HTTP/1.1 200"), 0U);
  EXPECT_EQ(get(server->port(), "/livez", true).find("HTTP/1.1 200"), 0U);
}

TEST_F(OpsServerTest, TakenPortIsFatalAndNamed) {
  const auto first = start();
  const ListenAddress taken{"127.0.0.1", first->port(), false};
  const auto second = OpsServer::start(taken, {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().retry, Retry::kFatal);
  EXPECT_EQ(second.error().message, "cannot listen at " + taken.text() +
                                        ": Address already in use (errno 98); choose another address with --listen");
}

TEST_F(OpsServerTest, SilentClientsDoNotStopTheOthers) {
  const auto server = start();
  std::vector<int> silent;
  for (int i = 0; i < 8; ++i) silent.push_back(connect_to(server->port()));
  EXPECT_EQ(get(server->port(), "/livez").find("HTTP/1.1 200"), 0U);
  for (const int fd : silent) ::close(fd);
}

TEST_F(OpsServerTest, ManyClientsAtOnceAreAllAnswered) {
  metrics_.assign(200'000, 'x');
  const auto server = start();
  std::vector<std::string> answers(40);
  std::vector<std::thread> clients;
  for (auto& answer : answers) clients.emplace_back([&] { answer = get(server->port(), "/metrics"); });
  for (auto& client : clients) client.join();
  for (const auto& answer : answers) EXPECT_GT(answer.size(), metrics_.size());
}

TEST_F(OpsServerTest, EndsWhileAClientIsSilent) {
  auto server = start();
  const int fd = connect_to(server->port());
  server.reset();
  ::close(fd);
}

}  // namespace
}  // namespace kro
