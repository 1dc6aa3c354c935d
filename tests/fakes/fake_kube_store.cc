#include "fakes/fake_kube_store.h"

#include <array>
#include <cstdio>

namespace kro {
namespace {

using Json = FakeKubeStore::Json;

struct KnownKind {
  const char* api_version;
  const char* kind;
  KubeResource resource;
};

const std::vector<KnownKind>& known_kinds() {
  static const std::vector<KnownKind> kinds = {
      {"kafka-reassignment.io/v1alpha1",
       "KafkaReassignment",
       {"kafka-reassignment.io", "v1alpha1", "kafkareassignments"}},
      {"kafka-reassignment.io/v1alpha1",
       "KafkaReassignmentCancel",
       {"kafka-reassignment.io", "v1alpha1", "kafkareassignmentcancels"}},
      {"coordination.k8s.io/v1", "Lease", {"coordination.k8s.io", "v1", "leases"}},
      {"events.k8s.io/v1", "Event", {"events.k8s.io", "v1", "events"}},
      {"v1", "ConfigMap", {"", "v1", "configmaps"}},
      {"v1", "Namespace", {"", "v1", "namespaces"}},
  };
  return kinds;
}

bool is_custom(const KubeResource& resource) { return resource.group == "kafka-reassignment.io"; }
bool is_event(const KubeResource& resource) { return resource.group == "events.k8s.io"; }
bool is_lease(const KubeResource& resource) { return resource.group == "coordination.k8s.io"; }

// crds/: what a status is until the operator has seen the object.
Json default_status() {
  const auto unknown = [](const char* type) {
    return Json{{"type", type},
                {"status", "Unknown"},
                {"reason", "Pending"},
                {"message", "Waiting for the operator"},
                {"lastTransitionTime", "1970-01-01T00:00:00Z"}};
  };
  return {{"observedGeneration", -1}, {"conditions", {unknown("Reconciling"), unknown("Ready")}}};
}

std::string text_at(const Json& object, const Json::json_pointer& path) {
  return object.contains(path) && object.at(path).is_string() ? object.at(path).get<std::string>() : std::string();
}

auto not_found() { return fail(ErrorCode::kNotFound, Retry::kConflict, "HTTP 404: not found"); }
auto unprocessable(const std::string& what) { return invalid("HTTP 422: " + what); }
auto conflict() {
  return fail(ErrorCode::kVersion, Retry::kConflict,
              "HTTP 409: the object has been modified; please apply your changes");
}

bool is_micro_time(const Json& value) {
  if (!value.is_string()) return false;
  const auto text = value.get<std::string>();
  return text.size() == 27 && text[19] == '.' && parse_rfc3339(text).has_value();
}

Status check_event(const std::string& ns, const Json& event) {
  if (!is_micro_time(event.value("eventTime", Json()))) return invalid("HTTP 400: eventTime needs six decimals");
  for (const char* key : {"reportingController", "reportingInstance", "action", "reason", "type"}) {
    const std::string value = text_at(event, Json::json_pointer(std::string("/") + key));
    if (value.empty() || value.size() > 128) return unprocessable(std::string(key) + ": 1 to 128 characters");
  }
  if (text_at(event, "/note"_json_pointer).size() > 1024) return unprocessable("note: at most 1024 characters");
  const std::string type = text_at(event, "/type"_json_pointer);
  if (type != "Normal" && type != "Warning") return unprocessable("type: Normal or Warning");
  const std::string regarding = text_at(event, "/regarding/namespace"_json_pointer);
  if (regarding != ns && !(regarding.empty() && ns == "default")) return unprocessable("regarding.namespace: differs");
  return {};
}

Status check_series(const Json& event) {
  if (!event.contains("series")) return {};
  const Json& series = event["series"];
  if (!is_micro_time(series.value("lastObservedTime", Json()))) return invalid("HTTP 400: lastObservedTime");
  if (!series.contains("count") || !series["count"].is_number_integer() || series["count"].get<int>() < 2) {
    return unprocessable("series.count: must be at least 2");
  }
  return {};
}

Status check_lease(const Json& lease) {
  for (const char* key : {"acquireTime", "renewTime"}) {
    const auto path = Json::json_pointer(std::string("/spec/") + key);
    if (lease.contains(path) && !is_micro_time(lease.at(path))) return invalid(std::string("HTTP 400: ") + key);
  }
  const auto duration = "/spec/leaseDurationSeconds"_json_pointer;
  if (lease.contains(duration) && (!lease.at(duration).is_number_integer() || lease.at(duration).get<int>() <= 0)) {
    return unprocessable("leaseDurationSeconds: must be greater than 0");
  }
  return {};
}

Status check(const KubeResource& resource, const std::string& ns, const Json& object) {
  if (is_event(resource)) {
    if (auto ok = check_event(ns, object); !ok) return ok;
    return check_series(object);
  }
  if (is_lease(resource)) return check_lease(object);
  return {};
}

// What the server keeps whatever a writer sends.
void keep_server_fields(const Json& current, Json& next) {
  for (const char* key : {"uid", "creationTimestamp", "generation", "deletionTimestamp", "resourceVersion", "name",
                          "namespace", "deletionGracePeriodSeconds"}) {
    if (current["metadata"].contains(key)) {
      next["metadata"][key] = current["metadata"][key];
    } else {
      next["metadata"].erase(key);
    }
  }
}

}  // namespace

std::optional<KubeResource> FakeKubeStore::resource_of(const Json& manifest) {
  for (const KnownKind& known : known_kinds()) {
    if (text_at(manifest, "/apiVersion"_json_pointer) == known.api_version &&
        text_at(manifest, "/kind"_json_pointer) == known.kind) {
      return known.resource;
    }
  }
  return std::nullopt;
}

const Json* FakeKubeStore::find(const KubeResource& resource, const KubeName& name) const {
  const auto objects = collections_.find(collection(resource));
  if (objects == collections_.end()) return nullptr;
  const auto it = objects->second.find(name);
  return it == objects->second.end() ? nullptr : &it->second;
}

std::vector<std::pair<KubeName, const Json*>> FakeKubeStore::list(const KubeResource& resource,
                                                                  const std::string& ns) const {
  std::vector<std::pair<KubeName, const Json*>> out;
  const auto objects = collections_.find(collection(resource));
  if (objects == collections_.end()) return out;
  for (const auto& [name, object] : objects->second) {
    if (ns.empty() || name.ns == ns) out.emplace_back(name, &object);
  }
  return out;
}

void FakeKubeStore::record(const KubeResource& resource, const KubeName& name, KubeWatchEvent::Type type,
                           const Json& object) {
  history_.push_back({version_, type, collection(resource), name, object.dump()});
}

Result<Json> FakeKubeStore::create(const KubeResource& resource, const std::string& ns, Json object) {
  if (!object.is_object()) return invalid("HTTP 400: not an object");
  const KubeName name{ns, text_at(object, "/metadata/name"_json_pointer)};
  if (name.name.empty()) return unprocessable("metadata.name: Required value");
  const std::string said = text_at(object, "/metadata/namespace"_json_pointer);
  if (!said.empty() && said != ns) return invalid("HTTP 400: the namespace of the object differs from the request's");
  if (find(resource, name) != nullptr) {
    return fail(ErrorCode::kAlreadyExists, Retry::kConflict, "HTTP 409: \"" + name.name + "\" already exists");
  }
  if (!text_at(object, "/metadata/resourceVersion"_json_pointer).empty()) {
    return invalid("HTTP 400: resourceVersion should not be set on objects to be created");
  }
  if (auto ok = check(resource, ns, object); !ok) return tl::unexpected(ok.error());
  std::array<char, 64> uid{};
  std::snprintf(uid.data(), uid.size(), "00000000-0000-4000-8000-%012llx", static_cast<unsigned long long>(++uids_));
  Json& metadata = object["metadata"];
  if (!ns.empty()) metadata["namespace"] = ns;
  metadata["uid"] = uid.data();
  metadata["creationTimestamp"] = rfc3339(wall_());
  metadata["resourceVersion"] = std::to_string(++version_);
  metadata.erase("deletionTimestamp");
  if (is_custom(resource)) {
    metadata["generation"] = 1;
    object["status"] = default_status();
  }
  record(resource, name, KubeWatchEvent::Type::kAdded, object);
  collections_[collection(resource)][name] = object;
  return object;
}

Result<Json> FakeKubeStore::store(const KubeResource& resource, const KubeName& name, Json next) {
  Json& current = collections_[collection(resource)][name];
  if (current == next) return next;
  next["metadata"]["resourceVersion"] = std::to_string(++version_);
  const bool deleting = next["metadata"].contains("deletionTimestamp");
  const bool held = next["metadata"].contains("finalizers") && !next["metadata"]["finalizers"].empty();
  if (deleting && !held) {
    record(resource, name, KubeWatchEvent::Type::kDeleted, next);
    collections_[collection(resource)].erase(name);
    return next;
  }
  record(resource, name, KubeWatchEvent::Type::kModified, next);
  current = next;
  return next;
}

Result<Json*> FakeKubeStore::at_version(const KubeResource& resource, const KubeName& name,
                                        const std::string& version) {
  if (find(resource, name) == nullptr) return not_found();
  Json& current = collections_[collection(resource)][name];
  if (text_at(current, "/metadata/resourceVersion"_json_pointer) != version) return conflict();
  return &current;
}

Result<Json> FakeKubeStore::replace(const KubeResource& resource, const KubeName& name, Json object) {
  if (!object.is_object()) return invalid("HTTP 400: not an object");
  const Json* current = find(resource, name);
  if (current == nullptr) return not_found();
  const std::string version = text_at(object, "/metadata/resourceVersion"_json_pointer);
  if (version.empty() && (is_lease(resource) || is_custom(resource))) {
    return unprocessable("metadata.resourceVersion: must be specified for an update");
  }
  if (!version.empty() && version != text_at(*current, "/metadata/resourceVersion"_json_pointer)) return conflict();
  if (auto ok = check(resource, name.ns, object); !ok) return tl::unexpected(ok.error());
  keep_server_fields(*current, object);
  if (is_custom(resource)) {
    object["status"] = (*current)["status"];
    if (object.value("spec", Json()) != current->value("spec", Json())) {
      object["metadata"]["generation"] = (*current)["metadata"]["generation"].get<int>() + 1;
    }
  }
  return store(resource, name, std::move(object));
}

Result<Json> FakeKubeStore::merge_patch(const KubeResource& resource, const KubeName& name, const Json& patch) {
  if (!patch.is_object()) return invalid("HTTP 400: not an object");
  const Json* current = find(resource, name);
  if (current == nullptr) return not_found();
  Json next = *current;
  next.merge_patch(patch);
  if (is_event(resource)) {
    Json before = *current;
    Json after = next;
    before.erase("series");
    after.erase("series");
    before.erase("metadata");
    after.erase("metadata");
    if (before != after) return unprocessable("an Event is immutable but for its series");
  }
  return replace(resource, name, std::move(next));
}

Result<Json> FakeKubeStore::put_status(const KubeResource& resource, const KubeName& name, const std::string& version,
                                       Json status) {
  auto current = at_version(resource, name, version);
  if (!current) return tl::unexpected(current.error());
  if (!status.is_object()) return unprocessable("status: must be of type object");
  Json next = **current;
  next["status"] = std::move(status);
  return store(resource, name, std::move(next));
}

Result<Json> FakeKubeStore::put_finalizers(const KubeResource& resource, const KubeName& name,
                                           const std::string& version, Json finalizers) {
  auto current = at_version(resource, name, version);
  if (!current) return tl::unexpected(current.error());
  if (!finalizers.is_array()) return unprocessable("metadata.finalizers: must be a list");
  Json next = **current;
  if (next["metadata"].contains("deletionTimestamp")) {
    const Json before = next["metadata"].value("finalizers", Json::array());
    for (const Json& finalizer : finalizers) {
      if (std::find(before.begin(), before.end(), finalizer) == before.end()) {
        return unprocessable("no new finalizers can be added if the object is being deleted");
      }
    }
  }
  if (finalizers.empty()) {
    next["metadata"].erase("finalizers");
  } else {
    next["metadata"]["finalizers"] = std::move(finalizers);
  }
  return store(resource, name, std::move(next));
}

Status FakeKubeStore::erase(const KubeResource& resource, const KubeName& name) {
  const Json* current = find(resource, name);
  if (current == nullptr) return not_found();
  Json next = *current;
  if (next["metadata"].contains("deletionTimestamp")) return {};
  next["metadata"]["deletionTimestamp"] = rfc3339(wall_());
  next["metadata"]["deletionGracePeriodSeconds"] = 0;
  if (is_custom(resource)) next["metadata"]["generation"] = next["metadata"]["generation"].get<int>() + 1;
  auto stored = store(resource, name, std::move(next));
  if (!stored) return tl::unexpected(stored.error());
  return {};
}

}  // namespace kro
