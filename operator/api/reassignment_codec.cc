#include "api/reassignment_codec.h"

#include <algorithm>
#include <charconv>

#include "api/object_codec.h"
#include "domain/sha256.h"

namespace kro::api {
namespace {

constexpr std::size_t kMostReplicas = 16;
constexpr std::size_t kMostPlanEntries = 20000;
constexpr std::string_view kChecks[] = {"ReplicationFactorChange", "InternalTopics", "MinInsyncReplicas",
                                        "UnderReplicated",         "NoLeader",       "RackSpread"};

std::string quoted(std::string_view text) { return "\"" + std::string(text.substr(0, 300)) + "\""; }

std::string bad_topic(std::string_view topic) {
  return "not a topic name: " + quoted(topic) + "; use 1 to 249 of a-z A-Z 0-9 . _ - (not \".\" or \"..\" alone)";
}

// A list of broker ids that may be a target; else the problem is noted and the list is left empty.
void read_replicas(const Reader& in, const std::string& where, ReplicaList& out, std::string& problem) {
  if (in.json.peek() != '[') {
    in.json.skip();
    return note(problem, where + ": replicas must be a list of broker ids");
  }
  bool good = true;
  in.json.array([&] {
    std::string wrong;
    std::int32_t id = -1;
    read_int32(in.json, where + ": broker id", 0, id, wrong);
    if (wrong.empty()) return out.push_back(id);
    good = false;
    note(problem, wrong);
  });
  if (!good) return out.clear();
  if (const auto wrong = replica_list_problem(out)) {
    note(problem, where + ": " + *wrong);
    out.clear();
  } else if (out.size() > kMostReplicas) {
    note(problem, where + ": more than 16 replicas");
  }
}

void add(ReassignmentSpec& spec, const std::string& topic, std::int32_t partition, ReplicaList&& replicas) {
  if (!valid_topic_name(topic)) return note(spec.problem, bad_topic(topic));
  if (replicas.empty()) return;  // its problem is noted
  if (!spec.assignments[topic].emplace(partition, std::move(replicas)).second)
    note(spec.problem, topic + "-" + std::to_string(partition) + ": stands twice in the plan");
}

struct Entry {
  std::string topic;
  std::int32_t partition = -1;
  bool has_partition = false, has_replicas = false;
  ReplicaList replicas;
};

void read_entry(const Reader& in, ReassignmentSpec& spec) {
  JsonCursor& json = in.json;
  Entry entry;
  json.object([&](std::string_view key) {
    if (key == "topic" && json.peek() == '"') {
      json.string(entry.topic);
    } else if (key == "partition") {
      entry.has_partition = true;
      read_int32(json, "plan.partitions: partition", 0, entry.partition, spec.problem);
    } else if (key == "replicas") {
      entry.has_replicas = true;
      read_replicas(in, entry.topic.empty() ? "plan.partitions" : entry.topic, entry.replicas, spec.problem);
    } else if (key == "log_dirs" && json.peek() == '[') {
      std::string dir;
      json.array([&] {
        if (json.peek() != '"') {
          json.skip();
          return note(spec.problem, "plan.partitions: log_dirs must be a list of texts");
        }
        json.string(dir);
        if (dir != "any") spec.log_dirs = true;
      });
    } else {
      in.unknown("spec.plan.partitions[]", key);
    }
  });
  if (!entry.has_partition || !entry.has_replicas)
    return note(spec.problem, "plan.partitions: an entry needs topic, partition and replicas");
  if (entry.partition >= 0) add(spec, entry.topic, entry.partition, std::move(entry.replicas));
}

void read_plan(const Reader& in, ReassignmentSpec& spec) {
  JsonCursor& json = in.json;
  std::size_t entries = 0;
  json.object([&](std::string_view key) {
    if (key == "version") {
      std::int32_t version = 0;
      read_int32(json, "plan.version", 1, version, spec.problem);
      if (version != 1) note(spec.problem, "plan.version: must be 1");
    } else if (key == "partitions" && json.peek() == '[') {
      json.array([&] {
        ++entries;
        if (json.peek() == '{') return read_entry(in, spec);
        json.skip();
        note(spec.problem, "plan.partitions: entries must be objects");
      });
    } else {
      in.unknown("spec.plan", key);
    }
  });
  if (entries == 0) note(spec.problem, "plan.partitions: must name at least one partition");
  if (entries > kMostPlanEntries) note(spec.problem, "plan.partitions: more than 20000 entries");
}

std::int32_t parse_partition(std::string_view key) {
  std::int32_t value = -1;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), value);
  if (error != std::errc{} || end != key.data() + key.size() || value < 0) return -1;
  if (key.size() > 1 && key.front() == '0') return -1;
  return value;
}

