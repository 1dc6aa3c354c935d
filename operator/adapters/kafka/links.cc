#include "adapters/kafka/links.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "adapters/kafka/api_versions_codec.h"
#include "adapters/kafka/frame_codec.h"
#include "adapters/kafka/metadata_codec.h"

namespace kro::kafka {

namespace {

constexpr std::int16_t kUnsupportedVersion = 35;
constexpr milliseconds kMostPerAddress = 5s;

Deadline share(const Deadline& deadline, std::size_t parts) {
  const MonoTime now = std::chrono::steady_clock::now();
  if (deadline.at <= now || parts <= 1) return deadline;
  const MonoTime::duration part = (deadline.at - now) / static_cast<std::int64_t>(parts);
  return {now + std::min<MonoTime::duration>(part, kMostPerAddress), deadline.stop};
}

HostPort address_of(const KafkaBroker& broker) { return {broker.host, static_cast<std::uint16_t>(broker.port)}; }

}  // namespace

bool worth_another_connection(const Error& error) {
  return error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kProtocol;
}

tl::unexpected<Error> unauthorized(const Api& api) {
  return fail(ErrorCode::kUnauthorized, Retry::kPermanent,
              "Kafka refuses " + std::string(api.name) + ": not authorized");
}

tl::unexpected<Error> kafka_failed(const Api& api, std::int16_t code, const std::string& message) {
  return fail(ErrorCode::kUnavailable, Retry::kTransient,
              "Kafka answered " + std::string(api.name) + " with error " + std::to_string(code) +
                  (message.empty() ? "" : " (" + message + ")"));
}

Links::Links(KafkaClientConfig config, RequestObserver observer)
    : config_(std::move(config)), observer_(std::move(observer)) {}

void Links::observe(const Api& api, int code) const {
  if (observer_) observer_(api.name, code);
}

Result<Sent> Links::send_version(Link& link, const Api& api, std::int16_t version, const std::string& body,
                                 const Deadline& deadline) {
  if (deadline.stop.stop_requested())
    return fail(ErrorCode::kCancelled, Retry::kTransient, std::string(api.name) + ": stopped before it was sent");
  const Sent sent{version, ++link.correlation};
  const auto status =
      link.connection->send(encode_frame(api, version, sent.correlation, config_.client_id, body), deadline);
  if (status) return sent;
  observe(api, kNoAnswerCode);
  return pass_on(status.error(), std::string(api.name));
}

Result<Sent> Links::send(Link& link, const Api& api, const Encode& encode, const Deadline& deadline) {
  const auto version = common_version(api, link.ranges);
  if (!version)
    return fail(ErrorCode::kUnsupported, Retry::kPermanent,
                "the broker (Kafka " + guess_kafka_version(link.ranges) + ") serves no version of " +
                    std::string(api.name) + " that we speak; Kafka 2.4 or newer is needed");
  return send_version(link, api, *version, encode(*version), deadline);
}

Result<std::int16_t> Links::receive(Link& link, const Api& api, const Sent& sent, const Decode& decode,
                                    const Deadline& deadline) {
  const auto frame = link.connection->receive(deadline);
  if (!frame) {
    observe(api, kNoAnswerCode);
    return pass_on(frame.error(), std::string(api.name));
  }
  const auto answer = decode_frame(api, sent.version, *frame);
  if (!answer) return pass_on(answer.error(), std::string(api.name));
  if (answer->correlation != sent.correlation)
    return fail(ErrorCode::kProtocol, Retry::kTransient,
                std::string(api.name) + ": the answer has the correlation id of another request");
  const auto code = decode(sent.version, answer->body);
  if (code) observe(api, *code);
  return code;
}

Result<std::int16_t> Links::exchange(Link& link, const Api& api, const Encode& encode, const Decode& decode,
                                     const Deadline& deadline) {
  const auto sent = send(link, api, encode, deadline);
  if (!sent) return tl::unexpected(sent.error());
  return receive(link, api, *sent, decode, deadline);
}

// v3 first; a broker that answers 35 gets v0 on the same connection.
Status Links::agree_on_versions(Link& link, const Deadline& deadline) {
  for (const std::int16_t version : {kApiVersions.newest, kApiVersions.oldest}) {
    const auto sent = send_version(link, kApiVersions, version, encode_api_versions(version), deadline);
    if (!sent) return tl::unexpected(sent.error());
    const auto code = receive(
        link, kApiVersions, *sent,
        [&](std::int16_t v, std::string_view body) -> Result<std::int16_t> {
          auto answer = decode_api_versions(v, body);
          if (!answer) return tl::unexpected(answer.error());
          link.ranges = std::move(answer->ranges);
          return answer->error;
        },
        deadline);
    if (!code) return tl::unexpected(code.error());
    if (*code == 0) return {};
    if (*code != kUnsupportedVersion) return kafka_failed(kApiVersions, *code, "");
  }
  return fail(ErrorCode::kUnsupported, Retry::kPermanent, "the broker serves no version of ApiVersions that we speak");
}

Result<Link> Links::open(const HostPort& address, const Deadline& deadline) {
  auto connection = Connection::open(network_, address, deadline);
  if (!connection) return tl::unexpected(connection.error());
  Link link;
  link.connection = *std::move(connection);
  if (auto agreed = agree_on_versions(link, deadline); !agreed) return pass_on(agreed.error(), address.text());
  return link;
}

std::vector<HostPort> Links::candidates() const {
  std::vector<HostPort> out;
  const auto add = [&out](HostPort address) {
    if (std::find(out.begin(), out.end(), address) == out.end()) out.push_back(std::move(address));
  };
  for (const auto& [id, broker] : alive_) add(address_of(broker));
  for (const HostPort& address : config_.bootstrap) add(address);
  return out;
}

Status Links::ask_for_controller(const HostPort& address, const Deadline& deadline) {
  auto link = open(address, deadline);
  if (!link) return tl::unexpected(link.error());
  KafkaMetadata found;
  const auto asked = exchange(
      *link, kMetadata, [](std::int16_t version) { return encode_metadata(version, std::vector<std::string>()); },
      [&](std::int16_t version, std::string_view body) -> Result<std::int16_t> {
        auto decoded = decode_metadata(version, body);
        if (!decoded) return tl::unexpected(decoded.error());
        found = *std::move(decoded);
        return std::int16_t{0};
      },
      deadline);
  if (!asked) return pass_on(asked.error(), address.text());
  const auto controller = found.brokers.find(found.controller_id);
  if (controller == found.brokers.end())
    return fail(ErrorCode::kUnavailable, Retry::kTransient, "Kafka has no active controller, says " + address.text());
  const HostPort there = address_of(controller->second);
  if (there != address) {
    link = open(there, deadline);
    if (!link) return pass_on(link.error(), "the controller, broker " + std::to_string(found.controller_id));
  }
  seen(found.brokers);
  controller_ = *std::move(link);
  version_ = guess_kafka_version(controller_->ranges);
  return {};
}

Result<Link*> Links::controller(const Deadline& deadline) {
  if (controller_) return &*controller_;
  const auto addresses = candidates();
  Status last = fail(ErrorCode::kUnavailable, Retry::kTransient, "no bootstrap server");
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    last = ask_for_controller(addresses[i], share(deadline, addresses.size() - i));
    if (last) return &*controller_;
    if (last.error().code == ErrorCode::kCancelled) break;
    if (std::chrono::steady_clock::now() >= deadline.at) break;
  }
  return pass_on(last.error(), "no controller of Kafka can be reached");
}

