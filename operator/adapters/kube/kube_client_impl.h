#pragma once

#include <string>

#include "adapters/kube/http_transport.h"
#include "adapters/kube/kube_client.h"
#include "adapters/kube/token_source.h"

namespace kro {

// KubeApi over HttpTransport: URLs, patches, the watch protocol, the token.
class KubeClient final : public KubeApi {
 public:
  KubeClient(KubeConnection connection, RequestObserver observer);

  Status watch(const KubeResource& resource, const KubeWatchOptions& options, const KubeWatchSink& sink,
               std::stop_token stop) override;
  Result<std::optional<std::string>> get(const KubeResource& resource, const KubeName& name,
                                         const Deadline& deadline) override;
  Result<KubeMeta> put_status(const KubeResource& resource, const KubeName& name, const std::string& resource_version,
                              const std::string& status_json, const Deadline& deadline) override;
  Result<KubeMeta> put_finalizers(const KubeResource& resource, const KubeName& name,
                                  const std::string& resource_version, const std::string& finalizers_json,
                                  const Deadline& deadline) override;
  Result<std::string> create(const KubeResource& resource, const std::string& ns, const std::string& object_json,
                             const Deadline& deadline) override;
  Result<std::string> replace(const KubeResource& resource, const KubeName& name, const std::string& object_json,
                              const Deadline& deadline) override;
  Result<std::string> merge_patch(const KubeResource& resource, const KubeName& name, const std::string& patch_json,
                                  const Deadline& deadline) override;

 private:
  // Sends with the token, once more after a 401 if there is another token by then. Any 2xx is ok.
  Result<HttpAnswer> send(HttpRequest request, const Deadline& deadline);
  Result<KubeMeta> patch_meta(std::string target, std::string patch, const Deadline& deadline);
  Status watch_once(const HttpRequest& request, const KubeWatchSink& sink, const std::stop_token& stop, int& code);
  void observe(const std::string& method, int code) const;

  KubeConnection connection_;
  RequestObserver observer_;
  std::string host_;
  TokenSource token_;
  // Watches keep their connections to themselves, so that unary calls never find a stale one of theirs.
  HttpTransport unary_;
  HttpTransport streams_;
};

}  // namespace kro