void read_assignments(const Reader& in, ReassignmentSpec& spec) {
  JsonCursor& json = in.json;
  json.object([&](std::string_view topic_key) {
    const std::string topic(topic_key);
    if (!valid_topic_name(topic)) note(spec.problem, bad_topic(topic));
    if (json.peek() != '{') {
      json.skip();
      return note(spec.problem, "assignments: " + quoted(topic) + " must be a map of partitions");
    }
    bool any = false;
    json.object([&](std::string_view key) {
      any = true;
      const std::int32_t partition = parse_partition(key);
      if (partition < 0) note(spec.problem, "not a partition number: " + quoted(key));
      ReplicaList replicas;
      read_replicas(in, topic + "-" + std::string(key), replicas, spec.problem);
      if (partition >= 0 && valid_topic_name(topic)) add(spec, topic, partition, std::move(replicas));
    });
    if (!any) note(spec.problem, "assignments: " + quoted(topic) + " names no partition");
  });
  if (spec.assignments.empty()) note(spec.problem, "assignments: must name at least one partition");
}

void read_choice(JsonCursor& json, std::string_view field, std::initializer_list<std::string_view> choices,
                 std::string& out, std::string& problem) {
  if (json.peek() != '"') {
    json.skip();
    return note(problem, std::string(field) + ": must be a text");
  }
  json.string(out);
  if (std::find(choices.begin(), choices.end(), out) == choices.end())
    note(problem, std::string(field) + ": " + quoted(out) + " is none of the allowed values");
}

void read_flag(JsonCursor& json, std::string_view field, bool& out, std::string& problem) {
  const char c = json.peek();
  if (c == 't' || c == 'f') {
    json.boolean(out);
    return;
  }
  json.skip();
  note(problem, std::string(field) + ": must be true or false");
}

void read_text(JsonCursor& json, std::string_view field, std::string& out, std::string& problem) {
  if (json.peek() == '"') {
    json.string(out);
    return;
  }
  json.skip();
  note(problem, std::string(field) + ": must be a text");
}

void read_allow(JsonCursor& json, ReassignmentSpec& spec) {
  json.array([&] {
    std::string name;
    read_text(json, "allow", name, spec.problem);
    if (std::find(std::begin(kChecks), std::end(kChecks), name) == std::end(kChecks))
      return note(spec.problem, "allow: " + quoted(name) + " is not the name of a check that can be passed over");
    if (std::find(spec.allow.begin(), spec.allow.end(), name) != spec.allow.end())
      return note(spec.problem, "allow: " + quoted(name) + " stands twice");
    spec.allow.push_back(name);
  });
  std::sort(spec.allow.begin(), spec.allow.end());
}

// Members that hold one value; false: not one of them.
bool read_plain(JsonCursor& json, std::string_view key, ReassignmentSpec& spec) {
  std::string& problem = spec.problem;
  if (key == "reason") {
    read_text(json, key, spec.reason, problem);
  } else if (key == "suspend") {
    read_flag(json, key, spec.suspend, problem);
  } else if (key == "dryRun") {
    read_flag(json, key, spec.dry_run, problem);
  } else if (key == "approval") {
    read_choice(json, key, {"Automatic", "Manual"}, spec.approval, problem);
  } else if (key == "approvedPlan") {
    read_text(json, key, spec.approved_plan, problem);
  } else if (key == "attempt") {
    read_int32(json, key, 0, spec.attempt, problem);
  } else if (key == "maxInFlight") {
    read_int32(json, key, 1, spec.max_in_flight, problem);
  } else if (key == "maxInFlightPerBroker") {
    read_int32(json, key, 0, spec.max_in_flight_per_broker, problem);
  } else if (key == "healthGate") {
    read_flag(json, key, spec.health_gate, problem);
  } else if (key == "conflictPolicy") {
    read_choice(json, key, {"Wait", "Replace"}, spec.conflict_policy, problem);
  } else if (key == "stallAfter") {
    read_text(json, key, spec.stall_after, problem);
    if (const auto d = parse_duration(spec.stall_after); !d || *d < 1min)
      note(problem, "stallAfter: must be a duration of at least 1m, such as 90s, 30m or 1h30m");
  } else if (key == "deadline") {
    read_text(json, key, spec.deadline, problem);
    if (!parse_rfc3339(spec.deadline)) note(problem, "deadline: must be a time such as 2026-12-01T06:00:00Z");
  } else if (key == "deletionPolicy") {
    read_choice(json, key, {"Orphan", "Cancel", "Wait"}, spec.deletion_policy, problem);
  } else {
    return false;
  }
  return true;
}

