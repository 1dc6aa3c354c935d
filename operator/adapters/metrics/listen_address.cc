#include "adapters/metrics/listen_address.h"

#include <arpa/inet.h>

#include <charconv>

namespace kro {

std::string ListenAddress::text() const { return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port); }

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const auto refused = [&] {
    return invalid("\"" + std::string(text) +
                   "\" is no address to listen at; use ADDRESS:PORT with a numeric address, such as [::]:8080, "
                   "0.0.0.0:8080 or 127.0.0.1:8080");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refused();
  const std::string_view port = text.substr(colon + 1);
  std::string_view host = text.substr(0, colon);

  ListenAddress out;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), out.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size()) return refused();

  if (host.empty()) {
    out.host = "::";
    out.v6 = true;
    return out;
  }
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
    out.v6 = true;
  }
  out.host = std::string(host);
  in6_addr v6{};
  in_addr v4{};
  const int known = out.v6 ? ::inet_pton(AF_INET6, out.host.c_str(), &v6) : ::inet_pton(AF_INET, out.host.c_str(), &v4);
  if (known != 1) return refused();
  return out;
}

}  // namespace kro
