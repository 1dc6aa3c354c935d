#include "tree/reassignment_codec.h"

#include "tree/strict_json.h"

namespace kro::tree {
namespace {

Result<std::vector<ReplicaList>> read_lists(const Json& value, std::string_view where) {
  if (!value.is_array()) return invalid(std::string(where) + ": must be a list of lists");
  std::vector<ReplicaList> out;
  for (const Json& item : value) {
    auto list = read_replicas(item, where);
    if (!list) return tl::unexpected(list.error());
    out.push_back(std::move(*list));
  }
  return out;
}

}  // namespace

Result<Reassignment> decode_reassignment(std::string_view text) {
  const auto json = parse_strict(text);
  if (!json) return tl::unexpected(json.error());
  for (const char* key : {"top", "assignment", "original_replicas"})
    if (!json->contains(key)) return invalid("\"" + std::string(key) + "\" is missing");
  const auto top = read_integer((*json)["top"], "top", 0, std::numeric_limits<std::int32_t>::max());
  if (!top) return tl::unexpected(top.error());
  Reassignment out;
  out.top = static_cast<std::int32_t>(*top);
  KRO_READ_IF(*json, "assignment", assignment, read_replicas);
  KRO_READ_IF(*json, "original_replicas", originals, read_replicas);
  KRO_READ_IF(*json, "legacy", legacy, read_bool);
  KRO_READ_IF(*json, "request", request, read_string);
  KRO_READ_IF(*json, "topic_id", topic_id, read_string);
  KRO_READ_IF(*json, "step", step, read_replicas);
  KRO_READ_IF(*json, "earlier", earlier, read_lists);
  KRO_READ_IF(*json, "cancel", cancel, read_string);
  KRO_READ_IF(*json, "order_known", order_known, read_bool);
  KRO_READ_IF(*json, "ended", ended, read_bool);
  return out;
}

std::string encode_reassignment(const Reassignment& r) {
  OrderedJson out{
      {"version", 1},       {"top", r.top},        {"assignment", r.assignment}, {"original_replicas", r.originals},
      {"legacy", r.legacy}, {"request", r.request}};
  if (!r.topic_id.empty()) out["topic_id"] = r.topic_id;
  if (!r.step.empty()) out["step"] = r.step;
  if (!r.earlier.empty()) out["earlier"] = r.earlier;
  if (!r.cancel.empty()) out["cancel"] = r.cancel;
  if (!r.order_known) out["order_known"] = false;
  if (r.ended) out["ended"] = true;
  return out.dump();
}

}  // namespace kro::tree
