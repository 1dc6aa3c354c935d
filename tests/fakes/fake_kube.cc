#include "fakes/fake_kube.h"

#include <charconv>
#include <utility>

namespace kro {
namespace {

using Json = nlohmann::json;

Json parse(const std::string& text) { return Json::parse(text, nullptr, false); }

KubeMeta meta_of(const Json& object) {
  return {object["metadata"]["uid"].get<std::string>(), object["metadata"]["resourceVersion"].get<std::string>()};
}

Error unavailable(bool is_write) {
  Error error;
  error.code = ErrorCode::kUnavailable;
  error.retry = is_write ? Retry::kAmbiguous : Retry::kTransient;
  error.message = "no answer: the fake is away";
  return error;
}

}  // namespace

Result<KubeMeta> FakeKube::apply(const std::string& manifest_json) {
  const Json manifest = parse(manifest_json);
  const auto resource = FakeKubeStore::resource_of(manifest);
  if (!resource) return invalid("the fake does not know this apiVersion and kind");
  const Json& metadata = manifest["metadata"];
  const bool cluster_scoped = resource->plural == "namespaces";
  const KubeName name{cluster_scoped ? "" : metadata.value("namespace", std::string("default")),
                      metadata.value("name", std::string())};
  Result<Json> stored = invalid("");
  {
    const std::scoped_lock lock(mutex_);
    const Json* current = store_.find(*resource, name);
    if (current == nullptr) {
      stored = store_.create(*resource, name.ns, manifest);
    } else {
      Json next = *current;
      for (const auto& [key, value] : manifest.items()) {
        if (key != "metadata" && key != "status") next[key] = value;
      }
      for (const char* key : {"labels", "annotations", "finalizers"}) {
        if (metadata.contains(key)) next["metadata"][key] = metadata[key];
      }
      stored = store_.replace(*resource, name, std::move(next));
    }
  }
  changed_.notify_all();
  if (!stored) return tl::unexpected(stored.error());
  return meta_of(*stored);
}

Status FakeKube::erase(const KubeResource& resource, const KubeName& name) {
  Status out;
  {
    const std::scoped_lock lock(mutex_);
    out = store_.erase(resource, name);
  }
  changed_.notify_all();
  return out;
}

std::optional<std::string> FakeKube::object(const KubeResource& resource, const KubeName& name) const {
  const std::scoped_lock lock(mutex_);
  const Json* found = store_.find(resource, name);
  return found == nullptr ? std::nullopt : std::optional(found->dump());
}

std::vector<std::string> FakeKube::objects(const KubeResource& resource) const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> out;
  for (const auto& [name, object] : store_.list(resource, "")) out.push_back(object->dump());
  return out;
}

void FakeKube::set_away(bool away) {
  {
    const std::scoped_lock lock(mutex_);
    away_ = away;
  }
  changed_.notify_all();
}

void FakeKube::cut_watches(bool clean) {
  {
    const std::scoped_lock lock(mutex_);
    ++cuts_;
    clean_cut_ = clean;
  }
  changed_.notify_all();
}

void FakeKube::expire_versions() {
  {
    const std::scoped_lock lock(mutex_);
    // A version that even a watch which saw everything did not see.
    store_.expire();
    ++cuts_;
    clean_cut_ = false;
  }
  changed_.notify_all();
}

void FakeKube::fail_next(int count, Error error, bool watches) {
  const std::scoped_lock lock(mutex_);
  (watches ? failing_watches_ : failing_) = count;
  (watches ? watch_failure_ : failure_) = std::move(error);
}

void FakeKube::lose_answers(int count) {
  const std::scoped_lock lock(mutex_);
  losing_ = count;
}

void FakeKube::set_silent_watches(bool silent) {
  const std::scoped_lock lock(mutex_);
  silent_ = silent;
}

void FakeKube::set_blocking_watches(bool blocking) {
  const std::scoped_lock lock(mutex_);
  blocking_ = blocking;
}

int FakeKube::reads() const {
  const std::scoped_lock lock(mutex_);
  return reads_;
}
int FakeKube::writes() const {
  const std::scoped_lock lock(mutex_);
  return writes_;
}
int FakeKube::watches() const {
  const std::scoped_lock lock(mutex_);
  return watches_;
}

std::optional<Error> FakeKube::fault_before(const Deadline& deadline, bool is_write) {
  ++(is_write ? writes_ : reads_);
  if (deadline.stop.stop_requested()) {
    Error error;
    error.code = ErrorCode::kCancelled;
    error.retry = is_write ? Retry::kAmbiguous : Retry::kTransient;
    error.message = "stopped";
    return error;
  }
  if (away_) return unavailable(is_write);
  if (failing_ > 0) {
    --failing_;
    return failure_;
  }
  return std::nullopt;
}

Result<Json> FakeKube::write(const Deadline& deadline, const std::function<Result<Json>()>& change) {
  Result<Json> out = invalid("");
  {
    const std::scoped_lock lock(mutex_);
    if (auto fault = fault_before(deadline, true)) return tl::unexpected(std::move(*fault));
    out = change();
    if (out && losing_ > 0) {
      --losing_;
      Error lost = unavailable(true);
      lost.message = "half an answer: lost by the fake";
      out = tl::unexpected(std::move(lost));
    }
  }
  changed_.notify_all();
  return out;
}

Result<std::optional<std::string>> FakeKube::get(const KubeResource& resource, const KubeName& name,
                                                 const Deadline& deadline) {
  const std::scoped_lock lock(mutex_);
  if (auto fault = fault_before(deadline, false)) return tl::unexpected(std::move(*fault));
  const Json* found = store_.find(resource, name);
  return found == nullptr ? std::optional<std::string>() : std::optional(found->dump());
}

