#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ports/kafka_admin.h"

namespace kro {

// A cluster of at least three live brokers, fake or real, that the suite drives. Topics get a name of their own each
// and are deleted with the world.
class KafkaWorld {
 public:
  virtual ~KafkaWorld() = default;

  virtual KafkaAdmin& admin() = 0;
  // Three ids, ascending.
  virtual std::vector<BrokerId> brokers() = 0;
  // Waits until every partition has all its replicas in the ISR. The topic's name.
  virtual std::string create_topic(const std::vector<ReplicaList>& partitions,
                                   const std::map<std::string, std::string>& configs) = 0;
  virtual void delete_topic(const std::string& name) = 0;
  // The same name again.
  virtual void recreate_topic(const std::string& name, const std::vector<ReplicaList>& partitions) = 0;
  virtual void fill(const TopicPartition& tp, std::int64_t bytes) = 0;
  // Replicas that are added to this topic do not catch up, if it was filled with at least kEnoughToHold, until
  // release().
  virtual void hold(const std::string& topic) = 0;
  virtual void release(const std::string& topic) = 0;
  // Lets a moment pass.
  virtual void pass() = 0;

  static Deadline soon(std::stop_token stop = {}) {
    return {std::chrono::steady_clock::now() + std::chrono::seconds(20), std::move(stop)};
  }
  // false: it did not come true within a generous time.
  bool until(const std::function<bool()>& true_now) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!true_now()) {
      if (std::chrono::steady_clock::now() > end) return false;
      pass();
    }
    return true;
  }
};

constexpr std::int64_t kEnoughToHold = 8'000'000;

std::unique_ptr<KafkaWorld> make_fake_world();
// At KRO_BOOTSTRAP.
std::unique_ptr<KafkaWorld> make_real_world(const std::string& bootstrap);

}  // namespace kro
