#include "adapters/kafka/list_reassignments_codec.h"

namespace kro::kafka {

std::string encode_list_reassignments(std::int32_t timeout_ms) {
  Writer out(Encoding::kFlexible);
  out.i32(timeout_ms);
  out.null_array();
  out.tags();
  return out.take();
}

Result<ListResponse> decode_list_reassignments(std::string_view body) {
  Reader in(body, Encoding::kFlexible);
  ListResponse out;
  (void)in.i32();
  out.error = in.i16();
  out.message = in.nullable_string().value_or("");
  for (std::size_t topics = in.array(3); topics > 0; --topics) {
    const std::string name = in.string();
    for (std::size_t left = in.array(8); left > 0; --left) {
      const PartitionId index = in.i32();
      OngoingReassignment row;
      row.replicas = in.ids();
      row.adding = in.ids();
      row.removing = in.ids();
      in.tags();
      out.rows[{name, index}] = std::move(row);
    }
    in.tags();
  }
  in.tags();
  if (auto ok = in.finish("a ListPartitionReassignments answer"); !ok) return tl::unexpected(ok.error());
  return out;
}

}  // namespace kro::kafka
