#include "tree/node_codecs.h"

#include <charconv>

#include "tree/strict_json.h"

namespace kro::tree {
namespace {

Result<std::int64_t> read_int64(const Json& value, std::string_view where) { return read_integer(value, where); }

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

Result<ForeignMove> read_move(const Json& value) {
  if (!value.is_object()) return invalid("partitions: must be objects");
  struct Flat : ForeignMove {
    std::string topic;
    std::int64_t partition = 0;
  } out;
  KRO_READ_IF(value, "topic", topic, read_string);
  KRO_READ_IF(value, "partition", partition, read_int64);
  KRO_READ_IF(value, "target", target, read_ids);
  KRO_READ_IF(value, "adding", adding, read_ids);
  KRO_READ_IF(value, "removing", removing, read_ids);
  out.tp = {out.topic, static_cast<PartitionId>(out.partition)};
  return static_cast<ForeignMove&&>(out);
}

}  // namespace

Lock decode_lock(std::string_view text) {
  const auto json = parse_strict(text);
  if (!json) return {};
  const auto owner = json->find("owner");
  if (owner == json->end() || !owner->is_string()) return {};
  return {owner->get<std::string>()};
}

std::string encode_lock(const Lock& lock) { return OrderedJson{{"version", 1}, {"owner", lock.owner}}.dump(); }

Result<ControllerNode> decode_controller(std::string_view text) {
  const auto json = parse_strict(text);
  if (!json) return tl::unexpected(json.error());
  ControllerNode out;
  KRO_READ_IF(*json, "id", id, read_string);
  KRO_READ_IF(*json, "host", host, read_string);
  KRO_READ_IF(*json, "epoch", epoch, read_int64);
  KRO_READ_IF(*json, "tree", tree, read_string);
  KRO_READ_IF(*json, "driver", driver, read_string);
  KRO_READ_IF(*json, "cluster_id", cluster_id, read_string);
  KRO_READ_IF(*json, "kafka_version", kafka_version, read_string);
  KRO_READ_IF(*json, "features", features, read_names);
  return out;
}

std::string encode_controller(const ControllerNode& n) {
  return OrderedJson{{"version", 1},
                     {"id", n.id},
                     {"host", n.host},
                     {"epoch", n.epoch},
                     {"tree", n.tree},
                     {"driver", n.driver},
                     {"cluster_id", n.cluster_id},
                     {"kafka_version", n.kafka_version},
                     {"features", n.features}}
      .dump();
}

Result<std::int64_t> decode_epoch(std::string_view text) {
  if (text.empty()) return 0;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0)
    return invalid("the controller epoch is not a decimal number");
  return value;
}

Result<PartitionSets> decode_call(std::string_view text) {
  if (text.empty()) return PartitionSets{};
  const auto json = parse_strict(text);
  if (!json) return tl::unexpected(json.error());
  const auto partitions = json->find("partitions");
  if (partitions == json->end()) return invalid("\"partitions\" is missing");
  return read_partition_sets(*partitions, "partitions");
}

std::string encode_call(const PartitionSets& partitions) {
  if (partitions.empty()) return {};
  return OrderedJson{{"version", 1}, {"partitions", to_json(partitions)}}.dump();
}

Result<Foreign> decode_foreign(std::string_view text) {
  if (text.empty()) return Foreign{};
  const auto json = parse_strict(text);
  if (!json) return tl::unexpected(json.error());
  Foreign out;
  if (const auto total = json->find("total"); total != json->end()) {
    const auto n = read_integer(*total, "total", 0, std::numeric_limits<std::int32_t>::max());
    if (!n) return tl::unexpected(n.error());
    out.total = static_cast<std::int32_t>(*n);
  }
  if (const auto rows = json->find("partitions"); rows != json->end()) {
    if (!rows->is_array()) return invalid("partitions: must be a list");
    for (const Json& row : *rows) {
      auto move = read_move(row);
      if (!move) return tl::unexpected(move.error());
      out.moves.push_back(std::move(*move));
    }
  }
  return out;
}

std::string encode_foreign(const Foreign& foreign) {
  OrderedJson out{{"version", 1}, {"total", foreign.total}, {"partitions", OrderedJson::array()}};
  for (const ForeignMove& m : foreign.moves)
    out["partitions"].push_back({{"topic", m.tp.topic},
                                 {"partition", m.tp.partition},
                                 {"target", m.target},
                                 {"adding", m.adding},
                                 {"removing", m.removing}});
  return out.dump();
}

Result<LedgerRoot> decode_ledger_root(std::string_view text) {
  const auto json = parse_strict(text);
  if (!json) return tl::unexpected(json.error());
  LedgerRoot out;
  KRO_READ_IF(*json, "epoch", epoch, read_int64);
  KRO_READ_IF(*json, "owner", owner, read_string);
  KRO_READ_IF(*json, "cluster", cluster, read_string);
  return out;
}

std::string encode_ledger_root(const LedgerRoot& root) {
  return OrderedJson{{"version", 1}, {"epoch", root.epoch}, {"owner", root.owner}, {"cluster", root.cluster}}.dump();
}

Result<Marker> decode_marker(std::string_view text) {
  const auto json = parse_strict(text);
  if (!json) return tl::unexpected(json.error());
  Marker out;
  KRO_READ_IF(*json, "namespace", ns, read_string);
  KRO_READ_IF(*json, "name", name, read_string);
  KRO_READ_IF(*json, "attempt", attempt, read_int64);
  const auto request = json->find("request");
  if (request == json->end() || !request->is_object()) return invalid("\"request\" is missing");
  out.request = request->dump();
  return out;
}

std::string encode_marker(const Marker& marker) {
  OrderedJson out{{"version", 1}, {"namespace", marker.ns}, {"name", marker.name}};
  if (marker.attempt != 0) out["attempt"] = marker.attempt;
  out["request"] = OrderedJson::parse(marker.request, nullptr, false);
  return out.dump();
}

}  // namespace kro::tree
