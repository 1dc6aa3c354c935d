#include "raw_https.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace kro {
namespace {

[[noreturn]] void die(const std::string& what) {
  std::fprintf(stderr, "raw connection: %s\n", what.c_str());
  ERR_print_errors_fp(stderr);
  std::exit(1);
}

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
Bio text_bio(const std::string& pem) { return {BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free}; }

void trust(SSL_CTX* context, const std::string& pem) {
  const Bio bio = text_bio(pem);
  if (X509* x = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), x);
    X509_free(x);
  } else {
    die("no CA certificate in the kubeconfig");
  }
}

void identify(SSL_CTX* context, const std::string& cert, const std::string& key) {
  const Bio cert_bio = text_bio(cert);
  const Bio key_bio = text_bio(key);
  X509* x = PEM_read_bio_X509(cert_bio.get(), nullptr, nullptr, nullptr);
  EVP_PKEY* k = PEM_read_bio_PrivateKey(key_bio.get(), nullptr, nullptr, nullptr);
  if (x == nullptr || k == nullptr || SSL_CTX_use_certificate(context, x) != 1 ||
      SSL_CTX_use_PrivateKey(context, k) != 1)
    die("unusable client certificate");
  X509_free(x);
  EVP_PKEY_free(k);
}

int dial(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) die("cannot resolve " + host);
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::connect(fd, found->ai_addr, found->ai_addrlen) != 0) die("cannot connect to " + host);
  ::freeaddrinfo(found);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

}  // namespace

RawHttps::RawHttps(const KubeConnection& to) : token_(to.token) {
  if (!to.server.starts_with("https://")) die("the API server must be https");
  host_ = to.server.substr(8);
  const std::size_t colon = host_.rfind(':');
  const std::string name = host_.substr(0, colon);
  fd_ = dial(name, colon == std::string::npos ? "443" : host_.substr(colon + 1));
  context_ = SSL_CTX_new(TLS_client_method());
  if (context_ == nullptr) die("no TLS context");
  trust(context_, to.ca_pem);
  if (!to.client_cert_pem.empty()) identify(context_, to.client_cert_pem, to.client_key_pem);
  SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
  ssl_ = SSL_new(context_);
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), name.c_str()) != 1) {
    SSL_set1_host(ssl_, name.c_str());
    SSL_set_tlsext_host_name(ssl_, name.c_str());
  }
  if (SSL_set_fd(ssl_, fd_) != 1 || SSL_connect(ssl_) != 1) die("TLS handshake");
}

RawHttps::~RawHttps() {
  SSL_free(ssl_);
  SSL_CTX_free(context_);
  ::close(fd_);
}

void RawHttps::shut() { ::shutdown(fd_, SHUT_RDWR); }

void RawHttps::send(std::string_view method, const std::string& path, std::string_view body) {
  std::string text =
      std::string(method) + ' ' + path + " HTTP/1.1\r\nHost: " + host_ + "\r\nAccept: application/json\r\n";
  if (!token_.empty()) text += "Authorization: Bearer " + token_ + "\r\n";
  if (!body.empty())
    text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  text += "\r\n";
  text += body;
  if (SSL_write(ssl_, text.data(), static_cast<int>(text.size())) != static_cast<int>(text.size())) die("write");
}

bool RawHttps::fill() {
  const int n = SSL_read(ssl_, buffer_.data(), static_cast<int>(buffer_.size()));
  if (n <= 0) return false;
  in_.append(buffer_.data(), static_cast<std::size_t>(n));
  return true;
}

void RawHttps::need(std::size_t bytes) {
  while (in_.size() < bytes)
    if (!fill()) die("the connection ended");
}

std::string RawHttps::take_line() {
  std::size_t end = 0;
  while ((end = in_.find("\r\n")) == std::string::npos) need(in_.size() + 1);
  std::string line = in_.substr(0, end);
  in_.erase(0, end + 2);
  return line;
}

void RawHttps::read_head() {
  const std::string status = take_line();
  chunked_ = false;
  length_ = 0;
  for (std::string line = lower(take_line()); !line.empty(); line = lower(take_line())) {
    if (line == "transfer-encoding: chunked") chunked_ = true;
    if (line.starts_with("content-length: ")) length_ = std::stoul(line.substr(16));
  }
  if (!status.starts_with("HTTP/1.1 2")) {
    if (!chunked_) need(length_);
    die(status + ": " + in_);
  }
}

// Moves one chunk to lines_; false at the last one, or when the stream was cut.
bool RawHttps::next_chunk() {
  while (in_.find("\r\n") == std::string::npos)
    if (!fill()) return false;
  const std::string head = take_line();
  std::size_t size = 0;
  if (std::from_chars(head.data(), head.data() + head.size(), size, 16).ec != std::errc()) die("bad chunk: " + head);
  while (in_.size() < size + 2)
    if (!fill()) return false;
  lines_.append(in_, 0, size);
  in_.erase(0, size + 2);
  return size > 0;
}

std::string RawHttps::call(std::string_view method, const std::string& path, std::string_view body) {
  send(method, path, body);
  read_head();
  std::string out;
  if (chunked_) {
    while (next_chunk()) {
    }
    std::swap(out, lines_);
  } else {
    need(length_);
    out = in_.substr(0, length_);
    in_.erase(0, length_);
  }
  return out;
}

void RawHttps::open_stream(const std::string& path) {
  send("GET", path, {});
  read_head();
  if (!chunked_) die("the watch is not a stream");
}

bool RawHttps::read_line(std::string& line) {
  std::size_t end = 0;
  while ((end = lines_.find('\n')) == std::string::npos)
    if (!next_chunk()) return false;
  line.assign(lines_, 0, end);
  lines_.erase(0, end + 1);
  return true;
}

}  // namespace kro
