#include "adapters/kafka/frame_codec.h"

namespace kro::kafka {

std::string encode_frame(const Api& api, std::int16_t version, std::int32_t correlation, std::string_view client_id,
                         std::string_view body) {
  Writer header(Encoding::kClassic);
  header.i16(api.key);
  header.i16(version);
  header.i32(correlation);
  header.string(client_id);
  if (api.encoding(version) == Encoding::kFlexible) header.uvarint(0);
  header.raw(body);
  const std::string content = header.take();

  Writer frame(Encoding::kClassic);
  frame.i32(static_cast<std::int32_t>(content.size()));
  frame.raw(content);
  return frame.take();
}

Result<Answer> decode_frame(const Api& api, std::int16_t version, std::string_view payload) {
  const bool tagged = api.key != kApiVersions.key && api.encoding(version) == Encoding::kFlexible;
  Reader reader(payload, tagged ? Encoding::kFlexible : Encoding::kClassic);
  Answer answer;
  answer.correlation = reader.i32();
  reader.tags();
  if (!reader.ok()) return fail(ErrorCode::kProtocol, Retry::kTransient, "an answer ends within its header");
  answer.body = reader.rest();
  return answer;
}

}  // namespace kro::kafka
