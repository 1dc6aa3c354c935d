#include "adapters/kube/http_transport.h"

// cpprestsdk's macro U would be ours too.
#define _TURN_OFF_PLATFORM_STRING
#include <cpprest/astreambuf.h>
#include <cpprest/http_client.h>
#include <cpprest/streams.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <utility>

#include "adapters/kube/http_exchange.h"
#include "adapters/kube/kube_client.h"

namespace kro {
namespace {

namespace http = web::http;
using ExchangePtr = std::shared_ptr<HttpExchange>;

constexpr std::size_t kLongestAnswer = 16 * 1024 * 1024;
constexpr int kFailuresUntilNewClient = 3;

// Where the library writes the body: every piece goes to the exchange at once.
//
// A put that completes late is how the library is held back: it reads on only after its continuation ran.
class PushSink : public Concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
 public:
  explicit PushSink(ExchangePtr exchange)
      : streambuf_state_manager(std::ios_base::out), exchange_(std::move(exchange)) {}

  [[nodiscard]] bool can_seek() const override { return false; }
  [[nodiscard]] bool has_size() const override { return false; }
  [[nodiscard]] std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  [[nodiscard]] std::size_t in_avail() const override { return 0; }
  [[nodiscard]] pos_type getpos(std::ios_base::openmode) const override { return pos_type(traits::eof()); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return pos_type(traits::eof()); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return pos_type(traits::eof());
  }
  bool acquire(std::uint8_t*& p, std::size_t& n) override {
    p = nullptr;
    n = 0;
    return false;
  }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<int_type> _putc(std::uint8_t c) override {
    (void)_putn(&c, 1);
    return pplx::task_from_result<int_type>(c);
  }
  pplx::task<std::size_t> _putn(const std::uint8_t* data, std::size_t size) override {
    const pplx::task_completion_event<std::size_t> taken;
    const auto outcome =
        exchange_->push({reinterpret_cast<const char*>(data), size}, [taken, size] { taken.set(size); });
    switch (outcome) {
      case HttpExchange::Push::kPause: return pplx::create_task(taken);
      case HttpExchange::Push::kAbandoned:
        return pplx::task_from_exception<std::size_t>(std::runtime_error("nobody reads this answer"));
      case HttpExchange::Push::kGoOn: break;
    }
    return pplx::task_from_result(size);
  }
  pplx::task<int_type> _bumpc() override { return no_char(); }
  int_type _sbumpc() override { return traits::eof(); }
  pplx::task<int_type> _getc() override { return no_char(); }
  int_type _sgetc() override { return traits::eof(); }
  pplx::task<int_type> _nextc() override { return no_char(); }
  pplx::task<int_type> _ungetc() override { return no_char(); }
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override { return pplx::task_from_result<std::size_t>(0); }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}

 private:
  static pplx::task<int_type> no_char() { return pplx::task_from_result<int_type>(traits::eof()); }
  ExchangePtr exchange_;
};

// "Retry-After: 1"; the date form is not used by API servers.
std::optional<int> retry_after_of(const http::http_response& response) {
  const auto header = response.headers().find("Retry-After");
  if (header == response.headers().end()) return std::nullopt;
  int whole = 0;
  const std::string& text = header->second;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (problem != std::errc() || end == text.data() || whole < 0) return std::nullopt;
  return std::min(whole, 3600) * 1000;
}

// Observes `task` for ever: an exception that nobody looks at ends the process. The only places where the library's
// threads run our code besides PushSink.
template <class Task, class OnResult>
void detach(const Task& task, ExchangePtr exchange, OnResult on_result) {
  task.then([exchange = std::move(exchange), on_result = std::move(on_result)](Task finished) noexcept {
    try {
      on_result(finished.get());
    } catch (const std::exception& e) {
      exchange->finish(e.what());
    } catch (...) {
      exchange->finish("unknown exception of the HTTP library");
    }
  });
}

http::http_request library_request(const HttpRequest& request, const std::string& user_agent,
                                   const std::string& host_header) {
  http::http_request out(request.method);
  out.set_request_uri(web::uri(request.target));
  out.headers().add("User-Agent", user_agent);
  out.headers().add("Accept", request.accept);
  if (!host_header.empty()) out.headers().add("Host", host_header);
  if (!request.token.empty()) out.headers().add("Authorization", "Bearer " + request.token);
  // A string body can be read twice, which the library needs for its one re-send.
  if (!request.body.empty()) out.set_body(request.body, request.content_type);
  return out;
}

Error no_answer(const HttpRequest& request, ErrorCode code, std::string message) {
  Error error;
  error.code = code;
  error.retry = request.method == "GET" ? Retry::kTransient : Retry::kAmbiguous;
  error.message = std::move(message);
  return error;
}

}  // namespace

struct HttpTransport::Impl {
  explicit Impl(HttpConfig c) : config(std::move(c)) {}

  // The library's own time-out is per leg and far above ours, which always comes first.
  std::shared_ptr<http::client::http_client> new_client() const {
    http::client::http_client_config settings;
    settings.set_timeout(std::chrono::minutes(10));
    settings.set_max_redirects(0);
    settings.set_validate_certificates(!config.tls.insecure);
    settings.set_ssl_context_callback(
        [tls = config.tls](boost::asio::ssl::context& ctx) { prepare_tls_context(ctx.native_handle(), tls); });
    return std::make_shared<http::client::http_client>(config.server, settings);
  }

