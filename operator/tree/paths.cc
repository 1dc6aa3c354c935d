#include "tree/paths.h"

#include <charconv>

namespace kro::tree {
namespace {

std::string join(std::string_view parent, std::string_view child) {
  std::string out;
  out.reserve(parent.size() + 1 + child.size());
  out += parent;
  out += '/';
  out += child;
  return out;
}

template <class Int>
std::optional<Int> parse_int(std::string_view text, int base = 10) {
  Int value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::string request(std::string_view name) { return join(kRequests, name); }
std::string topic(std::string_view topic) { return join(kReassignments, topic); }
std::string reassignment(const TopicPartition& tp) { return join(topic(tp.topic), std::to_string(tp.partition)); }
std::string result(std::string_view result_name) { return join(kResults, result_name); }
std::string originals(std::string_view result_name) { return join(result(result_name), kOriginals); }
std::string ledger(std::string_view operator_id) { return join(kLedger, operator_id); }
std::string ledger_uid(std::string_view operator_id, std::string_view uid) { return join(ledger(operator_id), uid); }
std::string marker(std::string_view operator_id, std::string_view uid, std::string_view marker_name) {
  return join(ledger_uid(operator_id, uid), marker_name);
}

std::string hex(std::int64_t value) {
  char buffer[20];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::uint64_t>(value), 16);
  return error == std::errc{} ? std::string(buffer, end) : std::string();
}

std::optional<std::int64_t> parse_hex(std::string_view text) {
  const auto value = parse_int<std::uint64_t>(text, 16);
  if (!value) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::string result_name(std::string_view request_name, std::int64_t czxid) {
  return std::string(request_name) + "-" + hex(czxid);
}

std::string cancel_result_name(std::int64_t lock_czxid) { return "cancel_" + hex(lock_czxid); }

std::optional<ResultName> parse_result_name(std::string_view name) {
  constexpr std::string_view kCancel = "cancel_";
  ResultName out;
  if (name.starts_with(kCancel)) {
    const auto czxid = parse_hex(name.substr(kCancel.size()));
    if (!czxid) return std::nullopt;
    out.czxid = *czxid;
    out.cancel = true;
    return out;
  }
  const auto dash = name.rfind('-');
  if (dash == std::string_view::npos || !sequence_of(name.substr(0, dash))) return std::nullopt;
  const auto czxid = parse_hex(name.substr(dash + 1));
  if (!czxid) return std::nullopt;
  out.request = std::string(name.substr(0, dash));
  out.czxid = *czxid;
  return out;
}

std::string marker_name(std::int64_t generation, int n) { return std::to_string(generation) + "-" + std::to_string(n); }

std::optional<MarkerName> parse_marker_name(std::string_view name) {
  const auto dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto generation = parse_int<std::int64_t>(name.substr(0, dash));
  const auto n = parse_int<int>(name.substr(dash + 1));
  if (!generation || !n || *generation < 0 || *n < 1) return std::nullopt;
  return MarkerName{*generation, *n};
}

std::optional<std::int32_t> sequence_of(std::string_view request_name) {
  if (!request_name.starts_with(kRequestPrefix)) return std::nullopt;
  return parse_int<std::int32_t>(request_name.substr(kRequestPrefix.size()));
}

namespace {
std::int32_t distance(std::int32_t from, std::int32_t to) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
}
}  // namespace

bool sequence_before(std::int32_t a, std::int32_t b) { return distance(b, a) < 0; }
bool SequenceOrder::operator()(std::int32_t a, std::int32_t b) const { return distance(from, a) < distance(from, b); }

}  // namespace kro::tree