Result<Link*> Links::checked_controller(const Deadline& deadline) {
  if (controller_) {
    const auto idle = controller_->connection->poll();
    if (!idle || *idle) controller_.reset();
  }
  return controller(deadline);
}

std::unique_ptr<Connection> Links::release_controller() {
  if (!controller_) return nullptr;
  auto connection = std::move(controller_->connection);
  controller_.reset();
  return connection;
}

void Links::seen(const std::map<BrokerId, KafkaBroker>& alive) {
  alive_ = alive;
  std::erase_if(brokers_, [this](const auto& entry) { return !alive_.contains(entry.first); });
}

Result<Link*> Links::broker(BrokerId id, const Deadline& deadline) {
  if (const auto open_one = brokers_.find(id); open_one != brokers_.end()) return &open_one->second;
  if (!alive_.contains(id)) {
    drop_controller();
    if (auto found = controller(deadline); !found) return tl::unexpected(found.error());
  }
  const auto known = alive_.find(id);
  if (known == alive_.end())
    return fail(ErrorCode::kUnavailable, Retry::kTransient, "broker " + std::to_string(id) + " is not alive");
  auto link = open(address_of(known->second), deadline);
  if (!link) return pass_on(link.error(), "broker " + std::to_string(id));
  return &brokers_.insert_or_assign(id, *std::move(link)).first->second;
}

Result<std::int16_t> Links::read(const Api& api, const Encode& encode, const Decode& decode, const Deadline& deadline) {
  for (int attempt = 1;; ++attempt) {
    auto link = controller(deadline);
    if (!link) return tl::unexpected(link.error());
    auto code = exchange(**link, api, encode, decode, deadline);
    if (code && *code == kafka_error::kClusterAuthorizationFailed) return unauthorized(api);
    if (code && *code != kafka_error::kNotController) return code;
    if (!code && code.error().code == ErrorCode::kUnsupported) return code;
    drop_controller();  // after a timeout too: its answer may still come, and nobody waits for it
    if (code && attempt == 2) return kafka_failed(api, *code, "not the controller");
    if (!code && (attempt == 2 || !worth_another_connection(code.error()))) return code;
  }
}

}  // namespace kro::kafka
