#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/kafka/api.h"
#include "adapters/kafka/connection.h"
#include "adapters/kafka/kafka_client.h"
#include "ports/kafka_admin.h"

namespace kro::kafka {

// A connection with what its broker serves.
struct Link {
  std::unique_ptr<Connection> connection;
  VersionRanges ranges;
  std::int32_t correlation = 0;
};

// What a request was sent with: its answer is decoded by it.
struct Sent {
  std::int16_t version = 0;
  std::int32_t correlation = 0;
};

// Encodes for the version that was agreed on.
using Encode = std::function<std::string(std::int16_t version)>;
// Decodes and says Kafka's top-level code, 0 where the message has none.
using Decode = std::function<Result<std::int16_t>(std::int16_t version, std::string_view body)>;

// The connections of one client: one to the controller, one to each broker that is asked by its id. One thread.
//
// The controller is found by Metadata without topics, asked of the brokers last seen alive, then of the bootstrap
// list, until one names a controller that can be reached; each gets a share of the time, so that an address that
// swallows packets does not use up the others'. In KRaft mode Metadata names any broker, and any forwards.
class Links {
 public:
  Links(KafkaClientConfig config, RequestObserver observer);

  // Pointers are good until the next call of a non-const function here.
  Result<Link*> controller(const Deadline& deadline);
  // The same, over a connection that the broker did not end while it was idle.
  Result<Link*> checked_controller(const Deadline& deadline);
  void drop_controller() { controller_.reset(); }
  // Hands the controller's connection over; the next call makes another.
  std::unique_ptr<Connection> release_controller();
  // kUnavailable: not alive by the last Metadata, which is asked for again first.
  Result<Link*> broker(BrokerId id, const Deadline& deadline);
  void drop_broker(BrokerId id) { brokers_.erase(id); }
  // Metadata came: connections to brokers that are gone go.
  void seen(const std::map<BrokerId, KafkaBroker>& alive);

  // kUnsupported/Permanent without a common version. Any error: the broker did not get the request.
  Result<Sent> send(Link& link, const Api& api, const Encode& encode, const Deadline& deadline);
  Result<std::int16_t> exchange(Link& link, const Api& api, const Encode& encode, const Decode& decode,
                                const Deadline& deadline);
  // A read at the controller, sent once more over a fresh connection after 41 or a lost connection. Codes 31 and 41
  // have become errors.
  Result<std::int16_t> read(const Api& api, const Encode& encode, const Decode& decode, const Deadline& deadline);

  void observe(const Api& api, int code) const;
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  Result<Link> open(const HostPort& address, const Deadline& deadline);
  Result<Sent> send_version(Link& link, const Api& api, std::int16_t version, const std::string& body,
                            const Deadline& deadline);
  Result<std::int16_t> receive(Link& link, const Api& api, const Sent& sent, const Decode& decode,
                               const Deadline& deadline);
  Status agree_on_versions(Link& link, const Deadline& deadline);
  Status ask_for_controller(const HostPort& address, const Deadline& deadline);
  [[nodiscard]] std::vector<HostPort> candidates() const;

  KafkaClientConfig config_;
  RequestObserver observer_;
  Network network_;  // before the connections: they go first
  std::optional<Link> controller_;
  std::map<BrokerId, Link> brokers_;
  std::map<BrokerId, KafkaBroker> alive_;  // by the last Metadata
  std::string version_;
};

// Another connection may do better: the broker or the address was at fault, not the time or the caller.
bool worth_another_connection(const Error& error);
tl::unexpected<Error> unauthorized(const Api& api);
// kUnavailable/Transient with Kafka's code and words.
tl::unexpected<Error> kafka_failed(const Api& api, std::int16_t code, const std::string& message);

}  // namespace kro::kafka
