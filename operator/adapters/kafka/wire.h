#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "domain/topic_partition.h"

namespace kro::kafka {

// Whether a message version uses compact lengths and tagged fields (KIP-482).
enum class Encoding { kClassic, kFlexible };

// Appends Kafka's primitive types, big-endian. Cannot fail; whoever calls it keeps names under Kafka's limits
// (asserted: a classic string is shorter than 32 KiB).
class Writer {
 public:
  explicit Writer(Encoding encoding) : encoding_(encoding) {}

  void i8(std::int8_t value);
  void i16(std::int16_t value);
  void i32(std::int32_t value);
  void i64(std::int64_t value);
  void boolean(bool value) { i8(value ? 1 : 0); }
  void uvarint(std::uint32_t value);
  // In the message's encoding: int16 length, or uvarint length + 1.
  void string(std::string_view value);
  void null_string();
  void array(std::size_t length);
  void null_array();
  void ids(const ReplicaList& ids);
  void zero_uuid();
  // Ends a struct: no tagged fields. Nothing in the classic encoding.
  void tags();
  void raw(std::string_view bytes) { out_.append(bytes); }

  [[nodiscard]] bool flexible() const { return encoding_ == Encoding::kFlexible; }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  Encoding encoding_;
  std::string out_;
};

// Reads what Writer writes, from bytes of a stranger: never past the end, whatever the lengths say.
//
// The first fault sticks: from then on every read gives zero or nothing and arrays are empty, so a decoder reads
// straight through and asks finish() once. `bytes` must outlive the reader.
class Reader {
 public:
  Reader(std::string_view bytes, Encoding encoding) : rest_(bytes), encoding_(encoding) {}

  std::int8_t i8() { return static_cast<std::int8_t>(number(1)); }
  std::int16_t i16() { return static_cast<std::int16_t>(number(2)); }
  std::int32_t i32() { return static_cast<std::int32_t>(number(4)); }
  std::int64_t i64() { return static_cast<std::int64_t>(number(8)); }
  bool boolean() { return i8() != 0; }
  std::uint32_t uvarint();
  std::string string();
  std::optional<std::string> nullable_string();
  // The number of elements that follow, each at least `least_bytes` long: a count that cannot fit into what is left
  // is a fault, so no caller ever allocates more than it was sent. null counts as 0.
  std::size_t array(std::size_t least_bytes);
  ReplicaList ids();
  // "8-4-4-4-12" hex; empty for the zero uuid.
  std::string uuid();
  // Skips the tagged fields at the end of a struct.
  void tags();

  [[nodiscard]] bool flexible() const { return encoding_ == Encoding::kFlexible; }
  [[nodiscard]] bool ok() const { return !failed_; }
  [[nodiscard]] std::string_view rest() const { return rest_; }
  // kProtocol unless every read was good and nothing is left. `what` names the message.
  [[nodiscard]] Status finish(std::string_view what) const;

 private:
  std::uint64_t number(std::size_t bytes);
  std::string_view take(std::size_t bytes);
  void fault() {
    failed_ = true;
    rest_ = {};
  }

  std::string_view rest_;
  Encoding encoding_;
  bool failed_ = false;
};

}  // namespace kro::kafka
