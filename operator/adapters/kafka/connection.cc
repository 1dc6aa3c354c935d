#include "adapters/kafka/connection.h"

#include <array>
#include <boost/asio.hpp>
#include <chrono>
#include <vector>

namespace kro::kafka {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

struct Network::Loop {
  asio::io_context io{1};
  // Lives as long as the loop: a resolver that is destroyed while the system's look-up hangs is waited for.
  tcp::resolver resolver{io};
};

Network::Network() : loop_(std::make_unique<Loop>()) {}
Network::~Network() = default;

struct Connection::Socket {
  Network::Loop& loop;
  tcp::socket stream;
  std::string address;
  std::string inbox;  // received, not yet taken
  std::array<char, 64 * 1024> chunk{};
};

namespace {

enum class Waited { kDone, kTimeout, kStopped };

// Runs the loop until `done`, the deadline or the stop. A stop from another thread only calls io_context::stop(),
// which is thread safe.
Waited run_until(asio::io_context& io, const bool& done, const Deadline& deadline) {
  io.restart();
  const std::stop_callback on_stop(deadline.stop, [&io] { io.stop(); });
  while (!done && !deadline.stop.stop_requested() && std::chrono::steady_clock::now() < deadline.at) {
    io.run_one_until(deadline.at);
  }
  if (done) return Waited::kDone;
  return deadline.stop.stop_requested() ? Waited::kStopped : Waited::kTimeout;
}

// Lets the handlers of cancelled operations run, so that none outlives the variables it writes to.
void drain(asio::io_context& io, const bool& done) {
  while (!done) {
    io.restart();
    if (io.run_one() == 0) return;
  }
}

tl::unexpected<Error> gave_up(Waited waited, const std::string& what) {
  if (waited == Waited::kStopped) return fail(ErrorCode::kCancelled, Retry::kTransient, what + ": stopped");
  return fail(ErrorCode::kTimeout, Retry::kTransient, what + ": no answer in time");
}

tl::unexpected<Error> broken(const std::string& what, const error_code& error) {
  const std::string text = error == asio::error::eof ? "the broker closed the connection" : error.message();
  return fail(ErrorCode::kUnavailable, Retry::kTransient, what + ": " + text);
}

Result<tcp::resolver::results_type> resolve(Network::Loop& loop, const HostPort& address, const Deadline& deadline) {
  error_code error;
  const auto numeric = asio::ip::make_address(address.host, error);
  if (!error)
    return tcp::resolver::results_type::create(tcp::endpoint(numeric, address.port), address.host,
                                               std::to_string(address.port));
  // The look-up runs on the resolver's thread and cannot be interrupted: its handler owns what it writes to.
  struct Outcome {
    bool done = false;
    error_code error;
    tcp::resolver::results_type found;
  };
  const auto outcome = std::make_shared<Outcome>();
  loop.resolver.async_resolve(address.host, std::to_string(address.port),
                              [outcome](const error_code& failed, tcp::resolver::results_type found) {
                                outcome->done = true;
                                outcome->error = failed;
                                outcome->found = std::move(found);
                              });
  const Waited waited = run_until(loop.io, outcome->done, deadline);
  if (waited != Waited::kDone) {
    loop.resolver.cancel();
    return gave_up(waited, "looking up " + address.host);
  }
  if (outcome->error) return broken("looking up " + address.host, outcome->error);
  return outcome->found;
}

}  // namespace

Connection::Connection(std::unique_ptr<Socket> socket) : socket_(std::move(socket)) {}
Connection::~Connection() { close(); }

void Connection::close() {
  error_code ignored;
  socket_->stream.close(ignored);
}

Result<std::unique_ptr<Connection>> Connection::open(Network& network, const HostPort& address,
                                                     const Deadline& deadline) {
  Network::Loop& loop = network.loop();
  const auto found = resolve(loop, address, deadline);
  if (!found) return tl::unexpected(found.error());

  auto socket = std::unique_ptr<Socket>(new Socket{loop, tcp::socket(loop.io), address.text(), {}, {}});
  const std::string what = "connecting to " + socket->address;
  bool done = false;
  error_code result;
  asio::async_connect(socket->stream, *found, [&](const error_code& error, const tcp::endpoint&) {
    done = true;
    result = error;
  });
  const Waited waited = run_until(loop.io, done, deadline);
  error_code ignored;
  if (waited != Waited::kDone) {
    socket->stream.close(ignored);
    drain(loop.io, done);
    return gave_up(waited, what);
  }
  if (result) return broken(what, result);
  socket->stream.set_option(tcp::no_delay(true), ignored);
  socket->stream.set_option(asio::socket_base::keep_alive(true), ignored);
  return std::unique_ptr<Connection>(new Connection(std::move(socket)));
}

Status Connection::send(std::string_view frame, const Deadline& deadline) {
  const std::string what = "sending to " + socket_->address;
  bool done = false;
  error_code result;
  std::size_t sent = 0;
  asio::async_write(socket_->stream, asio::buffer(frame.data(), frame.size()),
                    [&](const error_code& error, std::size_t bytes) {
                      done = true;
                      result = error;
                      sent = bytes;
                    });
  const Waited waited = run_until(socket_->loop.io, done, deadline);
  if (waited != Waited::kDone) {
    error_code ignored;
    socket_->stream.cancel(ignored);
    drain(socket_->loop.io, done);
  }
  if (sent == frame.size()) return {};
  close();  // with a part of a frame behind it nothing else can be sent, and the broker drops the part
  if (waited != Waited::kDone) return gave_up(waited, what);
  return broken(what, result);
}

Result<std::optional<std::string>> Connection::take_frame() {
  std::string& inbox = socket_->inbox;
  if (inbox.size() < 4) return std::nullopt;
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length = (length << 8) | static_cast<std::uint8_t>(inbox[i]);
  if (length < 4 || length > kMostAnswerBytes) {
    close();
    return fail(ErrorCode::kProtocol, Retry::kTransient,
                socket_->address + " sent an answer of " + std::to_string(length) +
                    " bytes; is it a plaintext Kafka listener?");
  }
  if (inbox.size() < 4 + static_cast<std::size_t>(length)) return std::nullopt;
  std::string frame = inbox.substr(4, length);
  inbox.erase(0, 4 + static_cast<std::size_t>(length));
  return frame;
}

Result<std::string> Connection::receive(const Deadline& deadline) {
  const std::string what = "waiting for " + socket_->address;
  while (true) {
    auto frame = take_frame();
    if (!frame) return tl::unexpected(frame.error());
    if (*frame) return **std::move(frame);
    bool done = false;
    error_code result;
    std::size_t got = 0;
    socket_->stream.async_read_some(asio::buffer(socket_->chunk), [&](const error_code& error, std::size_t bytes) {
      done = true;
      result = error;
      got = bytes;
    });
    const Waited waited = run_until(socket_->loop.io, done, deadline);
    if (waited != Waited::kDone) {
      error_code ignored;
      socket_->stream.cancel(ignored);
      drain(socket_->loop.io, done);
    }
    socket_->inbox.append(socket_->chunk.data(), got);
    if (got > 0) continue;  // also when the deadline passed meanwhile: what came is looked at first
    if (waited != Waited::kDone) return gave_up(waited, what);
    close();
    return broken(what, result);
  }
}

Result<std::optional<std::string>> Connection::poll() {
  while (true) {
    auto frame = take_frame();
    if (!frame || *frame) return frame;
    error_code error;
    socket_->stream.non_blocking(true, error);
    const std::size_t got = error ? 0 : socket_->stream.read_some(asio::buffer(socket_->chunk), error);
    socket_->inbox.append(socket_->chunk.data(), got);
    if (got > 0) continue;
    if (error == asio::error::would_block || error == asio::error::try_again) return std::nullopt;
    close();
    return broken("reading from " + socket_->address, error);
  }
}

}  // namespace kro::kafka
