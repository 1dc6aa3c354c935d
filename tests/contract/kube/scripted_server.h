#pragma once

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kro::contract {

// A plain HTTP server on 127.0.0.1 that answers byte by byte as a test says, faults included.
class ScriptedServer {
 public:
  class Connection {
   public:
    Connection(int fd, const std::stop_token& stop) : fd_(fd), stop_(stop) {}
    // The next request's head and body; empty: closed, or the server stops.
    std::string read_request() {
      while (true) {
        const auto head_end = buffer_.find("\r\n\r\n");
        if (head_end != std::string::npos) {
          std::size_t length = head_end + 4;
          const auto at = buffer_.find("Content-Length:");
          if (at != std::string::npos && at < head_end) length += std::stoul(buffer_.substr(at + 15));
          if (buffer_.size() >= length) {
            std::string out = buffer_.substr(0, length);
            buffer_.erase(0, length);
            return out;
          }
        }
        if (!readable()) return {};
        char piece[4096];
        const ssize_t n = ::recv(fd_, piece, sizeof piece, 0);
        if (n <= 0) return {};
        buffer_.append(piece, static_cast<std::size_t>(n));
      }
    }
    // False: the client is gone.
    bool send(std::string_view bytes) {
      return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
    }
    void answer(const std::string& status, const std::string& body, const std::string& headers = "") {
      send("HTTP/1.1 " + status + "\r\n" + headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body);
    }
    void chunk(const std::string& bytes) {
      char size[32];
      std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
      send(size + bytes + "\r\n");
    }
    // Until the client is gone or the server stops.
    void stay_silent() {
      while (readable()) {
        char piece[256];
        if (::recv(fd_, piece, sizeof piece, 0) <= 0) return;
      }
    }

   private:
    bool readable() {
      while (!stop_.stop_requested()) {
        pollfd entry{fd_, POLLIN, 0};
        if (::poll(&entry, 1, 50) > 0) return true;
      }
      return false;
    }
    int fd_;
    std::stop_token stop_;
    std::string buffer_;
  };

  explicit ScriptedServer(std::function<void(Connection&)> script) : script_(std::move(script)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    (void)::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    (void)::listen(listener_, 16);
    (void)::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  ~ScriptedServer() {
    thread_.request_stop();
    thread_.join();
    for (auto& connection : connections_) {
      connection.request_stop();
      connection.join();
    }
    ::close(listener_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] int connections() const { return count_; }

 private:
  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd entry{listener_, POLLIN, 0};
      if (::poll(&entry, 1, 50) <= 0) continue;
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) continue;
      ++count_;
      connections_.emplace_back([this, fd](const std::stop_token& ending) {
        Connection connection(fd, ending);
        script_(connection);
        ::close(fd);
      });
    }
  }

  std::function<void(Connection&)> script_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> count_{0};
  std::vector<std::jthread> connections_;
  std::jthread thread_;
};

}  // namespace kro::contract