void read_spec(const Reader& in, ReassignmentSpec& spec) {
  JsonCursor& json = in.json;
  json.object([&](std::string_view key) {
    const bool object = json.peek() == '{';
    if (key == "clusterRef" && object) {
      read_name(in, "spec.clusterRef", spec.cluster);
    } else if (key == "plan" && object) {
      ++spec.forms;
      read_plan(in, spec);
    } else if (key == "assignments" && object) {
      ++spec.forms;
      read_assignments(in, spec);
    } else if (key == "rollbackOf" && object) {
      ++spec.forms;
      read_name(in, "spec.rollbackOf", spec.rollback_of);
    } else if (key == "throttle" && object) {
      spec.throttle = true;
      json.object([&](std::string_view k) {
        if (k == "bytesPerSecond") {
          json.skip();
        } else {
          in.unknown("spec.throttle", k);
        }
      });
    } else if (key == "allow" && json.peek() == '[') {
      read_allow(json, spec);
    } else if (!read_plain(json, key, spec)) {
      in.unknown("spec", key);
    }
  });
  if (!valid_cluster_name(spec.cluster))
    note(spec.problem, "clusterRef.name: " + quoted(spec.cluster) + " is not a cluster name; use a-z 0-9 -");
  if (spec.forms != 1) note(spec.problem, "set exactly one of plan, assignments, rollbackOf");
}

void read_progress(const Reader& in, Progress& p) {
  JsonCursor& json = in.json;
  json.object([&](std::string_view key) {
    const std::pair<std::string_view, std::int64_t*> numbers[] = {
        {"total", &p.total},         {"waiting", &p.waiting},   {"inFlight", &p.in_flight},
        {"completed", &p.completed}, {"restored", &p.restored}, {"failed", &p.failed}};
    for (const auto& [name, target] : numbers)
      if (key == name) return static_cast<void>(json.integer(*target));
    if (key == "display") {
      json.string(p.display);
    } else if (key == "bytesMoved") {
      json.integer(p.bytes_moved.emplace());
    } else if (key == "bytesTotal") {
      json.integer(p.bytes_total.emplace());
    } else {
      in.unknown("status.progress", key);
    }
  });
}

void read_requests(const Reader& in, std::vector<RequestRef>& out) {
  JsonCursor& json = in.json;
  json.array([&] {
    RequestRef& r = out.emplace_back();
    json.object([&](std::string_view key) {
      if (key == "name") {
        json.string(r.name);
      } else if (key == "czxid") {
        json.string(r.czxid);
      } else if (key == "partitions") {
        json.integer(r.partitions);
      } else if (key == "done") {
        json.boolean(r.done);
      } else {
        in.unknown("status.requests[]", key);
      }
    });
  });
}

void read_tree(const Reader& in, TreeInfo& t) {
  JsonCursor& json = in.json;
  json.object([&](std::string_view key) {
    if (key == "kind") {
      json.string(t.kind);
    } else if (key == "controller") {
      json.string(t.controller);
    } else if (key == "driver") {
      json.string(t.driver);
    } else if (key == "lastSyncTime") {
      json.string(t.last_sync);
    } else {
      in.unknown("status.tree", key);
    }
  });
}

