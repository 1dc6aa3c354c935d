#include "adapters/kafka/describe_log_dirs_codec.h"

#include <map>
#include <utility>

namespace kro::kafka {

namespace {

void read_dir(std::int16_t version, Reader& in, LogDirsAnswer& out) {
  const std::int16_t error = in.i16();
  if (out.error == 0) out.error = error;
  (void)in.string();
  for (std::size_t topics = in.array(2); topics > 0; --topics) {
    const std::string name = in.string();
    for (std::size_t left = in.array(21); left > 0; --left) {
      const PartitionId index = in.i32();
      const std::int64_t size = in.i64();
      (void)in.i64();
      const bool future = in.boolean();
      in.tags();
      if (!future) out.sizes[{name, index}] = size;
    }
    in.tags();
  }
  if (version >= 4) {
    (void)in.i64();
    (void)in.i64();
  }
  in.tags();
}

}  // namespace

std::string encode_describe_log_dirs(std::int16_t version, const std::vector<TopicPartition>& partitions) {
  std::map<std::string_view, std::vector<PartitionId>> topics;
  for (const TopicPartition& tp : partitions) topics[tp.topic].push_back(tp.partition);
  Writer out(kDescribeLogDirs.encoding(version));
  out.array(topics.size());
  for (const auto& [name, indexes] : topics) {
    out.string(name);
    out.ids(indexes);
    out.tags();
  }
  out.tags();
  return out.take();
}

Result<LogDirsAnswer> decode_describe_log_dirs(std::int16_t version, std::string_view body) {
  Reader in(body, kDescribeLogDirs.encoding(version));
  LogDirsAnswer out;
  (void)in.i32();
  if (version >= 3) out.error = in.i16();
  for (std::size_t left = in.array(4); left > 0; --left) read_dir(version, in, out);
  in.tags();
  if (auto ok = in.finish("a DescribeLogDirs answer"); !ok) return tl::unexpected(ok.error());
  return out;
}

}  // namespace kro::kafka
