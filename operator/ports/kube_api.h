#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ports/clock.h"

namespace kro {

// A resource type of the API server: "/apis/<group>/<version>/<plural>".
struct KubeResource {
  std::string group;  // "" for the core group
  std::string version;
  std::string plural;
};

struct KubeName {
  std::string ns;
  std::string name;
  auto operator<=>(const KubeName&) const = default;
  [[nodiscard]] std::string text() const { return ns + "/" + name; }
};

// What every write answers with.
struct KubeMeta {
  std::string uid;
  std::string resource_version;
};

struct KubeWatchEvent {
  // kOpened comes first, once, when the server has accepted the watch; it carries nothing.
  enum class Type { kOpened, kAdded, kModified, kDeleted, kBookmark, kInitialListEnd };
  Type type = Type::kAdded;
  std::string_view object;            // JSON text of the object, valid during the call only; empty for bookmarks
  std::string_view resource_version;  // of the object or the bookmark; empty if it could not be told
};

// Called on the watching thread for each event in order; false ends the watch (the consumer gave up).
using KubeWatchSink = std::function<bool(const KubeWatchEvent&)>;

struct KubeWatchOptions {
  std::string ns;                // empty: all namespaces
  std::string resource_version;  // empty: list first (sendInitialEvents), kInitialListEnd marks its end
  seconds timeout{180};          // the server ends the watch after it; the caller randomises
};

// The few verbs that the operator needs. Blocking, thread safe.
//
// Errors: no answer to a read, refused, 5xx, 429 → kUnavailable/Transient (retry_after_ms from Retry-After or
// details.retryAfterSeconds); no answer or 5xx to a write → Ambiguous; 401/403 → kUnauthorized/Transient (a role may be
// granted later); 404 → kNotFound; 409 Conflict → kVersion/Conflict; 409 AlreadyExists → kAlreadyExists/Conflict;
// 410 or an in-stream ERROR 410 → kGone; 422/400/415 → kInvalid/Permanent; 413 and the two etcd size texts of a
// 500 → kTooLarge/Permanent.
class KubeApi {
 public:
  virtual ~KubeApi() = default;

  // Blocks until the server ends the stream (ok: watch on from the last version seen), an error, or a stop or a
  // sink that gave up (kCancelled).
  virtual Status watch(const KubeResource& resource, const KubeWatchOptions& options, const KubeWatchSink& sink,
                       std::stop_token stop) = 0;
  // nullopt: 404. The object's JSON text.
  virtual Result<std::optional<std::string>> get(const KubeResource& resource, const KubeName& name,
                                                 const Deadline& deadline) = 0;
  // JSON Patch: replace /metadata/resourceVersion, then add /status (the whole status as JSON text).
  virtual Result<KubeMeta> put_status(const KubeResource& resource, const KubeName& name,
                                      const std::string& resource_version, const std::string& status_json,
                                      const Deadline& deadline) = 0;
  // JSON Patch: replace /metadata/resourceVersion, then set /metadata/finalizers to `finalizers_json` (an array).
  virtual Result<KubeMeta> put_finalizers(const KubeResource& resource, const KubeName& name,
                                          const std::string& resource_version, const std::string& finalizers_json,
                                          const Deadline& deadline) = 0;
  // POST. For Events and Leases.
  virtual Result<std::string> create(const KubeResource& resource, const std::string& ns,
                                     const std::string& object_json, const Deadline& deadline) = 0;
  // PUT with metadata.resourceVersion inside `object_json`. For Leases.
  virtual Result<std::string> replace(const KubeResource& resource, const KubeName& name,
                                      const std::string& object_json, const Deadline& deadline) = 0;
  // Merge patch. For the series of a repeated Event.
  virtual Result<std::string> merge_patch(const KubeResource& resource, const KubeName& name,
                                          const std::string& patch_json, const Deadline& deadline) = 0;
};

}  // namespace kro
