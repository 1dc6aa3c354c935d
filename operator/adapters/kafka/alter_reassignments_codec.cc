#include "adapters/kafka/alter_reassignments_codec.h"

#include <map>

#include "base/assert.h"

namespace kro::kafka {

std::string encode_alter_reassignments(std::int16_t version, const AlterRequest& request, std::int32_t timeout_ms,
                                       bool allow_replication_factor_change) {
  std::map<std::string_view, std::map<PartitionId, const std::optional<ReplicaList>*>> topics;
  for (const auto& [tp, replicas] : request) topics[tp.topic][tp.partition] = &replicas;

  Writer out(kAlterReassignments.encoding(version));
  out.i32(timeout_ms);
  if (version >= 1) out.boolean(allow_replication_factor_change);
  out.array(topics.size());
  for (const auto& [name, partitions] : topics) {
    out.string(name);
    out.array(partitions.size());
    for (const auto& [index, replicas] : partitions) {
      out.i32(index);
      if (*replicas) {
        KRO_ASSERT(!replica_list_problem(**replicas));
        out.ids(**replicas);
      } else {
        out.null_array();
      }
      out.tags();
    }
    out.tags();
  }
  out.tags();
  return out.take();
}

Result<AlterResponse> decode_alter_reassignments(std::int16_t version, std::string_view body) {
  Reader in(body, kAlterReassignments.encoding(version));
  AlterResponse out;
  (void)in.i32();
  if (version >= 1) (void)in.boolean();
  out.error = in.i16();
  out.message = in.nullable_string().value_or("");
  for (std::size_t topics = in.array(3); topics > 0; --topics) {
    const std::string name = in.string();
    for (std::size_t left = in.array(8); left > 0; --left) {
      const PartitionId index = in.i32();
      AlterAnswer answer;
      answer.code = in.i16();
      answer.message = in.nullable_string().value_or("");
      in.tags();
      out.answers[{name, index}] = std::move(answer);
    }
    in.tags();
  }
  in.tags();
  if (auto ok = in.finish("an AlterPartitionReassignments answer"); !ok) return tl::unexpected(ok.error());
  return out;
}

}  // namespace kro::kafka
