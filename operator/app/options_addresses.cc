#include "app/options_addresses.h"

#include <algorithm>
#include <charconv>

namespace kro {
namespace {

bool host_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

bool good_host(std::string_view host) {
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    return std::all_of(host.begin(), host.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F') || c == ':' || c == '.';
    });
  }
  return !host.empty() && host.size() <= 253 && std::all_of(host.begin(), host.end(), host_character);
}

bool good_host_port(std::string_view entry) {
  const std::size_t colon = entry.rfind(':');
  if (colon == std::string_view::npos || !good_host(entry.substr(0, colon))) return false;
  const std::string_view port = entry.substr(colon + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  return error == std::errc() && end == port.data() + port.size() && number >= 1 && number <= 65535;
}

}  // namespace

Status check_host_ports(std::string_view text, std::string_view what) {
  std::string_view rest = text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view entry = rest.substr(0, comma);
    if (!good_host_port(entry))
      return invalid(std::string(what) + ": \"" + std::string(entry) +
                     "\" is no HOST:PORT; write HOST:PORT,HOST:PORT without blanks");
    if (comma == std::string_view::npos) return {};
    rest.remove_prefix(comma + 1);
  }
}

Status check_chroot(std::string_view text) {
  if (text.empty()) return {};
  const auto refused = [&](const char* why) {
    return invalid("chroot \"" + std::string(text) + "\" " + why + "; write a path such as /kafka, or leave it out");
  };
  if (text.front() != '/') return refused("does not begin with /");
  if (text.back() == '/') return refused("ends with /");
  std::string_view rest = text.substr(1);
  while (true) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return refused("has a part that is empty, \".\" or \"..\"");
    if (!std::all_of(part.begin(), part.end(), host_character))
      return refused("has a character other than a-z A-Z 0-9 . _ -");
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

Result<ZooKeeperAddress> parse_zookeeper_address(std::string_view text) {
  const std::size_t slash = text.find('/');
  ZooKeeperAddress out;
  out.connect = std::string(text.substr(0, slash));
  if (slash != std::string_view::npos) out.chroot = std::string(text.substr(slash));
  if (auto good = check_host_ports(out.connect, "ZooKeeper address"); !good) return tl::unexpected<Error>(good.error());
  if (auto good = check_chroot(out.chroot); !good) return tl::unexpected<Error>(good.error());
  return out;
}

}  // namespace kro
