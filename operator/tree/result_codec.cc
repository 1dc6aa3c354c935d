#include "tree/result_codec.h"

#include <algorithm>

#include "tree/strict_json.h"

namespace kro::tree {
namespace {

Result<std::map<std::string, PartitionSets>> read_named_sets(const Json& value, std::string_view where) {
  if (!value.is_object()) return invalid(std::string(where) + ": must be an object");
  std::map<std::string, PartitionSets> out;
  for (const auto& [name, sets] : value.items()) {
    auto read = read_partition_sets(sets, name);
    if (!read) return tl::unexpected(read.error());
    out.emplace(name, std::move(*read));
  }
  return out;
}

Result<std::int32_t> read_int32(const Json& value, std::string_view where) {
  const auto n =
      read_integer(value, where, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
  if (!n) return tl::unexpected(n.error());
  return static_cast<std::int32_t>(*n);
}

Result<std::int64_t> read_int64(const Json& value, std::string_view where) { return read_integer(value, where); }

Result<std::optional<std::int16_t>> read_code(const Json& value, std::string_view where) {
  const auto n = read_integer(value, where, -32768, 32767);
  if (!n) return tl::unexpected(n.error());
  return std::optional(static_cast<std::int16_t>(*n));
}

Result<std::optional<Bytes>> read_bytes(const Json& value, std::string_view where) {
  if (!value.is_object()) return invalid(std::string(where) + ": must be an object");
  Bytes out;
  KRO_READ_IF(value, "moved", moved, read_int64);
  KRO_READ_IF(value, "total", total, read_int64);
  return std::optional(out);
}

Result<std::optional<IfCancelled>> read_if_cancelled(const Json& value, std::string_view where) {
  if (!value.is_object()) return invalid(std::string(where) + ": must be an object");
  IfCancelled out;
  KRO_READ_IF(value, "restorable", restorable, read_int32);
  KRO_READ_IF(value, "refused", refused, read_int32);
  return std::optional(out);
}

Result<Problem> read_problem(const Json& value) {
  if (!value.is_object()) return invalid("problems: must be objects");
  struct Flat : Problem {
    std::string topic;
    std::int32_t partition = 0;
  } out;
  KRO_READ_IF(value, "topic", topic, read_string);
  KRO_READ_IF(value, "partition", partition, read_int32);
  KRO_READ_IF(value, "current", current, read_ids);
  KRO_READ_IF(value, "target", target, read_ids);
  KRO_READ_IF(value, "originals", originals, read_ids);
  KRO_READ_IF(value, "isr", isr, read_ids);
  KRO_READ_IF(value, "leader", leader, read_int32);
  KRO_READ_IF(value, "cause", cause, read_string);
  KRO_READ_IF(value, "code", code, read_code);
  KRO_READ_IF(value, "brokers", brokers, read_ids);
  KRO_READ_IF(value, "since", since, read_string);
  KRO_READ_IF(value, "if_cancelled", if_cancelled, read_string);
  out.tp = {out.topic, out.partition};
  return static_cast<Problem&&>(out);
}

Result<std::vector<Problem>> read_problems(const Json& value, std::string_view where) {
  if (!value.is_array()) return invalid(std::string(where) + ": must be a list");
  std::vector<Problem> out;
  for (const Json& item : value) {
    auto problem = read_problem(item);
    if (!problem) return tl::unexpected(problem.error());
    out.push_back(std::move(*problem));
  }
  return out;
}

OrderedJson problem_json(const Problem& p) {
  OrderedJson out{{"topic", p.tp.topic},      {"partition", p.tp.partition},
                  {"current", p.current},     {"target", p.target},
                  {"originals", p.originals}, {"isr", p.isr},
                  {"leader", p.leader},       {"cause", p.cause}};
  if (p.code) out["code"] = *p.code;
  if (!p.brokers.empty()) out["brokers"] = p.brokers;
  out["since"] = p.since;
  if (!p.if_cancelled.empty()) out["if_cancelled"] = p.if_cancelled;
  return out;
}

OrderedJson named_sets(const std::map<std::string, PartitionSets>& sets) {
  OrderedJson out = OrderedJson::object();
  for (const auto& [name, partitions] : sets) out[name] = to_json(partitions);
  return out;
}

Result<std::map<std::string, std::string>> read_topic_ids(const Json& value, std::string_view where) {
  if (!value.is_object()) return invalid(std::string(where) + ": must be an object");
  std::map<std::string, std::string> out;
  for (const auto& [topic, id] : value.items()) {
    auto text = read_string(id, topic);
    if (!text) return tl::unexpected(text.error());
    out.emplace(topic, std::move(*text));
  }
  return out;
}

std::size_t total(const std::map<std::string, PartitionSets>& sets) {
  std::size_t n = 0;
  for (const auto& [name, partitions] : sets) n += count(partitions);
  return n;
}

}  // namespace

std::size_t RequestResult::refused_count() const { return total(refused); }
std::size_t RequestResult::finished_count() const { return total(finished); }
std::size_t RequestResult::finished_count(std::string_view outcome) const {
  const auto it = finished.find(std::string(outcome));
  return it == finished.end() ? 0 : count(it->second);
}

std::string_view RequestResult::outcome_of(const TopicPartition& tp) const {
  for (const auto& [name, sets] : finished)
    if (contains(sets, tp)) return name;
  for (const auto& [name, sets] : refused)
    if (contains(sets, tp)) return "refused";
  return {};
}

std::int32_t RequestResult::in_flight() const {
  const auto ended = static_cast<std::int32_t>(refused_count() + finished_count());
  return std::max(0, partitions - ended - waiting);
}

Result<RequestResult> decode_result(std::string_view text) {
  const auto json = parse_strict(text);
  if (!json) return tl::unexpected(json.error());
  RequestResult out;
  KRO_READ_IF(*json, "request", request, read_string);
  KRO_READ_IF(*json, "czxid", czxid, read_string);
  KRO_READ_IF(*json, "ctime", ctime, read_int64);
  KRO_READ_IF(*json, "client", client, read_string);
  KRO_READ_IF(*json, "received", received, read_string);
  KRO_READ_IF(*json, "partitions", partitions, read_int32);
  KRO_READ_IF(*json, "waiting", waiting, read_int32);
  KRO_READ_IF(*json, "refused", refused, read_named_sets);
  KRO_READ_IF(*json, "finished", finished, read_named_sets);
  KRO_READ_IF(*json, "joined", joined, read_partition_sets);
  KRO_READ_IF(*json, "foreign", foreign, read_partition_sets);
  KRO_READ_IF(*json, "bytes", bytes, read_bytes);
  KRO_READ_IF(*json, "last_progress", last_progress, read_string);
  KRO_READ_IF(*json, "holding", holding, read_string);
  KRO_READ_IF(*json, "if_cancelled", if_cancelled, read_if_cancelled);
  KRO_READ_IF(*json, "problems_total", problems_total, read_int32);
  KRO_READ_IF(*json, "problems", problems, read_problems);
  KRO_READ_IF(*json, "error", error, read_string);
  KRO_READ_IF(*json, "done", done, read_bool);
  return out;
}

std::string encode_result(const RequestResult& r) {
  OrderedJson out{{"version", 1}};
  if (!r.request.empty()) out["request"] = r.request;
  if (!r.czxid.empty()) out["czxid"] = r.czxid;
  if (r.ctime != 0) out["ctime"] = r.ctime;
  if (!r.client.empty()) out["client"] = r.client;
  out["received"] = r.received;
  out["partitions"] = r.partitions;
  out["waiting"] = r.waiting;
  out["refused"] = named_sets(r.refused);
  out["finished"] = named_sets(r.finished);
  out["joined"] = to_json(r.joined);
  if (!r.foreign.empty()) out["foreign"] = to_json(r.foreign);
  if (r.bytes) out["bytes"] = {{"moved", r.bytes->moved}, {"total", r.bytes->total}};
  if (!r.last_progress.empty()) out["last_progress"] = r.last_progress;
  if (!r.holding.empty()) out["holding"] = r.holding;
  if (r.if_cancelled)
    out["if_cancelled"] = {{"restorable", r.if_cancelled->restorable}, {"refused", r.if_cancelled->refused}};
  out["problems_total"] = r.problems_total;
  out["problems"] = OrderedJson::array();
  for (const Problem& p : r.problems) out["problems"].push_back(problem_json(p));
  if (!r.error.empty()) out["error"] = r.error;
  out["done"] = r.done;
  // Texts of others (topic names apart, which are ASCII) may be cut UTF-8: never throw, replace.
  return out.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

Result<Originals> decode_originals(std::string_view text) {
  const auto json = parse_strict(text);
  if (!json) return tl::unexpected(json.error());
  Originals out;
  const auto lists = json->find("originals");
  if (lists == json->end()) return invalid("\"originals\" is missing");
  auto originals = read_assignments(*lists, "originals");
  if (!originals) return tl::unexpected(originals.error());
  out.originals = std::move(*originals);
  KRO_READ_IF(*json, "topic_ids", topic_ids, read_topic_ids);
  return out;
}

std::string encode_originals(const Originals& originals) {
  OrderedJson out{{"version", 1}, {"originals", to_json(originals.originals)}};
  OrderedJson ids = OrderedJson::object();
  for (const auto& [topic, id] : originals.topic_ids) ids[topic] = id;
  out["topic_ids"] = std::move(ids);
  return out.dump();
}

}  // namespace kro::tree
