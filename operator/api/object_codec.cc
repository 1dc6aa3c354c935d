#include "api/object_codec.h"

#include <algorithm>

namespace kro::api {

void note(std::string& problem, std::string what) {
  if (problem.empty()) problem = std::move(what);
}

bool valid_cluster_name(std::string_view name) {
  if (name.empty() || name.size() > 63 || name.front() == '-' || name.back() == '-') return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

void read_meta(const Reader& in, ObjectMeta& out) {
  JsonCursor& json = in.json;
  json.object([&](std::string_view key) {
    if (key == "namespace") {
      json.string(out.ns);
    } else if (key == "name") {
      json.string(out.name);
    } else if (key == "uid") {
      json.string(out.uid);
    } else if (key == "resourceVersion") {
      json.string(out.resource_version);
    } else if (key == "generation") {
      json.integer(out.generation);
    } else if (key == "deletionTimestamp") {
      out.deleting = json.peek() == '"';
      json.skip();
    } else if (key == "finalizers" && json.peek() == '[') {
      json.array([&] { json.string(out.finalizers.emplace_back()); });
    } else {
      json.skip();
    }
  });
}

void read_conditions(const Reader& in, std::vector<Condition>& out) {
  JsonCursor& json = in.json;
  json.array([&] {
    Condition& c = out.emplace_back();
    json.object([&](std::string_view key) {
      if (key == "type") {
        json.string(c.type);
      } else if (key == "status") {
        json.string(c.status);
      } else if (key == "reason") {
        json.string(c.reason);
      } else if (key == "message") {
        json.string(c.message);
      } else if (key == "observedGeneration") {
        json.integer(c.observed_generation);
      } else if (key == "lastTransitionTime") {
        json.string(c.last_transition);
      } else {
        in.unknown("status.conditions[]", key);
      }
    });
  });
}

void read_problems(const Reader& in, std::vector<ProblemPartition>& out) {
  JsonCursor& json = in.json;
  json.array([&] {
    ProblemPartition& p = out.emplace_back();
    json.object([&](std::string_view key) {
      if (key == "topic") {
        json.string(p.topic);
      } else if (key == "partition") {
        json.integer(p.partition);
      } else if (key == "current") {
        json.string(p.current);
      } else if (key == "target") {
        json.string(p.target);
      } else if (key == "originals") {
        json.string(p.originals);
      } else if (key == "isr") {
        json.string(p.isr);
      } else if (key == "reason") {
        json.string(p.reason);
      } else if (key == "ifCancelled") {
        json.string(p.if_cancelled);
      } else {
        in.unknown("status.problemPartitions[]", key);
      }
    });
  });
}

void read_name(const Reader& in, std::string_view path, std::string& out) {
  in.json.object([&](std::string_view key) {
    if (key == "name") {
      in.json.string(out);
    } else {
      in.unknown(path, key);
    }
  });
}

void read_int32(JsonCursor& json, std::string_view field, std::int64_t least, std::int32_t& out, std::string& problem) {
  const char c = json.peek();
  std::int64_t value = 0;
  if (c != '-' && (c < '0' || c > '9')) {
    json.skip();
    return note(problem, std::string(field) + ": must be a whole number");
  }
  if (!json.integer(value)) return;
  if (value < least || value > INT32_MAX)
    return note(problem, std::string(field) + ": " + std::to_string(value) + " is out of range");
  out = static_cast<std::int32_t>(value);
}

void write_conditions(JsonWriter& out, const std::vector<Condition>& conditions) {
  out.key("conditions").open('[');
  for (const Condition& c : conditions) {
    out.open('{').key("type").value(c.type).key("status").value(c.status);
    out.key("reason").value(c.reason).key("message").value(c.message);
    out.key("observedGeneration").value(c.observed_generation);
    out.key("lastTransitionTime").value(c.last_transition).close('}');
  }
  out.close(']');
}

void write_problems(JsonWriter& out, const std::vector<ProblemPartition>& problems) {
  if (problems.empty()) return;
  out.key("problemPartitions").open('[');
  for (const ProblemPartition& p : problems) {
    out.open('{').key("topic").value(p.topic).key("partition").value(p.partition);
    out.text_member("current", p.current).text_member("target", p.target).text_member("originals", p.originals);
    out.text_member("isr", p.isr).text_member("reason", p.reason).text_member("ifCancelled", p.if_cancelled);
    out.close('}');
  }
  out.close(']');
}

}  // namespace kro::api
