#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "adapters/kafka/kafka_client.h"
#include "adapters/kafka/wire.h"

namespace kro::kafka {

struct ScriptedRequest {
  std::int16_t api = 0;
  std::int16_t version = 0;
  std::int32_t correlation = 0;
  int connection = 0;  // from 1, in the order in which they were accepted
};

// A TCP server on 127.0.0.1 that answers Kafka requests as a function says: for answers that real brokers give seldom,
// late or never. The function runs on the server's thread and gives a whole frame; nullopt: none; "": hang up.
class ScriptedBroker {
 public:
  using Script = std::function<std::optional<std::string>(const ScriptedRequest&)>;

  explicit ScriptedBroker(Script script) : script_(std::move(script)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, generic, size) != 0 || ::listen(listener_, 16) != 0 ||
        ::getsockname(listener_, generic, &size) != 0)
      throw std::runtime_error("no port for the scripted broker");
    address_ = {"127.0.0.1", ntohs(address.sin_port)};
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedBroker() {
    stop_ = true;
    thread_.join();
    for (const auto& [number, fd] : open_) ::close(fd);
    ::close(listener_);
  }
  ScriptedBroker(const ScriptedBroker&) = delete;
  ScriptedBroker& operator=(const ScriptedBroker&) = delete;

  [[nodiscard]] const HostPort& address() const { return address_; }

  // Out of turn, from any thread.
  void say(int connection, const std::string& bytes) {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(connection);
    if (found != open_.end()) (void)!::send(found->second, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // At once; the descriptor itself is closed by the server's thread, which may be polling it.
  void hang_up(int connection) {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(connection);
    if (found != open_.end()) ::shutdown(found->second, SHUT_RDWR);
  }
  // Of one API, so far.
  [[nodiscard]] std::vector<ScriptedRequest> requests(std::int16_t api) const {
    const std::lock_guard lock(mutex_);
    std::vector<ScriptedRequest> out;
    for (const ScriptedRequest& request : requests_)
      if (request.api == api) out.push_back(request);
    return out;
  }

 private:
  void serve() {
    std::map<int, std::string> inbox;
    int accepted = 0;
    while (!stop_) {
      std::vector<pollfd> fds = {{listener_, POLLIN, 0}};
      std::vector<int> numbers = {0};
      {
        const std::lock_guard lock(mutex_);
        for (const auto& [number, fd] : open_) {
          fds.push_back({fd, POLLIN, 0});
          numbers.push_back(number);
        }
      }
      (void)::poll(fds.data(), fds.size(), 10);
      for (std::size_t i = 0; i < fds.size(); ++i) {
        if (fds[i].revents == 0) continue;
        if (i == 0) {
          const std::lock_guard lock(mutex_);
          open_[++accepted] = ::accept(listener_, nullptr, nullptr);
        } else {
          read_from(numbers[i], fds[i].fd, inbox[numbers[i]]);
        }
      }
    }
  }

  void read_from(int number, int fd, std::string& inbox) {
    char chunk[4096];
    const auto got = ::recv(fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got <= 0) {
      const std::lock_guard lock(mutex_);
      ::close(fd);
      open_.erase(number);
      return;
    }
    inbox.append(chunk, static_cast<std::size_t>(got));
    while (inbox.size() >= 4) {
      Reader in(inbox, Encoding::kClassic);
      const auto length = static_cast<std::size_t>(in.i32());
      if (inbox.size() < 4 + length) return;
      const ScriptedRequest request{in.i16(), in.i16(), in.i32(), number};
      inbox.erase(0, 4 + length);
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      const auto answer = script_(request);
      if (answer && answer->empty()) return hang_up(number);
      if (answer) say(number, *answer);
    }
  }

  Script script_;
  int listener_;
  HostPort address_;
  mutable std::mutex mutex_;
  std::map<int, int> open_;  // connection → fd
  std::vector<ScriptedRequest> requests_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace kro::kafka
