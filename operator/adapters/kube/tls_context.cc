#include "adapters/kube/tls_context.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>

namespace kro {
namespace {

template <auto Free>
struct Deleter {
  template <class T>
  void operator()(T* p) const {
    Free(p);
  }
};
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free>>;
using X509Ptr = std::unique_ptr<X509, Deleter<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;

BioPtr memory(const std::string& text) { return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

X509Ptr next_certificate(BIO* bio) { return X509Ptr(PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)); }

void trust_only(SSL_CTX* ctx, const std::string& ca_pem) {
  X509_STORE* store = X509_STORE_new();
  if (store == nullptr) throw std::runtime_error("OpenSSL: no memory for a certificate store");
  SSL_CTX_set_cert_store(ctx, store);  // takes ownership
  const BioPtr bio = memory(ca_pem);
  int count = 0;
  while (const X509Ptr certificate = next_certificate(bio.get())) {
    if (X509_STORE_add_cert(store, certificate.get()) == 1) ++count;
  }
  ERR_clear_error();  // the end of the text is one
  if (count == 0) throw std::runtime_error("the API server's CA holds no certificate");
}

void use_client_certificate(SSL_CTX* ctx, const TlsMaterial& material) {
  const BioPtr chain = memory(material.client_cert_pem);
  const X509Ptr own = next_certificate(chain.get());
  if (!own || SSL_CTX_use_certificate(ctx, own.get()) != 1) {
    throw std::runtime_error("the client certificate cannot be read");
  }
  while (X509Ptr next = next_certificate(chain.get())) {
    if (SSL_CTX_add0_chain_cert(ctx, next.get()) == 1) (void)next.release();
  }
  ERR_clear_error();
  const BioPtr key_text = memory(material.client_key_pem);
  const KeyPtr key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  if (!key || SSL_CTX_use_PrivateKey(ctx, key.get()) != 1 || SSL_CTX_check_private_key(ctx) != 1) {
    throw std::runtime_error("the client key cannot be read or is not the certificate's");
  }
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace

void init_tls() { OPENSSL_init_ssl(0, nullptr); }

void prepare_tls_context(void* ssl_ctx, const TlsMaterial& material) {
  auto* ctx = static_cast<SSL_CTX*>(ssl_ctx);
  SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
  if (!material.insecure) trust_only(ctx, material.ca_file.empty() ? material.ca_pem : read_file(material.ca_file));
  if (!material.client_cert_pem.empty()) use_client_certificate(ctx, material);
}

}  // namespace kro
