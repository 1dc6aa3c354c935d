#include "adapters/kafka/metadata_codec.h"

namespace kro::kafka {

namespace {

KafkaPartition read_partition(std::int16_t version, Reader& in, PartitionId& index) {
  KafkaPartition partition;
  partition.error = in.i16();
  index = in.i32();
  partition.leader = in.i32();
  if (version >= 7) (void)in.i32();
  partition.replicas = in.ids();
  partition.isr = in.ids();
  if (version >= 5) (void)in.ids();
  in.tags();
  return partition;
}

void read_topic(std::int16_t version, Reader& in, KafkaMetadata& out) {
  KafkaTopic topic;
  topic.error = in.i16();
  const auto name = in.nullable_string();
  if (version >= 10) topic.id = in.uuid();
  topic.internal = in.boolean();
  for (std::size_t left = in.array(16); left > 0; --left) {
    PartitionId index = 0;
    auto partition = read_partition(version, in, index);
    topic.partitions[index] = std::move(partition);
  }
  if (version >= 8) (void)in.i32();
  in.tags();
  if (name) out.topics[*name] = std::move(topic);
}

}  // namespace

std::string encode_metadata(std::int16_t version, const std::optional<std::vector<std::string>>& topics) {
  Writer out(kMetadata.encoding(version));
  if (topics) {
    out.array(topics->size());
    for (const std::string& name : *topics) {
      if (version >= 10) out.zero_uuid();
      out.string(name);
      out.tags();
    }
  } else {
    out.null_array();
  }
  out.boolean(false);
  if (version >= 8 && version <= 10) out.boolean(false);
  if (version >= 8) out.boolean(false);
  out.tags();
  return out.take();
}

Result<KafkaMetadata> decode_metadata(std::int16_t version, std::string_view body) {
  Reader in(body, kMetadata.encoding(version));
  KafkaMetadata out;
  (void)in.i32();
  for (std::size_t left = in.array(10); left > 0; --left) {
    const BrokerId id = in.i32();
    KafkaBroker broker;
    broker.host = in.string();
    broker.port = in.i32();
    broker.rack = in.nullable_string().value_or("");
    in.tags();
    out.brokers[id] = std::move(broker);
  }
  out.cluster_id = in.nullable_string().value_or("");
  out.controller_id = in.i32();
  for (std::size_t left = in.array(5); left > 0; --left) read_topic(version, in, out);
  if (version >= 8 && version <= 10) (void)in.i32();
  in.tags();
  if (auto ok = in.finish("a Metadata answer"); !ok) return tl::unexpected(ok.error());
  return out;
}

}  // namespace kro::kafka
