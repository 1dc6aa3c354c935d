// The fake side of the contract suite.

#include "contract/kafka/kafka_world.h"
#include "fakes/fake_kafka.h"

namespace kro {
namespace {

class FakeWorld final : public KafkaWorld {
 public:
  FakeWorld() {
    for (const BrokerId id : brokers()) kafka_.add_broker(id);
  }
  KafkaAdmin& admin() override { return kafka_; }
  std::vector<BrokerId> brokers() override { return {1, 2, 3}; }
  std::string create_topic(const std::vector<ReplicaList>& partitions,
                           const std::map<std::string, std::string>& configs) override {
    const std::string name = "contract-" + std::to_string(++topics_);
    kafka_.create_topic(name, partitions);
    for (const auto& [key, value] : configs) kafka_.set_config(name, key, value);
    return name;
  }
  void delete_topic(const std::string& name) override { kafka_.delete_topic(name); }
  void recreate_topic(const std::string& name, const std::vector<ReplicaList>& partitions) override {
    kafka_.create_topic(name, partitions);
  }
  void fill(const TopicPartition& tp, std::int64_t bytes) override { kafka_.set_bytes(tp, bytes); }
  void hold(const std::string& topic) override { set_speed(topic, 0); }
  void release(const std::string& topic) override { set_speed(topic, std::nullopt); }
  void pass() override { kafka_.advance(100ms); }

 private:
  void set_speed(const std::string& topic, std::optional<std::int64_t> speed) {
    const KafkaMetadata now = kafka_.truth();
    for (const auto& [index, partition] : now.topics.at(topic).partitions) kafka_.set_speed({topic, index}, speed);
  }

  FakeKafka kafka_;
  int topics_ = 0;
};

}  // namespace

std::unique_ptr<KafkaWorld> make_fake_world() { return std::make_unique<FakeWorld>(); }

}  // namespace kro