void read_status(const Reader& in, ReassignmentStatus& s) {
  JsonCursor& json = in.json;
  json.object([&](std::string_view key) {
    const std::pair<std::string_view, std::string*> texts[] = {{"phase", &s.phase},
                                                               {"summary", &s.summary},
                                                               {"planHash", &s.plan_hash},
                                                               {"startTime", &s.start},
                                                               {"lastProgressTime", &s.last_progress},
                                                               {"completionTime", &s.completion}};
    for (const auto& [name, target] : texts)
      if (key == name) return static_cast<void>(json.string(*target));
    if (key == "observedGeneration") {
      json.integer(s.observed_generation);
    } else if (key == "progress") {
      read_progress(in, s.progress);
    } else if (key == "requests") {
      read_requests(in, s.requests);
    } else if (key == "problemPartitions") {
      read_problems(in, s.problems);
    } else if (key == "tree") {
      read_tree(in, s.tree);
    } else if (key == "conditions") {
      read_conditions(in, s.conditions);
    } else if (key == "eta") {
      json.skip();  // not computed yet; whatever another release wrote goes with the next status
    } else {
      in.unknown("status", key);
    }
  });
}

void write_progress(JsonWriter& out, const Progress& p) {
  out.key("progress").open('{').key("display").value(p.display);
  out.key("total").value(p.total).key("waiting").value(p.waiting).key("inFlight").value(p.in_flight);
  out.key("completed").value(p.completed).key("restored").value(p.restored).key("failed").value(p.failed);
  if (p.bytes_moved) out.key("bytesMoved").value(*p.bytes_moved);
  if (p.bytes_total) out.key("bytesTotal").value(*p.bytes_total);
  out.close('}');
}

void write_requests(JsonWriter& out, const std::vector<RequestRef>& requests) {
  if (requests.empty()) return;
  out.key("requests").open('[');
  for (const RequestRef& r : requests) {
    out.open('{').key("name").value(r.name).text_member("czxid", r.czxid);
    out.key("partitions").value(r.partitions).key("done").value(r.done).close('}');
  }
  out.close(']');
}

}  // namespace

Result<KafkaReassignment> decode_reassignment(std::string_view text, std::vector<std::string>* ignored) {
  JsonCursor json(text);
  const Reader in{json, ignored};
  KafkaReassignment out;
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
  if (!json.ok()) return invalid("KafkaReassignment: " + json.error());
  if (out.meta.uid.empty() || out.meta.name.empty()) return invalid("KafkaReassignment without a name or a uid");
  if (out.spec.cluster.empty()) note(out.spec.problem, "clusterRef.name is missing");
  out.meta.object_bytes = text.size();
  return out;
}

std::string encode_status(const ReassignmentStatus& s) {
  JsonWriter out;
  out.open('{').key("observedGeneration").value(s.observed_generation);
  out.text_member("phase", s.phase).text_member("summary", s.summary).text_member("planHash", s.plan_hash);
  write_progress(out, s.progress);
  out.text_member("startTime", s.start).text_member("lastProgressTime", s.last_progress);
  out.text_member("completionTime", s.completion);
  write_requests(out, s.requests);
  write_problems(out, s.problems);
  out.key("tree").open('{').text_member("kind", s.tree.kind).text_member("controller", s.tree.controller);
  out.text_member("driver", s.tree.driver).text_member("lastSyncTime", s.tree.last_sync).close('}');
  write_conditions(out, s.conditions);
  return out.close('}').take();
}

std::string plan_hash(const Assignments& assignments) {
  Sha256 hash;
  std::string piece = "{\"assignments\":{";
  bool first_topic = true;
  for (const auto& [topic, partitions] : assignments) {
    piece += first_topic ? "\"" : ",\"";
    piece += topic;
    piece += "\":{";
    first_topic = false;
    bool first = true;
    for (const auto& [partition, replicas] : partitions) {
      piece += first ? "\"" : ",\"";
      piece += std::to_string(partition);
      piece += "\":[";
      piece += to_text(replicas);
      piece += ']';
      first = false;
    }
    piece += '}';
    hash.update(piece);
    piece.clear();
  }
  piece += "}}";
  hash.update(piece);
  return "sha256:" + hash.hex_digest();
}

}  // namespace kro::api
