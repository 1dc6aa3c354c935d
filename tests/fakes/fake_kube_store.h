#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ports/kube_api.h"

namespace kro {

// The objects and the history behind FakeKube: what a real API server does to them, without faults or threads.
class FakeKubeStore {
 public:
  using Json = nlohmann::json;
  struct Change {
    std::int64_t version = 0;
    KubeWatchEvent::Type type = KubeWatchEvent::Type::kAdded;
    std::string collection;
    KubeName name;
    std::string object;
  };

  explicit FakeKubeStore(std::function<WallTime()> wall) : wall_(std::move(wall)) {}

  [[nodiscard]] static std::string collection(const KubeResource& resource) {
    return resource.group + "/" + resource.plural;
  }
  // The resource of a manifest's apiVersion and kind; nullopt: not one that the fake knows.
  [[nodiscard]] static std::optional<KubeResource> resource_of(const Json& manifest);

  [[nodiscard]] const Json* find(const KubeResource& resource, const KubeName& name) const;
  [[nodiscard]] std::vector<std::pair<KubeName, const Json*>> list(const KubeResource& resource,
                                                                   const std::string& ns) const;
  Result<Json> create(const KubeResource& resource, const std::string& ns, Json object);
  // PUT: metadata.resourceVersion decides, and only Events and custom resources may leave it out.
  Result<Json> replace(const KubeResource& resource, const KubeName& name, Json object);
  Result<Json> merge_patch(const KubeResource& resource, const KubeName& name, const Json& patch);
  Result<Json> put_status(const KubeResource& resource, const KubeName& name, const std::string& version, Json status);
  Result<Json> put_finalizers(const KubeResource& resource, const KubeName& name, const std::string& version,
                              Json finalizers);
  Status erase(const KubeResource& resource, const KubeName& name);

  [[nodiscard]] std::int64_t version() const { return version_; }
  // Watching from an older version is refused with 410.
  [[nodiscard]] std::int64_t oldest() const { return oldest_; }
  void expire() { oldest_ = ++version_; }
  [[nodiscard]] const std::vector<Change>& history() const { return history_; }

 private:
  using Objects = std::map<KubeName, Json>;
  Result<Json*> at_version(const KubeResource& resource, const KubeName& name, const std::string& version);
  // Stores `next` in place of `current`: nothing when equal, else a new version, and the end of what is being
  // deleted and has no finalizers left.
  Result<Json> store(const KubeResource& resource, const KubeName& name, Json next);
  void record(const KubeResource& resource, const KubeName& name, KubeWatchEvent::Type type, const Json& object);

  std::function<WallTime()> wall_;
  std::map<std::string, Objects> collections_;
  std::vector<Change> history_;
  std::int64_t version_ = 100;
  std::int64_t oldest_ = 100;
  std::int64_t uids_ = 0;
};

}  // namespace kro
