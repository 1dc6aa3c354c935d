#include "tree/strict_json.h"

#include <charconv>
#include <set>

namespace kro::tree {
namespace {

constexpr int kMostDepth = 16;

std::string at(std::string_view where, std::string_view what) {
  std::string out(where);
  out += ": ";
  out += what;
  return out;
}

}  // namespace

Result<Json> parse_strict(std::string_view text) {
  std::vector<std::set<std::string, std::less<>>> keys;
  std::string problem;
  const auto watch = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > kMostDepth && problem.empty()) problem = "nested too deeply";
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys.empty()) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.empty()) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second && problem.empty()) problem = "key \"" + key + "\" stands twice";
    }
    return true;
  };
  Json json = Json::parse(text, watch, false);
  if (!problem.empty()) return invalid(problem);
  if (json.is_discarded()) return invalid(text.empty() ? "empty, not a JSON object" : "not JSON");
  if (!json.is_object()) return invalid("not a JSON object");
  const auto version = json.find("version");
  if (version == json.end()) return invalid("\"version\" is missing");
  const auto number = read_integer(*version, "version");
  if (!number) return tl::unexpected(number.error());
  if (*number != 1) return invalid("version " + std::to_string(*number) + " is not known, only 1 is");
  return json;
}

Result<std::int64_t> read_integer(const Json& value, std::string_view where, std::int64_t least, std::int64_t most) {
  if (!value.is_number_integer()) return invalid(at(where, "must be an integer"));
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return invalid(at(where, "is out of range"));
  const auto number = value.get<std::int64_t>();
  if (number < least || number > most) return invalid(at(where, std::to_string(number) + " is out of range"));
  return number;
}

Result<bool> read_bool(const Json& value, std::string_view where) {
  if (!value.is_boolean()) return invalid(at(where, "must be true or false"));
  return value.get<bool>();
}

Result<std::string> read_string(const Json& value, std::string_view where) {
  if (!value.is_string()) return invalid(at(where, "must be a string"));
  return value.get<std::string>();
}

Result<std::vector<std::int32_t>> read_ids(const Json& value, std::string_view where) {
  if (!value.is_array()) return invalid(at(where, "must be a list of integers"));
  std::vector<std::int32_t> out;
  out.reserve(value.size());
  for (const Json& item : value) {
    const auto id =
        read_integer(item, where, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
    if (!id) return tl::unexpected(id.error());
    out.push_back(static_cast<std::int32_t>(*id));
  }
  return out;
}

Result<ReplicaList> read_replicas(const Json& value, std::string_view where) {
  auto ids = read_ids(value, where);
  if (!ids) return ids;
  if (const auto problem = replica_list_problem(*ids)) return invalid(at(where, *problem));
  return ids;
}

Result<PartitionId> read_partition_key(const std::string& key, std::string_view where) {
  PartitionId id = -1;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  if (error != std::errc{} || end != key.data() + key.size() || id < 0 || (key.size() > 1 && key[0] == '0') ||
      key[0] == '-')
    return invalid(at(where, "\"" + key + "\" is not a partition number"));
  return id;
}

Result<Assignments> read_assignments(const Json& value, std::string_view where) {
  if (!value.is_object()) return invalid(at(where, "must be an object of topics"));
  Assignments out;
  for (const auto& [topic, partitions] : value.items()) {
    if (!valid_topic_name(topic)) return invalid(at(where, "\"" + topic + "\" is not a topic name"));
    if (!partitions.is_object()) return invalid(at(topic, "must be an object of partitions"));
    auto& list = out[topic];
    for (const auto& [key, replicas] : partitions.items()) {
      const auto id = read_partition_key(key, topic);
      if (!id) return tl::unexpected(id.error());
      auto ids = read_replicas(replicas, topic + "-" + key);
      if (!ids) return tl::unexpected(ids.error());
      list.emplace(*id, std::move(*ids));
    }
    if (list.empty()) return invalid(at(topic, "names no partition"));
  }
  return out;
}

Result<PartitionSets> read_partition_sets(const Json& value, std::string_view where) {
  if (!value.is_object()) return invalid(at(where, "must be an object of topics"));
  PartitionSets out;
  for (const auto& [topic, numbers] : value.items()) {
    if (!valid_topic_name(topic)) return invalid(at(where, "\"" + topic + "\" is not a topic name"));
    const auto ids = read_ids(numbers, topic);
    if (!ids) return tl::unexpected(ids.error());
    for (const auto id : *ids) {
      if (id < 0) return invalid(at(topic, "partition " + std::to_string(id) + " is negative"));
      insert(out, {topic, id});
    }
  }
  return out;
}

OrderedJson to_json(const Assignments& assignments) {
  // Straight into the underlying vectors: operator[] searches them, which is quadratic for large topics.
  OrderedJson out = OrderedJson::object();
  auto& topics = out.get_ref<OrderedJson::object_t&>();
  for (const auto& [topic, partitions] : assignments) {
    OrderedJson::object_t numbers;
    numbers.reserve(partitions.size());
    for (const auto& [partition, replicas] : partitions) numbers.emplace_back(std::to_string(partition), replicas);
    topics.emplace_back(topic, std::move(numbers));
  }
  return out;
}

OrderedJson to_json(const PartitionSets& sets) {
  OrderedJson out = OrderedJson::object();
  for (const auto& [topic, numbers] : sets) out[topic] = numbers;
  return out;
}

}  // namespace kro::tree
