#include "api/cancel_codec.h"

#include "api/object_codec.h"

namespace kro::api {
namespace {

void read_names_scope(const Reader& in, std::string_view path) {
  std::string name;
  in.json.array([&] { read_name(in, path, name); });
}

void read_partitions_scope(const Reader& in) {
  in.json.array([&] {
    in.json.object([&](std::string_view key) {
      if (key == "topic" || key == "partitions") {
        in.json.skip();
      } else {
        in.unknown("spec.partitions[]", key);
      }
    });
  });
}

void read_spec(const Reader& in, CancelSpec& spec) {
  JsonCursor& json = in.json;
  bool has_all = false;
  json.object([&](std::string_view key) {
    const char next = json.peek();
    if (key == "clusterRef" && next == '{') {
      read_name(in, "spec.clusterRef", spec.cluster);
    } else if (key == "all" && (next == 't' || next == 'f')) {
      has_all = true;
      json.boolean(spec.all);
    } else if (key == "reassignments" && next == '[') {
      spec.reassignments = true;
      read_names_scope(in, "spec.reassignments[]");
    } else if (key == "partitions" && next == '[') {
      spec.partitions = true;
      read_partitions_scope(in);
    } else if (key == "reason" && next == '"') {
      json.string(spec.reason);
    } else if (key == "acknowledgeForeign" && (next == 't' || next == 'f')) {
      json.boolean(spec.acknowledge_foreign);
    } else {
      in.unknown("spec", key);
    }
  });
  if (!valid_cluster_name(spec.cluster))
    note(spec.problem, "clusterRef.name: \"" + spec.cluster + "\" is not a cluster name; use a-z 0-9 -");
  if (has_all && !spec.all) note(spec.problem, "all: may only be true; leave it out to cancel less than everything");
  if (int{has_all} + int{spec.reassignments} + int{spec.partitions} != 1)
    note(spec.problem, "set exactly one of all, reassignments, partitions");
}

template <std::size_t N>
void read_numbers(const Reader& in, std::string_view path,
                  const std::pair<std::string_view, std::int64_t*> (&fields)[N]) {
  in.json.object([&](std::string_view key) {
    for (const auto& [name, target] : fields)
      if (key == name) return static_cast<void>(in.json.integer(*target));
    in.unknown(path, key);
  });
}

void read_lock(const Reader& in, LockRef& lock) {
  JsonCursor& json = in.json;
  json.object([&](std::string_view key) {
    if (key == "path") {
      json.string(lock.path);
    } else if (key == "czxid") {
      json.string(lock.czxid);
    } else if (key == "owner") {
      json.string(lock.owner);
    } else {
      in.unknown("status.lock", key);
    }
  });
}

void read_status(const Reader& in, CancelStatus& s) {
  JsonCursor& json = in.json;
  json.object([&](std::string_view key) {
    const std::pair<std::string_view, std::string*> texts[] = {{"phase", &s.phase},
                                                               {"scope", &s.scope},
                                                               {"summary", &s.summary},
                                                               {"startTime", &s.start},
                                                               {"completionTime", &s.completion}};
    for (const auto& [name, target] : texts)
      if (key == name) return static_cast<void>(json.string(*target));
    if (key == "observedGeneration") {
      json.integer(s.observed_generation);
    } else if (key == "preview") {
      CancelPreview& p = s.preview.emplace();
      read_numbers(in, "status.preview",
                   {{"restorable", &p.restorable}, {"notRestorable", &p.not_restorable}, {"foreign", &p.foreign}});
    } else if (key == "progress") {
      CancelProgress& p = s.progress;
      read_numbers(in, "status.progress",
                   {{"affected", &p.affected},
                    {"restored", &p.restored},
                    {"withdrawn", &p.withdrawn},
                    {"completedFirst", &p.completed_first},
                    {"refused", &p.refused},
                    {"foreign", &p.foreign}});
    } else if (key == "lock") {
      read_lock(in, s.lock.emplace());
    } else if (key == "problemPartitions") {
      read_problems(in, s.problems);
    } else if (key == "conditions") {
      read_conditions(in, s.conditions);
    } else {
      in.unknown("status", key);
    }
  });
}

}  // namespace

Result<KafkaReassignmentCancel> decode_cancel(std::string_view text, std::vector<std::string>* ignored) {
  JsonCursor json(text);
  const Reader in{json, ignored};
  KafkaReassignmentCancel out;
  json.object([&](std::string_view key) {
    if (key == "metadata") {
      read_meta(in, out.meta);
    } else if (key == "spec" && json.peek() == '{') {
      read_spec(in, out.spec);
    } else if (key == "status" && json.peek() == '{') {
      read_status(in, out.status);
    } else {
      json.skip();
    }
  });
  if (!json.ok()) return invalid("KafkaReassignmentCancel: " + json.error());
  if (out.meta.uid.empty() || out.meta.name.empty()) return invalid("KafkaReassignmentCancel without a name or a uid");
  if (out.spec.cluster.empty()) note(out.spec.problem, "clusterRef.name is missing");
  out.meta.object_bytes = text.size();
  return out;
}

std::string encode_status(const CancelStatus& s) {
  JsonWriter out;
  out.open('{').key("observedGeneration").value(s.observed_generation);
  out.text_member("phase", s.phase).text_member("scope", s.scope).text_member("summary", s.summary);
  out.text_member("startTime", s.start).text_member("completionTime", s.completion);
  if (s.preview) {
    out.key("preview").open('{');
    if (s.preview->restorable >= 0) out.key("restorable").value(s.preview->restorable);
    if (s.preview->not_restorable >= 0) out.key("notRestorable").value(s.preview->not_restorable);
    out.key("foreign").value(s.preview->foreign).close('}');
  }
  const CancelProgress& p = s.progress;
  out.key("progress").open('{').key("affected").value(p.affected).key("restored").value(p.restored);
  out.key("withdrawn").value(p.withdrawn).key("completedFirst").value(p.completed_first);
  out.key("refused").value(p.refused).key("foreign").value(p.foreign).close('}');
  if (s.lock) {
    out.key("lock").open('{').key("path").value(s.lock->path).key("czxid").value(s.lock->czxid);
    out.key("owner").value(s.lock->owner).close('}');
  }
  write_problems(out, s.problems);
  write_conditions(out, s.conditions);
  return out.close('}').take();
}

std::string encode_finalizers(const ObjectMeta& meta, bool with_ours) {
  JsonWriter out;
  out.open('[');
  for (const std::string& finalizer : meta.finalizers)
    if (finalizer != kFinalizer) out.value(finalizer);
  if (with_ours) out.value(kFinalizer);
  return out.close(']').take();
}

}  // namespace kro::api
