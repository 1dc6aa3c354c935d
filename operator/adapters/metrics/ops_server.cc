#include "adapters/metrics/ops_server.h"

#include <arpa/inet.h>
#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kro {
namespace {

constexpr std::size_t kThreads = 2;
constexpr std::size_t kMostWaiting = 16;
constexpr int kBacklog = 32;

// A fixed pool with a bounded queue. When it is full the accepting thread waits, and the kernel's backlog holds the
// rest off.
class BoundedPool : public httplib::TaskQueue {
 public:
  BoundedPool() {
    for (std::size_t i = 0; i < kThreads; ++i) threads_.emplace_back([this] { work(); });
  }

  void enqueue(std::function<void()> task) override {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [this] { return tasks_.size() < kMostWaiting || ended_; });
    tasks_.push_back(std::move(task));
    lock.unlock();
    more_.notify_one();
  }

  void shutdown() override {
    {
      const std::scoped_lock lock(mutex_);
      ended_ = true;
    }
    more_.notify_all();
    room_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

 private:
  void work() {
    while (true) {
      std::function<void()> task;
      {
        std::unique_lock lock(mutex_);
        more_.wait(lock, [this] { return !tasks_.empty() || ended_; });
        if (tasks_.empty()) return;
        task = std::move(tasks_.front());
        tasks_.pop_front();
      }
      room_.notify_one();
      try {
        task();
      } catch (const std::exception&) {
        continue;  // the connection is closed; the next one is served
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable more_;
  std::condition_variable room_;
  std::deque<std::function<void()>> tasks_;
  std::vector<std::thread> threads_;
  bool ended_ = false;
};

tl::unexpected<Error> cannot_listen(const ListenAddress& address, int number) {
  return fail(ErrorCode::kUnavailable, Retry::kFatal,
              "cannot listen at " + address.text() + ": " + std::strerror(number) + " (errno " +
                  std::to_string(number) + "); choose another address with --listen");
}

// A bound and listening socket, with the reason where there is none (the library's own binding tells only yes or no).
Result<int> listening_socket(const ListenAddress& address) {
  const int fd = ::socket(address.v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    if (errno == EAFNOSUPPORT && address.host == "::") return listening_socket({"0.0.0.0", address.port, false});
    return cannot_listen(address, errno);
  }
  const int one = 1;
  const int zero = 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  int rc = 0;
  if (address.v6) {
    if (address.host == "::") ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
    sockaddr_in6 at{};
    at.sin6_family = AF_INET6;
    at.sin6_port = htons(address.port);
    ::inet_pton(AF_INET6, address.host.c_str(), &at.sin6_addr);
    rc = ::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  } else {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(address.port);
    ::inet_pton(AF_INET, address.host.c_str(), &at.sin_addr);
    rc = ::bind(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at);
  }
  if (rc == 0) rc = ::listen(fd, kBacklog);
  if (rc == 0) return fd;
  const int number = errno;
  ::close(fd);
  return cannot_listen(address, number);
}

std::uint16_t port_of(int fd) {
  sockaddr_storage at{};
  socklen_t size = sizeof at;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0) return 0;
  return ntohs(at.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&at)->sin6_port
                                        : reinterpret_cast<const sockaddr_in*>(&at)->sin_port);
}

void answer(const OpsServer::Health& health, httplib::Response& response) {
  response.status = health.good ? 200 : 503;
  response.set_content((health.text.empty() ? std::string(health.good ? "ok" : "not ok") : health.text) + "\n",
                       "text/plain; charset=utf-8");
}

}  // namespace

class OpsServer::Server : public httplib::Server {
 public:
  Server(int fd, Routes routes) : port_(port_of(fd)), routes_(std::move(routes)) {
    svr_sock_ = fd;
    new_task_queue = [] { return new BoundedPool(); };
    set_keep_alive_max_count(1);
    set_keep_alive_timeout(1);  // how long the first byte may take
    set_read_timeout(2, 0);
    set_write_timeout(5, 0);
    set_payload_max_length(1024);
    Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
      response.set_content(routes_.metrics(), routes_.metrics_content_type.c_str());
    });
    Get("/livez", [this](const httplib::Request&, httplib::Response& response) { answer(routes_.livez(), response); });
    Get("/readyz",
        [this](const httplib::Request&, httplib::Response& response) { answer(routes_.readyz(), response); });
    thread_ = std::thread([this] {
      listen_after_bind();
      ended_ = true;
    });
    // stop() before the loop has begun would be lost.
    while (!is_running() && !ended_) std::this_thread::yield();
  }

  ~Server() override {
    stop();
    thread_.join();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  const std::uint16_t port_;
  Routes routes_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

OpsServer::OpsServer(std::unique_ptr<Server> server) : server_(std::move(server)) {}
OpsServer::~OpsServer() = default;
std::uint16_t OpsServer::port() const { return server_->port(); }

Result<std::unique_ptr<OpsServer>> OpsServer::start(const ListenAddress& address, Routes routes) {
  const auto fd = listening_socket(address);
  if (!fd) return tl::unexpected<Error>(fd.error());
  try {
    return std::unique_ptr<OpsServer>(new OpsServer(std::make_unique<Server>(*fd, std::move(routes))));
  } catch (const std::exception& error) {
    ::close(*fd);
    return fail(ErrorCode::kInternal, Retry::kFatal,
                "cannot start the server at " + address.text() + ": " + error.what());
  }
}

}  // namespace kro
