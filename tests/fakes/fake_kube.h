#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fakes/fake_kube_store.h"
#include "ports/kube_api.h"

namespace kro {

// An API server in memory, as far as the operator can tell; it passes tests/contract/kube.
//
// Thread safe. With set_blocking_watches(false) a watch delivers what there is, then a bookmark, and ends, so that
// a reflector runs on the test's own thread, one step a look.
class FakeKube final : public KubeApi {
 public:
  explicit FakeKube(std::function<WallTime()> wall) : store_(std::move(wall)) {}

  // --- what people and other programs do ---
  // Creates the object, or replaces spec, labels, annotations and finalizers (if given) of the one that is there.
  Result<KubeMeta> apply(const std::string& manifest_json);
  // With finalizers the object only gets its deletionTimestamp.
  Status erase(const KubeResource& resource, const KubeName& name);
  [[nodiscard]] std::optional<std::string> object(const KubeResource& resource, const KubeName& name) const;
  [[nodiscard]] std::vector<std::string> objects(const KubeResource& resource) const;

  // --- faults ---
  // No call is answered; open watches break.
  void set_away(bool away);
  // Open watches end as by a lost connection, or (clean) as by the server's time-out.
  void cut_watches(bool clean = false);
  // All versions up to now are too old to watch from; open watches end with 410.
  void expire_versions();
  // The next `count` calls other than watch (or with `watches` only watches) fail so, without any effect.
  void fail_next(int count, Error error, bool watches = false);
  // The next `count` writes take effect, and their answers are lost.
  void lose_answers(int count);
  // Watches are accepted and then say nothing, not even a bookmark.
  void set_silent_watches(bool silent);
  void set_blocking_watches(bool blocking);

  // --- what was asked ---
  [[nodiscard]] int reads() const;
  [[nodiscard]] int writes() const;  // tried ones, refused ones included
  [[nodiscard]] int watches() const;

  // --- KubeApi ---
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
  using Json = nlohmann::json;
  // One write: the faults before, the change, the fault after it.
  Result<Json> write(const Deadline& deadline, const std::function<Result<Json>()>& change);
  std::optional<Error> fault_before(const Deadline& deadline, bool is_write);
  std::optional<Status> watch_broken(std::int64_t cursor, int cuts_seen) const;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  FakeKubeStore store_;
  bool away_ = false;
  bool silent_ = false;
  bool blocking_ = true;
  int cuts_ = 0;
  bool clean_cut_ = false;
  int failing_ = 0, failing_watches_ = 0, losing_ = 0;
  Error failure_, watch_failure_;
  int reads_ = 0, writes_ = 0, watches_ = 0;
};

}  // namespace kro