  std::shared_ptr<http::client::http_client> client() {
    const std::scoped_lock lock(mutex);
    if (!current || failures >= kFailuresUntilNewClient) {
      current = new_client();
      failures = 0;
    }
    return current;
  }

  void note(bool answered) { failures = answered ? 0 : failures + 1; }

  HttpConfig config;
  std::mutex mutex;
  std::shared_ptr<http::client::http_client> current;
  std::atomic<int> failures{0};
};

namespace {

// One request on its way. Leaving the scope cancels what is not finished.
class Flight {
 public:
  Flight() : exchange_(std::make_shared<HttpExchange>()) {}
  ~Flight() {
    exchange_->abandon();
    if (!finished_) cancel_.cancel();
  }
  Flight(const Flight&) = delete;
  Flight& operator=(const Flight&) = delete;

  void start(http::client::http_client& client, http::http_request request) {
    request.set_response_stream(Concurrency::streams::ostream(
        Concurrency::streams::streambuf<std::uint8_t>(std::make_shared<PushSink>(exchange_))));
    detach(client.request(request, cancel_.get_token()), exchange_,
           [exchange = exchange_](const http::http_response& response) {
             exchange->set_head({response.status_code(), retry_after_of(response)});
             detach(response.content_ready(), exchange,
                    [exchange](const http::http_response&) { exchange->finish(""); });
           });
  }

  HttpExchange& exchange() { return *exchange_; }
  void finished() { finished_ = true; }

 private:
  ExchangePtr exchange_;
  pplx::cancellation_token_source cancel_;
  bool finished_ = false;
};

}  // namespace

HttpTransport::HttpTransport(HttpConfig config) : impl_(std::make_unique<Impl>(std::move(config))) { init_tls(); }
HttpTransport::~HttpTransport() = default;

Result<HttpAnswer> HttpTransport::call(const HttpRequest& request, const Deadline& deadline) {
  using News = HttpExchange::News;
  try {
    const auto client = impl_->client();
    Flight flight;
    flight.start(*client, library_request(request, impl_->config.user_agent, impl_->config.host_header));
    HttpAnswer answer;
    std::string piece;
    while (true) {
      switch (flight.exchange().wait(deadline.at, deadline.stop, piece)) {
        case News::kHead: answer.head = flight.exchange().head(); break;
        case News::kBytes:
          if (answer.body.size() + piece.size() > kLongestAnswer) {
            return tl::unexpected(no_answer(request, ErrorCode::kTooLarge, "the answer is longer than 16 MiB"));
          }
          answer.body.append(piece);
          break;
        case News::kDone: {
          flight.finished();
          const std::string failure = flight.exchange().failure();
          impl_->note(failure.empty());
          if (failure.empty()) return answer;
          return tl::unexpected(no_answer(request, ErrorCode::kUnavailable,
                                          (answer.head.code == 0 ? "no answer: " : "half an answer: ") + failure));
        }
        case News::kTimeout:
          impl_->note(false);
          return tl::unexpected(no_answer(request, ErrorCode::kTimeout, "no answer within the deadline"));
        case News::kStopped: return tl::unexpected(no_answer(request, ErrorCode::kCancelled, "stopped"));
      }
    }
  } catch (const std::exception& e) {
    return tl::unexpected(no_answer(request, ErrorCode::kInternal, e.what()));
  }
}

Status HttpTransport::stream(const HttpRequest& request, const Stream& stream, std::stop_token stop) {
  using News = HttpExchange::News;
  using SteadyClock = std::chrono::steady_clock;
  const auto given_up = [&request] {
    return tl::unexpected(no_answer(request, ErrorCode::kCancelled, "the reader gave up"));
  };
  try {
    const auto client = impl_->client();
    Flight flight;
    flight.start(*client, library_request(request, impl_->config.user_agent, impl_->config.host_header));
    bool open = false;
    std::string piece;
    while (!stop.stop_requested()) {
      const auto limit = open ? stream.quiet_limit : stream.open_limit;
      switch (flight.exchange().wait(SteadyClock::now() + limit, stop, piece)) {
        case News::kHead:
          open = true;
          impl_->note(true);
          if (!stream.on_head(flight.exchange().head())) return given_up();
          break;
        case News::kBytes:
          if (!stream.on_bytes(piece)) return given_up();
          break;
        case News::kDone: {
          flight.finished();
          const std::string failure = flight.exchange().failure();
          if (failure.empty()) return {};
          impl_->note(open);
          return tl::unexpected(
              no_answer(request, ErrorCode::kUnavailable, (open ? "the stream was cut: " : "no answer: ") + failure));
        }
        case News::kTimeout:
          impl_->note(false);
          return tl::unexpected(no_answer(request, ErrorCode::kTimeout,
                                          "nothing from the server for " + std::to_string(limit.count()) + " ms"));
        case News::kStopped: break;
      }
    }
    return tl::unexpected(no_answer(request, ErrorCode::kCancelled, "stopped"));
  } catch (const std::exception& e) {
    return tl::unexpected(no_answer(request, ErrorCode::kInternal, e.what()));
  }
}

void init_kube_threads(int threads) {
  init_tls();
  try {
    crossplat::threadpool::initialize_with_threads(static_cast<std::size_t>(std::max(threads, 1)));
  } catch (const std::exception&) {
    // It runs already: its size cannot change any more.
  }
}

}  // namespace kro
