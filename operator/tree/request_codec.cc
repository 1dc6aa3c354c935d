#include "tree/request_codec.h"

#include <algorithm>

#include "tree/limits.h"
#include "tree/strict_json.h"

namespace kro::tree {
namespace {

// Known to the protocol at all; whether this build executes it is what `features` says.
constexpr std::string_view kAlwaysKnown[] = {"version", "assignments"};

// What is told of a request goes into its result: foreign text in it must not make that too large to be written.
std::string shortened(std::string text) {
  constexpr std::size_t kMostErrorBytes = 1000;
  if (text.size() <= kMostErrorBytes) return text;
  std::size_t end = kMostErrorBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // no half of a character
  text.resize(end);
  return text + " …";
}

RequestRefusal malformed(const Error& error) { return {"MalformedRequest", shortened(error.text())}; }

RequestRefusal unsupported(const std::string& what) {
  return {"UnsupportedFeature", shortened("this controller does not know the " + what)};
}

Result<std::vector<std::string>> read_names(const Json& value, std::string_view where) {
  if (!value.is_array()) return invalid(std::string(where) + ": must be a list of names");
  std::vector<std::string> out;
  for (const Json& item : value) {
    auto name = read_string(item, where);
    if (!name) return tl::unexpected(name.error());
    out.push_back(std::move(*name));
  }
  return out;
}

Result<std::map<std::string, std::map<PartitionId, std::string>>> read_cancel(const Json& value,
                                                                              std::string_view where) {
  if (!value.is_object()) return invalid(std::string(where) + ": must be an object of topics");
  std::map<std::string, std::map<PartitionId, std::string>> out;
  for (const auto& [topic, partitions] : value.items()) {
    if (!valid_topic_name(topic)) return invalid("cancel: \"" + topic + "\" is not a topic name");
    if (!partitions.is_object()) return invalid(topic + ": must be an object of partitions");
    for (const auto& [key, name] : partitions.items()) {
      const auto id = read_partition_key(key, topic);
      if (!id) return tl::unexpected(id.error());
      auto text = read_string(name, topic + "-" + key);
      if (!text) return tl::unexpected(text.error());
      out[topic].emplace(*id, std::move(*text));
    }
  }
  return out;
}

Result<std::map<std::string, PartitionSets>> read_withdraw(const Json& value, std::string_view where) {
  if (!value.is_object()) return invalid(std::string(where) + ": must be an object of result names");
  std::map<std::string, PartitionSets> out;
  for (const auto& [name, sets] : value.items()) {
    auto partitions = read_partition_sets(sets, name);
    if (!partitions) return tl::unexpected(partitions.error());
    out.emplace(name, std::move(*partitions));
  }
  return out;
}

Result<std::int64_t> read_throttle(const Json& value, std::string_view where) {
  if (!value.is_object() || value.size() != 1 || !value.contains("bytes_per_second"))
    return invalid(std::string(where) + ": must be {\"bytes_per_second\":n}");
  return read_integer(value["bytes_per_second"], "throttle.bytes_per_second", 1);
}

Result<Request> read_request(const Json& json) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  Request out;
  KRO_READ_IF(json, "assignments", assignments, read_assignments);
  KRO_READ_IF(json, "cancel", cancel, read_cancel);
  KRO_READ_IF(json, "withdraw", withdraw, read_withdraw);
  KRO_READ_IF(json, "legacy", legacy, read_bool);
  KRO_READ_IF(json, "client", client, read_string);
  KRO_READ_IF(json, "check", check, read_names);
  KRO_READ_IF(json, "allow", allow, read_names);
  KRO_READ_IF(json, "dry_run", dry_run, read_bool);
  KRO_READ_IF(json, "all_or_nothing", all_or_nothing, read_bool);
  KRO_READ_IF(json, "health_gate", health_gate, read_bool);
  KRO_READ_IF(json, "throttle", throttle_bytes_per_second, read_throttle);
  if (const auto it = json.find("max_in_flight"); it != json.end()) {
    const auto n = read_integer(*it, "max_in_flight", 1, kMost);
    if (!n) return tl::unexpected(n.error());
    out.max_in_flight = static_cast<std::int32_t>(*n);
  }
  if (const auto it = json.find("max_in_flight_per_broker"); it != json.end()) {
    const auto n = read_integer(*it, "max_in_flight_per_broker", 1, kMost);
    if (!n) return tl::unexpected(n.error());
    out.max_in_flight_per_broker = static_cast<std::int32_t>(*n);
  }
  const int forms = (out.assignments.empty() ? 0 : 1) + (out.cancel.empty() ? 0 : 1) + (out.withdraw.empty() ? 0 : 1);
  if (forms != 1) return invalid("exactly one of assignments, cancel and withdraw must name a partition");
  return out;
}

}  // namespace

