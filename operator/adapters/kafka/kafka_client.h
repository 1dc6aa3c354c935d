#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ports/kafka_admin.h"

namespace kro {

struct HostPort {
  std::string host;  // a name, or an address without brackets
  std::uint16_t port = 0;

  auto operator<=>(const HostPort&) const = default;
  // "host:port", "[::1]:port"
  [[nodiscard]] std::string text() const;
};

struct KafkaClientConfig {
  std::vector<HostPort> bootstrap;
  std::string client_id = "kafka-reassignment-operator";
  std::map<std::string, std::string> properties;  // of the file given by --command-config
};

// "host:port,host:port", IPv6 in brackets. `properties` is the text of a Java properties file such as Kafka's own
// tools take; its client.id wins over the default.
//
// kInvalid for addresses or properties that cannot be read; kUnsupported for another security.protocol than
// PLAINTEXT. Property values may be secrets: they never stand in an error.
Result<KafkaClientConfig> parse_kafka_client_config(std::string_view bootstrap, std::string_view properties = {});
// The keys and values of a Java properties file: comments, continued lines, \-escapes, "=", ":" or blanks between.
Result<std::map<std::string, std::string>> parse_properties(std::string_view text);

// Told after every request with Kafka's name of the API and the answer's error code (0: none; of a partition's own
// codes the first that is not 0). kNoAnswerCode: the request was sent, or could not be, and no answer came.
using RequestObserver = std::function<void(std::string_view api, int code)>;
constexpr int kNoAnswerCode = -2;

// Connects at the first call. The configuration must have passed the parser. `observer` runs on the caller's thread
// and may be empty.
std::unique_ptr<KafkaAdmin> make_kafka_admin(KafkaClientConfig config, RequestObserver observer);

}  // namespace kro
