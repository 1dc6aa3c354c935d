#include "adapters/kafka/kafka_client.h"

#include <algorithm>
#include <charconv>

#include "adapters/kafka/kafka_admin_impl.h"

namespace kro {

namespace {

constexpr std::string_view kBlanks = " \t\f\r";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Result<HostPort> parse_host_port(std::string_view text) {
  const auto colon = text.rfind(':');
  std::string_view host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  const std::string_view digits = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  const bool port_ok =
      !digits.empty() && error == std::errc() && end == digits.data() + digits.size() && port >= 1 && port <= 65535;
  if (host.empty() || !port_ok || (!bracketed && host.find(':') != std::string_view::npos) ||
      host.find_first_of(" \t/[]") != std::string_view::npos)
    return invalid("\"" + std::string(text) + "\" is no Kafka address; host:port is expected");
  return HostPort{std::string(host), static_cast<std::uint16_t>(port)};
}

// Joins lines that end in an odd number of backslashes.
std::vector<std::string> logical_lines(std::string_view text) {
  std::vector<std::string> out;
  bool continued = false;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (!continued && (line.empty() || line.front() == '#' || line.front() == '!')) continue;
    const auto last_other = line.find_last_not_of('\\');
    const std::size_t slashes = line.size() - (last_other == std::string_view::npos ? 0 : last_other + 1);
    const bool goes_on = slashes % 2 == 1;
    if (goes_on) line.remove_suffix(1);
    if (continued)
      out.back() += line;
    else
      out.emplace_back(line);
    continued = goes_on;
  }
  return out;
}

// Undoes the escape at text[at] (a backslash) and moves `at` to its last character. false: not an escape of Java.
bool unescape(std::string_view text, std::size_t& at, std::string& out) {
  if (++at >= text.size()) return false;
  switch (text[at]) {
    case 't': out += '\t'; return true;
    case 'n': out += '\n'; return true;
    case 'r': out += '\r'; return true;
    case 'f': out += '\f'; return true;
    case 'u': {
      unsigned code = 0;
      const std::string_view digits = text.substr(at + 1, 4);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4 || code > 0x7f) return false;
      out += static_cast<char>(code);
      at += 4;
      return true;
    }
    default: out += text[at]; return true;
  }
}

}  // namespace

std::string HostPort::text() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<std::map<std::string, std::string>> parse_properties(std::string_view text) {
  std::map<std::string, std::string> out;
  for (const std::string& line : logical_lines(text)) {
    std::string key;
    std::string value;
    std::size_t at = 0;
    const auto broken = [&] {
      return invalid("the properties have an escape that cannot be read, in \"" + key + "\"");
    };
    for (; at < line.size() && line[at] != '=' && line[at] != ':' && kBlanks.find(line[at]) == std::string_view::npos;
         ++at) {
      if (line[at] != '\\')
        key += line[at];
      else if (!unescape(line, at, key))
        return broken();
    }
    at = std::min(line.find_first_not_of(kBlanks, at), line.size());
    if (at < line.size() && (line[at] == '=' || line[at] == ':'))
      at = std::min(line.find_first_not_of(kBlanks, at + 1), line.size());
    for (; at < line.size(); ++at) {
      if (line[at] != '\\')
        value += line[at];
      else if (!unescape(line, at, value))
        return broken();
    }
    out[key] = value;
  }
  return out;
}

Result<KafkaClientConfig> parse_kafka_client_config(std::string_view bootstrap, std::string_view properties) {
  KafkaClientConfig config;
  while (!bootstrap.empty()) {
    const auto comma = bootstrap.find(',');
    const std::string_view entry = trimmed(bootstrap.substr(0, comma));
    bootstrap = comma == std::string_view::npos ? std::string_view() : bootstrap.substr(comma + 1);
    if (entry.empty()) continue;
    auto address = parse_host_port(entry);
    if (!address) return tl::unexpected(address.error());
    config.bootstrap.push_back(*std::move(address));
  }
  if (config.bootstrap.empty()) return invalid("no Kafka bootstrap server is given");

  auto parsed = parse_properties(properties);
  if (!parsed) return tl::unexpected(parsed.error());
  config.properties = *std::move(parsed);
  if (const auto id = config.properties.find("client.id"); id != config.properties.end()) {
    if (id->second.size() > 1000) return invalid("client.id is longer than 1,000 bytes");
    config.client_id = id->second;
  }
  const auto protocol = config.properties.find("security.protocol");
  if (protocol != config.properties.end() && protocol->second != "PLAINTEXT")
    return fail(ErrorCode::kUnsupported, Retry::kPermanent,
                "security.protocol is \"" + protocol->second.substr(0, 40) + "\"; this version speaks PLAINTEXT only");
  return config;
}

std::unique_ptr<KafkaAdmin> make_kafka_admin(KafkaClientConfig config, RequestObserver observer) {
  return std::make_unique<kafka::KafkaAdminImpl>(std::move(config), std::move(observer));
}

}  // namespace kro
