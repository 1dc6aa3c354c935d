#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/kube_api.h"

namespace kro {

// Where the API server is and how we show who we are. Holds secrets: never logged.
struct KubeConnection {
  std::string server;           // https://host:port; http:// only without credentials, or to this machine
  std::string ca_pem;           // the only CA that is trusted …
  std::string ca_file;          // … or the file that holds it, read again for every new connection
  bool insecure = false;        // kubeconfig's insecure-skip-tls-verify: any server is believed
  std::string tls_server_name;  // the name in the server's certificate; empty: the host of `server`
  std::string token;            // bearer token …
  std::string token_file;       // … or the file that holds it, read again every minute and after a 401
  std::string client_cert_pem;
  std::string client_key_pem;
  std::string default_namespace = "default";
  std::string version = "dev";  // of ours, for the User-Agent

  // Limits that only tests change.
  milliseconds watch_open_limit = 30s;   // until the answer's head
  milliseconds watch_quiet_limit = 75s;  // without a byte; servers send a bookmark a minute
};

// Called once a request, on the calling thread: "GET", "200" (or "<error>" without an answer), "host:port".
using RequestObserver = std::function<void(std::string_view method, std::string_view code, std::string_view host)>;

// Reads the current context of a kubeconfig file. kInvalid/Permanent: unreadable or incomplete, with what is
// missing; kUnsupported/Permanent: exec plugins, auth providers, passwords, proxies.
Result<KubeConnection> load_kubeconfig(const std::string& path);
// The pod's service account. kInvalid/Permanent outside a pod.
Result<KubeConnection> in_cluster();

// Sets the size of the HTTP library's process-wide thread pool. Call once from main before make_kube_client(); a
// later call does nothing. Without it the library starts 40 threads.
void init_kube_threads(int threads);

// Connects lazily: a server that is away shows at the first call. Destroy it before main returns, after the last
// call ended.
std::unique_ptr<KubeApi> make_kube_client(KubeConnection connection, RequestObserver observer);

}  // namespace kro
