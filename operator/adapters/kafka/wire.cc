#include "adapters/kafka/wire.h"

#include <limits>

#include "base/assert.h"

namespace kro::kafka {

namespace {

void big_endian(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xff));
}

std::uint32_t narrow(std::size_t length) {
  KRO_ASSERT(length < static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()));
  return static_cast<std::uint32_t>(length);
}

}  // namespace

void Writer::i8(std::int8_t value) { big_endian(out_, static_cast<std::uint8_t>(value), 1); }
void Writer::i16(std::int16_t value) { big_endian(out_, static_cast<std::uint16_t>(value), 2); }
void Writer::i32(std::int32_t value) { big_endian(out_, static_cast<std::uint32_t>(value), 4); }
void Writer::i64(std::int64_t value) { big_endian(out_, static_cast<std::uint64_t>(value), 8); }

void Writer::uvarint(std::uint32_t value) {
  while (value >= 0x80) {
    out_.push_back(static_cast<char>((value & 0x7f) | 0x80));
    value >>= 7;
  }
  out_.push_back(static_cast<char>(value));
}

void Writer::string(std::string_view value) {
  KRO_ASSERT(value.size() <= static_cast<std::size_t>(std::numeric_limits<std::int16_t>::max()));
  if (flexible())
    uvarint(narrow(value.size()) + 1);
  else
    i16(static_cast<std::int16_t>(value.size()));
  raw(value);
}

void Writer::null_string() {
  if (flexible())
    uvarint(0);
  else
    i16(-1);
}

void Writer::array(std::size_t length) {
  if (flexible())
    uvarint(narrow(length) + 1);
  else
    i32(static_cast<std::int32_t>(narrow(length)));
}

void Writer::null_array() {
  if (flexible())
    uvarint(0);
  else
    i32(-1);
}

void Writer::ids(const ReplicaList& ids) {
  array(ids.size());
  for (const BrokerId id : ids) i32(id);
}

void Writer::zero_uuid() { out_.append(16, '\0'); }

void Writer::tags() {
  if (flexible()) uvarint(0);
}

std::string_view Reader::take(std::size_t bytes) {
  if (failed_ || bytes > rest_.size()) {
    fault();
    return {};
  }
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::uint64_t Reader::number(std::size_t bytes) {
  std::uint64_t value = 0;
  for (const char c : take(bytes)) value = (value << 8) | static_cast<std::uint8_t>(c);
  return value;
}

std::uint32_t Reader::uvarint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    const auto byte = static_cast<std::uint8_t>(number(1));
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) != 0) continue;
    if (value > std::numeric_limits<std::uint32_t>::max()) break;
    return static_cast<std::uint32_t>(value);
  }
  fault();
  return 0;
}

std::optional<std::string> Reader::nullable_string() {
  if (flexible()) {
    const std::uint32_t length = uvarint();
    if (length == 0) return std::nullopt;
    return std::string(take(length - 1));
  }
  const std::int16_t length = i16();
  if (length == -1) return std::nullopt;
  if (length < 0) {
    fault();
    return std::nullopt;
  }
  return std::string(take(static_cast<std::size_t>(length)));
}

std::string Reader::string() {
  auto value = nullable_string();
  if (!value) {
    fault();
    return {};
  }
  return *std::move(value);
}

std::size_t Reader::array(std::size_t least_bytes) {
  KRO_ASSERT(least_bytes > 0);
  std::size_t length = 0;
  if (flexible()) {
    const std::uint32_t plus_one = uvarint();
    length = plus_one == 0 ? 0 : plus_one - 1;
  } else {
    const std::int32_t count = i32();
    if (count < -1) fault();
    length = count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  if (length > rest_.size() / least_bytes) fault();
  return failed_ ? 0 : length;
}

ReplicaList Reader::ids() {
  ReplicaList out(array(4));
  for (BrokerId& id : out) id = i32();
  return out;
}

std::string Reader::uuid() {
  static constexpr char kHex[] = "0123456789abcdef";
  const std::string_view bytes = take(16);
  if (bytes.find_first_not_of('\0') == std::string_view::npos) return {};
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    out += kHex[byte >> 4];
    out += kHex[byte & 0x0f];
  }
  return out;
}

void Reader::tags() {
  if (!flexible()) return;
  const std::uint32_t count = uvarint();
  for (std::uint32_t i = 0; i < count && ok(); ++i) {
    (void)uvarint();
    take(uvarint());
  }
}

Status Reader::finish(std::string_view what) const {
  if (failed_)
    return fail(ErrorCode::kProtocol, Retry::kTransient,
                std::string(what) + " cannot be decoded: it ends too early or a length in it is impossible");
  if (!rest_.empty())
    return fail(ErrorCode::kProtocol, Retry::kTransient,
                std::string(what) + " has " + std::to_string(rest_.size()) + " bytes too many");
  return {};
}

}  // namespace kro::kafka
