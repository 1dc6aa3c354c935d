#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ports/kube_api.h"

namespace kro::contract {

// The API server of one parameter of the suite, and what people would do with kubectl.
class KubeWorld {
 public:
  virtual ~KubeWorld() = default;
  virtual KubeApi& api() = 0;
  // A namespace that no other run uses.
  [[nodiscard]] virtual std::string ns() const = 0;
  virtual Result<KubeMeta> apply(const std::string& manifest_json) = 0;
  virtual Status erase(const KubeResource& resource, const KubeName& name) = 0;
  // Makes the version "1" one that cannot be watched from.
  virtual void expire_first_version() = 0;
  [[nodiscard]] virtual bool is_real() const = 0;
};

std::unique_ptr<KubeWorld> make_fake_world();
// Of KUBECONFIG; only where KRO_TEST_REAL_KUBE=1, as it writes to that cluster.
std::unique_ptr<KubeWorld> make_real_world();
// "fake", and "real" where it is asked for.
std::vector<std::string> world_names();
std::unique_ptr<KubeWorld> make_world(const std::string& name);

}  // namespace kro::contract
