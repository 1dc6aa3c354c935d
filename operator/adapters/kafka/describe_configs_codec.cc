#include "adapters/kafka/describe_configs_codec.h"

namespace kro::kafka {

namespace {

constexpr std::int8_t kTopicResource = 2;

void read_config(std::int16_t version, Reader& in, TopicConfigAnswer& out) {
  std::string name = in.string();
  auto value = in.nullable_string();
  (void)in.boolean();
  (void)in.i8();
  (void)in.boolean();
  for (std::size_t left = in.array(4); left > 0; --left) {
    (void)in.string();
    (void)in.nullable_string();
    (void)in.i8();
    in.tags();
  }
  if (version >= 3) {
    (void)in.i8();
    (void)in.nullable_string();
  }
  in.tags();
  if (value) out.values[std::move(name)] = *std::move(value);
}

}  // namespace

std::string encode_describe_topic_configs(std::int16_t version, const std::vector<std::string>& topics,
                                          const std::vector<std::string>& keys) {
  Writer out(kDescribeConfigs.encoding(version));
  out.array(topics.size());
  for (const std::string& topic : topics) {
    out.i8(kTopicResource);
    out.string(topic);
    out.array(keys.size());
    for (const std::string& key : keys) out.string(key);
    out.tags();
  }
  out.boolean(false);
  if (version >= 3) out.boolean(false);
  out.tags();
  return out.take();
}

Result<TopicConfigAnswers> decode_describe_configs(std::int16_t version, std::string_view body) {
  Reader in(body, kDescribeConfigs.encoding(version));
  TopicConfigAnswers out;
  (void)in.i32();
  for (std::size_t left = in.array(6); left > 0; --left) {
    TopicConfigAnswer answer;
    answer.error = in.i16();
    answer.message = in.nullable_string().value_or("");
    const std::int8_t type = in.i8();
    std::string name = in.string();
    for (std::size_t configs = in.array(7); configs > 0; --configs) read_config(version, in, answer);
    in.tags();
    if (type == kTopicResource) out[std::move(name)] = std::move(answer);
  }
  in.tags();
  if (auto ok = in.finish("a DescribeConfigs answer"); !ok) return tl::unexpected(ok.error());
  return out;
}

}  // namespace kro::kafka
