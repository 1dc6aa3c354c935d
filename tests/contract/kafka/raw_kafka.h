#pragma once

// The few messages that only the tests of a real broker need: CreateTopics v5, DeleteTopics v4,
// IncrementalAlterConfigs v1 and Produce v3 (CreateTopicsRequest.json and so on, Kafka 3.9). Throws on any failure.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "adapters/kafka/connection.h"
#include "adapters/kafka/frame_codec.h"

namespace kro::kafka {

class RawKafka {
 public:
  // Waits for at most this long.
  explicit RawKafka(milliseconds patience) : patience_(patience) {}

  // Kafka's error code.
  std::int16_t create_topic(const HostPort& controller, const std::string& name,
                            const std::vector<ReplicaList>& partitions,
                            const std::map<std::string, std::string>& configs) {
    Writer out(Encoding::kFlexible);
    out.array(1);
    out.string(name);
    out.i32(-1);
    out.i16(-1);
    out.array(partitions.size());
    for (std::size_t i = 0; i < partitions.size(); ++i) {
      out.i32(static_cast<std::int32_t>(i));
      out.ids(partitions[i]);
      out.tags();
    }
    out.array(configs.size());
    for (const auto& [key, value] : configs) {
      out.string(key);
      out.string(value);
      out.tags();
    }
    out.tags();
    out.i32(20'000);
    out.boolean(false);
    out.tags();
    const std::string body = ask(controller, {19, 5, 5, 5, "CreateTopics"}, out.take());
    Reader in(body, Encoding::kFlexible);
    (void)in.i32();
    (void)in.array(1);
    (void)in.string();
    return in.i16();
  }

  std::int16_t delete_topic(const HostPort& controller, const std::string& name) {
    Writer out(Encoding::kFlexible);
    out.array(1);
    out.string(name);
    out.i32(20'000);
    out.tags();
    const std::string body = ask(controller, {20, 4, 4, 4, "DeleteTopics"}, out.take());
    Reader in(body, Encoding::kFlexible);
    (void)in.i32();
    (void)in.array(1);
    (void)in.string();
    return in.i16();
  }

  static constexpr std::int8_t kTopic = 2;
  static constexpr std::int8_t kBroker = 4;
  // nullopt: takes the key away. A broker's configuration must be sent to that broker.
  void set_config(const HostPort& broker, std::int8_t type, const std::string& name, const std::string& key,
                  const std::optional<std::string>& value) {
    Writer out(Encoding::kFlexible);
    out.array(1);
    out.i8(type);
    out.string(name);
    out.array(1);
    out.string(key);
    out.i8(value ? 0 : 1);
    if (value)
      out.string(*value);
    else
      out.null_string();
    out.tags();
    out.tags();
    out.boolean(false);
    out.tags();
    const std::string body = ask(broker, {44, 1, 1, 1, "IncrementalAlterConfigs"}, out.take());
    Reader in(body, Encoding::kFlexible);
    (void)in.i32();
    (void)in.array(1);
    check(in.i16(), "IncrementalAlterConfigs of " + name);
  }

  // What a broker itself has in force for a key of its own; nullopt: nothing.
  std::optional<std::string> broker_config(const HostPort& broker, const std::string& name, const std::string& key) {
    Writer out(Encoding::kClassic);
    out.array(1);
    out.i8(kBroker);
    out.string(name);
    out.array(1);
    out.string(key);
    out.boolean(false);
    const std::string body = ask(broker, {32, 1, 1, 4, "DescribeConfigs"}, out.take());
    Reader in(body, Encoding::kClassic);
    (void)in.i32();
    (void)in.array(1);
    check(in.i16(), "DescribeConfigs of broker " + name);
    (void)in.nullable_string();
    (void)in.i8();
    (void)in.string();
    if (in.array(1) == 0) return std::nullopt;
    (void)in.string();
    return in.nullable_string();
  }

  // One record of `bytes` zeros, acknowledged by the leader alone. Kafka's error code.
  std::int16_t produce(const HostPort& leader, const TopicPartition& tp, std::size_t bytes) {
    const std::string records = batch_of_one(bytes);
    Writer out(Encoding::kClassic);
    out.null_string();
    out.i16(1);
    out.i32(20'000);
    out.array(1);
    out.string(tp.topic);
    out.array(1);
    out.i32(tp.partition);
    out.i32(static_cast<std::int32_t>(records.size()));
    out.raw(records);
    const std::string body = ask(leader, {0, 3, 3, 9, "Produce"}, out.take());
    Reader in(body, Encoding::kClassic);
    (void)in.array(1);
    (void)in.string();
    (void)in.array(1);
    (void)in.i32();
    return in.i16();
  }

 private:
  static void check(std::int16_t code, const std::string& what) {
    if (code != 0) throw std::runtime_error(what + ": error " + std::to_string(code));
  }

  std::string ask(const HostPort& address, const Api& api, const std::string& body) {
    const Deadline deadline{std::chrono::steady_clock::now() + patience_, {}};
    const auto opened = Connection::open(network_, address, deadline);
    if (!opened) throw std::runtime_error(opened.error().text());
    if (auto sent = (*opened)->send(encode_frame(api, api.newest, 1, "contract-test", body), deadline); !sent)
      throw std::runtime_error(sent.error().text());
    const auto frame = (*opened)->receive(deadline);
    if (!frame) throw std::runtime_error(std::string(api.name) + ": " + frame.error().text());
    const auto answer = decode_frame(api, api.newest, *frame);
    if (!answer) throw std::runtime_error(answer.error().text());
    return std::string(answer->body);
  }

  static std::uint32_t crc32c(std::string_view bytes) {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      table[i] = i;
      for (int bit = 0; bit < 8; ++bit) table[i] = (table[i] >> 1) ^ ((table[i] & 1) != 0 ? 0x82f63b78U : 0U);
    }
    std::uint32_t crc = 0xffffffffU;
    for (const char c : bytes) crc = (crc >> 8) ^ table[(crc ^ static_cast<std::uint8_t>(c)) & 0xff];
    return ~crc;
  }

  static std::uint32_t zigzag(std::size_t value) { return static_cast<std::uint32_t>(value) * 2; }

  // RecordBatch, magic 2 (https://kafka.apache.org/documentation/#recordbatch).
  static std::string batch_of_one(std::size_t bytes) {
    Writer record(Encoding::kFlexible);
    record.i8(0);
    record.uvarint(0);  // timestamp and offset of the batch
    record.uvarint(0);
    record.uvarint(1);  // no key
    record.uvarint(zigzag(bytes));
    record.raw(std::string(bytes, '\0'));
    record.uvarint(0);
    const std::string one = record.take();

    Writer after_crc(Encoding::kFlexible);
    after_crc.i16(0);
    after_crc.i32(0);
    after_crc.i64(1'700'000'000'000);
    after_crc.i64(1'700'000'000'000);
    after_crc.i64(-1);
    after_crc.i16(-1);
    after_crc.i32(-1);
    after_crc.i32(1);
    after_crc.uvarint(zigzag(one.size()));
    after_crc.raw(one);
    const std::string checked = after_crc.take();

    Writer batch(Encoding::kClassic);
    batch.i64(0);
    batch.i32(static_cast<std::int32_t>(checked.size() + 9));
    batch.i32(-1);
    batch.i8(2);
    batch.i32(static_cast<std::int32_t>(crc32c(checked)));
    batch.raw(checked);
    return batch.take();
  }

  Network network_;
  milliseconds patience_;
};

}  // namespace kro::kafka