Result<KubeMeta> FakeKube::put_status(const KubeResource& resource, const KubeName& name,
                                      const std::string& resource_version, const std::string& status_json,
                                      const Deadline& deadline) {
  const auto out =
      write(deadline, [&] { return store_.put_status(resource, name, resource_version, parse(status_json)); });
  if (!out) return tl::unexpected(out.error());
  return meta_of(*out);
}

Result<KubeMeta> FakeKube::put_finalizers(const KubeResource& resource, const KubeName& name,
                                          const std::string& resource_version, const std::string& finalizers_json,
                                          const Deadline& deadline) {
  const auto out =
      write(deadline, [&] { return store_.put_finalizers(resource, name, resource_version, parse(finalizers_json)); });
  if (!out) return tl::unexpected(out.error());
  return meta_of(*out);
}

Result<std::string> FakeKube::create(const KubeResource& resource, const std::string& ns,
                                     const std::string& object_json, const Deadline& deadline) {
  const auto out = write(deadline, [&] { return store_.create(resource, ns, parse(object_json)); });
  if (!out) return tl::unexpected(out.error());
  return out->dump();
}

Result<std::string> FakeKube::replace(const KubeResource& resource, const KubeName& name,
                                      const std::string& object_json, const Deadline& deadline) {
  const auto out = write(deadline, [&] { return store_.replace(resource, name, parse(object_json)); });
  if (!out) return tl::unexpected(out.error());
  return out->dump();
}

Result<std::string> FakeKube::merge_patch(const KubeResource& resource, const KubeName& name,
                                          const std::string& patch_json, const Deadline& deadline) {
  const auto out = write(deadline, [&] { return store_.merge_patch(resource, name, parse(patch_json)); });
  if (!out) return tl::unexpected(out.error());
  return out->dump();
}

// nullopt: the watch stands.
std::optional<Status> FakeKube::watch_broken(std::int64_t cursor, int cuts_seen) const {
  if (away_) return Status(tl::unexpected(unavailable(false)));
  if (cursor < store_.oldest()) {
    return Status(fail(ErrorCode::kGone, Retry::kConflict, "HTTP 410: too old resource version"));
  }
  if (cuts_ == cuts_seen) return std::nullopt;
  if (clean_cut_) return Status();
  return Status(fail(ErrorCode::kUnavailable, Retry::kTransient, "the stream was cut: by the fake"));
}

Status FakeKube::watch(const KubeResource& resource, const KubeWatchOptions& options, const KubeWatchSink& sink,
                       std::stop_token stop) {
  using Type = KubeWatchEvent::Type;
  const auto cancelled = [] {
    return fail(ErrorCode::kCancelled, Retry::kTransient, "stopped, or the reader gave up");
  };
  const auto until = std::chrono::steady_clock::now() + options.timeout;
  std::unique_lock lock(mutex_);
  ++watches_;
  if (away_) return tl::unexpected(unavailable(false));
  if (failing_watches_ > 0) {
    --failing_watches_;
    return tl::unexpected(watch_failure_);
  }
  // Events are handed out without the lock, from copies, as a sink may call this object.
  const auto tell = [&](Type type, const std::string& object, const std::string& version) {
    lock.unlock();
    const bool go_on = sink({type, object, version});
    lock.lock();
    return go_on && !stop.stop_requested();
  };
  const int cuts_seen = cuts_;
  if (!tell(Type::kOpened, "", "")) return cancelled();
  std::int64_t cursor = store_.version();
  if (options.resource_version.empty()) {
    std::vector<std::pair<std::string, std::string>> initial;
    for (const auto& [name, object] : store_.list(resource, options.ns)) {
      initial.emplace_back(object->dump(), (*object)["metadata"]["resourceVersion"].get<std::string>());
    }
    for (const auto& [object, version] : initial) {
      if (!tell(Type::kAdded, object, version)) return cancelled();
      if (auto broken = watch_broken(store_.version(), cuts_seen)) return *broken;
    }
    if (!tell(Type::kInitialListEnd, "", std::to_string(cursor))) return cancelled();
  } else {
    const std::string& text = options.resource_version;
    if (std::from_chars(text.data(), text.data() + text.size(), cursor).ec != std::errc()) {
      return invalid("HTTP 400: invalid resource version");
    }
  }
  std::size_t at = 0;
  const std::string collection = FakeKubeStore::collection(resource);
  while (true) {
    if (stop.stop_requested()) return cancelled();
    if (auto broken = watch_broken(cursor, cuts_seen)) return *broken;
    while (!silent_ && at < store_.history().size()) {
      const FakeKubeStore::Change change = store_.history()[at++];
      if (change.version <= cursor) continue;
      cursor = change.version;
      if (change.collection != collection || (!options.ns.empty() && change.name.ns != options.ns)) continue;
      if (!tell(change.type, change.object, std::to_string(change.version))) return cancelled();
      if (auto broken = watch_broken(store_.version(), cuts_seen)) return *broken;
    }
    const auto now = std::chrono::steady_clock::now();
    if (!blocking_ || now >= until) {
      if (!silent_ && !tell(Type::kBookmark, "", std::to_string(cursor))) return cancelled();
      return {};
    }
    // Everything that changes the fake wakes this, and the loop looks at all of it again.
    changed_.wait_until(lock, stop, until,
                        [&] { return away_ || cuts_ != cuts_seen || (!silent_ && at < store_.history().size()); });
  }
}

}  // namespace kro
