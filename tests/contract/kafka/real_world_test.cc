// The real side of the contract suite: brokers at KRO_BOOTSTRAP, which may be shared with others.

#include <set>
#include <stdexcept>
#include <thread>

#include "adapters/kafka/kafka_client.h"
#include "contract/kafka/kafka_world.h"
#include "contract/kafka/raw_kafka.h"

namespace kro {
namespace {

constexpr std::size_t kBytesPerRecord = 900'000;
constexpr const char* kThrottledReplicas = "follower.replication.throttled.replicas";
constexpr const char* kThrottledRate = "follower.replication.throttled.rate";

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

class RealWorld final : public KafkaWorld {
 public:
  explicit RealWorld(const std::string& bootstrap)
      : admin_(make_kafka_admin(must(parse_kafka_client_config(bootstrap)), {})) {
    if (seen(std::vector<std::string>()).brokers.size() < 3) throw std::runtime_error("three brokers are needed");
  }
  ~RealWorld() override {
    try {
      for (const std::string& topic : std::set(held_)) release(topic);
      for (const std::string& topic : std::set(topics_)) delete_topic(topic);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "cleaning up: %s\n", error.what());
    }
  }

  KafkaAdmin& admin() override { return *admin_; }

  std::vector<BrokerId> brokers() override {
    std::vector<BrokerId> out;
    for (const auto& [id, broker] : seen(std::vector<std::string>()).brokers)
      if (out.size() < 3) out.push_back(id);
    return out;
  }

  std::string create_topic(const std::vector<ReplicaList>& partitions,
                           const std::map<std::string, std::string>& configs) override {
    const auto unique = std::chrono::system_clock::now().time_since_epoch().count();
    const std::string name = "contract-" + std::to_string(unique);
    create(name, partitions, configs);
    return name;
  }

  void recreate_topic(const std::string& name, const std::vector<ReplicaList>& partitions) override {
    create(name, partitions, {});
  }

  void delete_topic(const std::string& name) override {
    const std::int16_t code = raw_.delete_topic(controller(), name);
    if (code != 0 && code != 3) throw std::runtime_error("DeleteTopics: error " + std::to_string(code));
    topics_.erase(name);
    if (held_.erase(name) > 0) for_each_broker(std::nullopt);  // the topic's list went with it
    if (!until([&] { return seen({{name}}).topics.at(name).error == 3; })) throw std::runtime_error("still there");
  }

  void fill(const TopicPartition& tp, std::int64_t bytes) override {
    const KafkaMetadata now = seen({{tp.topic}});
    const HostPort leader = address(now, now.find(tp)->leader);
    for (std::int64_t sent = 0; sent < bytes; sent += static_cast<std::int64_t>(kBytesPerRecord)) {
      // The controller knows a new topic before its leader does: 3 and 6 until then.
      if (!until([&] { return raw_.produce(leader, tp, kBytesPerRecord) == 0; }))
        throw std::runtime_error("nothing can be produced to " + tp.text());
    }
    // All that are in the ISR have it too.
    for (const BrokerId id : now.find(tp)->isr) {
      if (!until([&] { return must(admin_->log_dir_sizes(id, {tp}, soon()))[tp] >= bytes; }))
        throw std::runtime_error("a follower does not follow");
    }
  }

  void hold(const std::string& topic) override {
    held_.insert(topic);
    raw_.set_config(controller(), kafka::RawKafka::kTopic, topic, kThrottledReplicas, "*");
    for_each_broker("1");
    // A broker applies changes of configuration in the order in which they were made: with the rate it has the list.
    const KafkaMetadata now = seen(std::vector<std::string>());
    for (const auto& [id, broker] : now.brokers) {
      const HostPort there = address(now, id);
      if (!until([&] { return raw_.broker_config(there, std::to_string(id), kThrottledRate) == "1"; }))
        throw std::runtime_error("the throttle is not applied");
    }
  }

  void release(const std::string& topic) override {
    held_.erase(topic);
    for_each_broker(std::nullopt);
    raw_.set_config(controller(), kafka::RawKafka::kTopic, topic, kThrottledReplicas, std::nullopt);
  }

  void pass() override { std::this_thread::sleep_for(20ms); }

 private:
  KafkaMetadata seen(const std::optional<std::vector<std::string>>& topics) {
    return must(admin_->metadata(topics, soon()));
  }
  static HostPort address(const KafkaMetadata& now, BrokerId id) {
    const KafkaBroker& broker = now.brokers.at(id);
    return {broker.host, static_cast<std::uint16_t>(broker.port)};
  }
  HostPort controller() {
    const KafkaMetadata now = seen(std::vector<std::string>());
    return address(now, now.controller_id);
  }
  void for_each_broker(const std::optional<std::string>& rate) {
    const KafkaMetadata now = seen(std::vector<std::string>());
    for (const auto& [id, broker] : now.brokers)
      raw_.set_config(address(now, id), kafka::RawKafka::kBroker, std::to_string(id), kThrottledRate, rate);
  }
  void create(const std::string& name, const std::vector<ReplicaList>& partitions,
              const std::map<std::string, std::string>& configs) {
    // 36: a topic of this name is still being deleted.
    std::int16_t code = 0;
    if (!until([&] { return (code = raw_.create_topic(controller(), name, partitions, configs)) != 36; }) || code != 0)
      throw std::runtime_error("CreateTopics: error " + std::to_string(code));
    topics_.insert(name);
    const auto ready = [&] {
      const KafkaTopic topic = seen({{name}}).topics.at(name);
      if (topic.partitions.size() != partitions.size()) return false;
      for (const auto& [index, partition] : topic.partitions)
        if (partition.leader < 0 || partition.isr.size() != partition.replicas.size()) return false;
      return true;
    };
    if (!until(ready)) throw std::runtime_error("the topic does not get ready");
  }

  std::unique_ptr<KafkaAdmin> admin_;
  kafka::RawKafka raw_{20s};
  std::set<std::string> topics_;
  std::set<std::string> held_;
};

}  // namespace

std::unique_ptr<KafkaWorld> make_real_world(const std::string& bootstrap) {
  return std::make_unique<RealWorld>(bootstrap);
}

}  // namespace kro