bool Features::has(std::string_view name) const {
  return std::find(keys.begin(), keys.end(), name) != keys.end() ||
         std::find(checks.begin(), checks.end(), name) != checks.end();
}

std::vector<std::string> Features::published() const {
  std::vector<std::string> out = keys;
  out.insert(out.end(), checks.begin(), checks.end());
  return out;
}

std::variant<Request, RequestRefusal> decode_request(std::string_view text, const Features& features) {
  // Larger ones make results that do not fit a multi (znodes.md 3.2).
  if (text.size() > kMostRequestBytes)
    return malformed(invalid("a request of " + std::to_string(text.size()) + " bytes, at most " +
                             std::to_string(kMostRequestBytes) + " are allowed")
                         .value());
  const auto json = parse_strict(text);
  if (!json) return malformed(json.error());
  for (const auto& [key, value] : json->items()) {
    const bool known = std::find(std::begin(kAlwaysKnown), std::end(kAlwaysKnown), key) != std::end(kAlwaysKnown) ||
                       std::find(features.keys.begin(), features.keys.end(), key) != features.keys.end();
    if (!known) return unsupported("key \"" + key + "\"");
  }
  auto request = read_request(*json);
  if (!request) return malformed(request.error());
  if (const std::size_t n = count(request->assignments); n > kMostPartitionsPerRequest)
    return malformed(invalid("a request for " + std::to_string(n) + " partitions, at most " +
                             std::to_string(kMostPartitionsPerRequest) + " are allowed")
                         .value());
  for (const auto* names : {&request->check, &request->allow})
    for (const std::string& name : *names)
      if (std::find(features.checks.begin(), features.checks.end(), name) == features.checks.end())
        return unsupported("check \"" + name + "\"");
  return std::move(*request);
}

std::string encode_request(const Request& request) {
  OrderedJson out{{"version", 1}};
  if (!request.assignments.empty()) out["assignments"] = to_json(request.assignments);
  for (const auto& [topic, partitions] : request.cancel)
    for (const auto& [partition, name] : partitions) out["cancel"][topic][std::to_string(partition)] = name;
  for (const auto& [name, sets] : request.withdraw) out["withdraw"][name] = to_json(sets);
  if (request.legacy) out["legacy"] = true;
  if (!request.client.empty()) out["client"] = request.client;
  if (!request.check.empty()) out["check"] = request.check;
  if (!request.allow.empty()) out["allow"] = request.allow;
  if (request.dry_run) out["dry_run"] = true;
  if (request.all_or_nothing) out["all_or_nothing"] = true;
  if (request.max_in_flight > 0) out["max_in_flight"] = request.max_in_flight;
  if (request.max_in_flight_per_broker > 0) out["max_in_flight_per_broker"] = request.max_in_flight_per_broker;
  if (request.health_gate) out["health_gate"] = true;
  if (request.throttle_bytes_per_second > 0) out["throttle"]["bytes_per_second"] = request.throttle_bytes_per_second;
  return out.dump();
}

}  // namespace kro::tree
