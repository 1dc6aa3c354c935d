#pragma once

#include <string>

namespace kro {

struct TlsMaterial {
  std::string ca_pem;   // used when ca_file is empty
  std::string ca_file;  // read at every call, so that a rotated CA is taken up
  std::string client_cert_pem;
  std::string client_key_pem;
  bool insecure = false;
};

// Starts OpenSSL. Before the HTTP library's thread pool exists, so that at exit the pool's threads end first and
// OpenSSL can free what it keeps for each of them.
void init_tls();

// Makes an OpenSSL context (SSL_CTX*) trust the given CA and nothing else, with TLS 1.2 or newer.
//
// The HTTP library has by then loaded the system's CAs; a fresh store takes their place. Called by the library for
// each new connection. Throws std::runtime_error: the library makes that a failed request.
void prepare_tls_context(void* ssl_ctx, const TlsMaterial& material);

}  // namespace kro
