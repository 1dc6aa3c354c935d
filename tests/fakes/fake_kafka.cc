#include "fakes/fake_kafka.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "fakes/fake_kafka_cluster.h"

namespace kro {

namespace {

constexpr std::size_t kMostPartitionsPerCall = 200;

tl::unexpected<Error> refused(std::int16_t code) {
  if (code == kafka_error::kClusterAuthorizationFailed)
    return fail(ErrorCode::kUnauthorized, Retry::kPermanent, "fake Kafka refuses: not authorized");
  return fail(ErrorCode::kUnavailable, Retry::kTransient, "fake Kafka answers with error " + std::to_string(code));
}

}  // namespace

// One client of the cluster: passes on under its own number.
class FakeKafka::Client final : public KafkaAdmin {
 public:
  Client(FakeKafka& kafka, int id) : kafka_(kafka), id_(id) {}

  Result<KafkaMetadata> metadata(const std::optional<std::vector<std::string>>& topics,
                                 const Deadline& deadline) override {
    return kafka_.metadata_from(id_, topics, deadline);
  }
  Result<OngoingReassignments> list_reassignments(const Deadline& deadline) override {
    return kafka_.list_from(id_, deadline);
  }
  Result<AlterAnswers> alter_reassignments(const AlterRequest& request, milliseconds /*timeout*/,
                                           const Deadline& deadline) override {
    return kafka_.alter_from(id_, request, deadline);
  }
  std::vector<AlterAnswers> late_answers() override { return kafka_.late_of(id_); }
  Result<TopicConfigs> topic_configs(const std::vector<std::string>& topics, const std::vector<std::string>& keys,
                                     const Deadline& deadline) override {
    return kafka_.configs_from(id_, topics, keys, deadline);
  }
  Result<LogDirSizes> log_dir_sizes(BrokerId broker, const std::vector<TopicPartition>& partitions,
                                    const Deadline& deadline) override {
    return kafka_.sizes_from(id_, broker, partitions, deadline);
  }
  [[nodiscard]] std::string kafka_version() const override { return kafka_.version_; }

 private:
  FakeKafka& kafka_;
  int id_;
};

FakeKafka::FakeKafka() : cluster_(std::make_unique<Cluster>()) {}
FakeKafka::~FakeKafka() = default;

std::unique_ptr<KafkaAdmin> FakeKafka::make_client() { return std::make_unique<Client>(*this, clients_++); }

void FakeKafka::add_broker(BrokerId id, const std::string& rack) { cluster_->brokers[id] = {rack, true}; }
void FakeKafka::set_alive(BrokerId id, bool alive) { cluster_->set_alive(id, alive); }
bool FakeKafka::create_topic(const std::string& name, const std::vector<ReplicaList>& partitions) {
  return cluster_->create_topic(name, partitions);
}
void FakeKafka::delete_topic(const std::string& name) { cluster_->delete_topic(name); }
void FakeKafka::set_config(const std::string& topic, const std::string& key, const std::string& value) {
  KRO_ASSERT(cluster_->topics.contains(topic));
  cluster_->topics.at(topic).configs[key] = value;
}
void FakeKafka::set_bytes(const TopicPartition& tp, std::int64_t bytes) { cluster_->partition(tp).bytes = bytes; }
void FakeKafka::set_speed(std::optional<std::int64_t> bytes_per_second) { cluster_->speed = bytes_per_second; }
void FakeKafka::set_speed(const TopicPartition& tp, std::optional<std::int64_t> bytes_per_second) {
  cluster_->partition(tp).own_speed = true;
  cluster_->partition(tp).speed = bytes_per_second;
}
void FakeKafka::poison(const TopicPartition& tp) { cluster_->poison(tp); }
std::int16_t FakeKafka::foreign_alter(const TopicPartition& tp, const std::optional<ReplicaList>& replicas) {
  return cluster_->alter(tp, replicas).code;
}

void FakeKafka::advance(milliseconds span) {
  now_ += span;
  for (Pending& pending : pending_) {
    if (pending.applied || !pending.apply_at || *pending.apply_at > now_) continue;
    Call& call = history_[pending.call];
    for (const auto& [tp, replicas] : call.request) call.answers[tp] = cluster_->alter(tp, replicas);
    pending.applied = true;
  }
  std::erase_if(pending_, [](const Pending& p) { return !p.apply_at || (p.applied && !p.answer_at); });
  cluster_->advance(span);
}

void FakeKafka::settle() {
  for (int rounds = 0; rounds < 10'000; ++rounds) {
    advance(0ms);
    if (!cluster_->advance(1s)) return;
    now_ += 1s;
  }
  KRO_ASSERT(false && "the fake cluster does not come to rest");
}

void FakeKafka::freeze_metadata(bool frozen) { frozen_ = frozen ? std::optional(truth()) : std::nullopt; }

KafkaMetadata FakeKafka::truth() const { return cluster_->metadata(std::nullopt); }
OngoingReassignments FakeKafka::running() const { return cluster_->running(); }

Status FakeKafka::begin(std::string api, int client, const Deadline& deadline) {
  history_.push_back({std::move(api), now_, client, {}, false, {}});
  if (deadline.stop.stop_requested()) return fail(ErrorCode::kCancelled, Retry::kTransient, "stopped");
  if (failing_ > 0) {
    --failing_;
    return fail(ErrorCode::kUnavailable, Retry::kTransient, "the fake fails this call");
  }
  if (away_ || !cluster_->any_alive())
    return fail(ErrorCode::kUnavailable, Retry::kTransient, "no broker of the fake cluster answers");
  return {};
}

Result<KafkaMetadata> FakeKafka::metadata_from(int client, const std::optional<std::vector<std::string>>& topics,
                                               const Deadline& deadline) {
  if (auto ok = begin("Metadata", client, deadline); !ok) return tl::unexpected(ok.error());
  history_.back().answered = true;
  KafkaMetadata now = cluster_->metadata(topics);
  if (frozen_)
    for (auto& [name, topic] : now.topics)
      if (const auto old = frozen_->topics.find(name); old != frozen_->topics.end()) topic = old->second;
  return now;
}

Result<OngoingReassignments> FakeKafka::list_from(int client, const Deadline& deadline) {
  if (auto ok = begin("ListPartitionReassignments", client, deadline); !ok) return tl::unexpected(ok.error());
  history_.back().answered = true;
  if (refusal_ != 0) return refused(refusal_);
  return cluster_->running();
}

Result<AlterAnswers> FakeKafka::alter_from(int client, const AlterRequest& request, const Deadline& deadline) {
  KRO_ASSERT(request.size() <= kMostPartitionsPerCall);
  for (const auto& [tp, replicas] : request) KRO_ASSERT(!replicas || !replica_list_problem(*replicas));
  if (auto ok = begin("AlterPartitionReassignments", client, deadline); !ok) return tl::unexpected(ok.error());
  Call& call = history_.back();
  call.request = request;
  if (refusal_ != 0) {
    call.answered = true;
    return refused(refusal_);
  }
  Fate fate;
  if (!fates_.empty()) {
    fate = fates_.front();
    fates_.pop_front();
  }
  if (fate.apply_after == 0ms) {
    for (const auto& [tp, replicas] : request) call.answers[tp] = cluster_->alter(tp, replicas);
    if (fate.answer_after == 0ms) {
      call.answered = true;
      return call.answers;
    }
  }
  if (fate.apply_after && (fate.answer_after || *fate.apply_after > 0ms)) {
    Pending pending;
    pending.call = history_.size() - 1;
    pending.apply_at = now_ + *fate.apply_after;
    if (fate.answer_after) pending.answer_at = now_ + *fate.answer_after;
    pending.applied = *fate.apply_after == 0ms;
    pending_.push_back(pending);
  }
  return fail(ErrorCode::kTimeout, Retry::kAmbiguous, "the fake does not answer this alter call in time");
}

std::vector<AlterAnswers> FakeKafka::late_of(int client) {
  std::vector<AlterAnswers> out;
  if (away_) return out;
  std::erase_if(pending_, [&](const Pending& pending) {
    Call& call = history_[pending.call];
    if (call.client != client || !pending.applied || !pending.answer_at || *pending.answer_at > now_) return false;
    call.answered = true;
    out.push_back(call.answers);
    return true;
  });
  return out;
}

Result<TopicConfigs> FakeKafka::configs_from(int client, const std::vector<std::string>& topics,
                                             const std::vector<std::string>& keys, const Deadline& deadline) {
  if (auto ok = begin("DescribeConfigs", client, deadline); !ok) return tl::unexpected(ok.error());
  history_.back().answered = true;
  TopicConfigs out;
  for (const std::string& name : topics) {
    const auto topic = cluster_->topics.find(name);
    if (topic == cluster_->topics.end() || topic->second.deleting) continue;
    std::map<std::string, std::string>& values = out[name];
    for (const std::string& key : keys) {
      const auto value = topic->second.configs.find(key);
      if (value != topic->second.configs.end())
        values[key] = value->second;
      else if (key == "min.insync.replicas")
        values[key] = "1";
    }
  }
  return out;
}

Result<LogDirSizes> FakeKafka::sizes_from(int client, BrokerId broker, const std::vector<TopicPartition>& partitions,
                                          const Deadline& deadline) {
  if (auto ok = begin("DescribeLogDirs", client, deadline); !ok) return tl::unexpected(ok.error());
  if (!cluster_->alive(broker))
    return fail(ErrorCode::kUnavailable, Retry::kTransient, "broker " + std::to_string(broker) + " is not alive");
  history_.back().answered = true;
  return cluster_->sizes(broker, partitions);
}

Result<KafkaMetadata> FakeKafka::metadata(const std::optional<std::vector<std::string>>& topics,
                                          const Deadline& deadline) {
  return metadata_from(0, topics, deadline);
}
Result<OngoingReassignments> FakeKafka::list_reassignments(const Deadline& deadline) { return list_from(0, deadline); }
Result<AlterAnswers> FakeKafka::alter_reassignments(const AlterRequest& request, milliseconds /*timeout*/,
                                                    const Deadline& deadline) {
  return alter_from(0, request, deadline);
}
std::vector<AlterAnswers> FakeKafka::late_answers() { return late_of(0); }
Result<TopicConfigs> FakeKafka::topic_configs(const std::vector<std::string>& topics,
                                              const std::vector<std::string>& keys, const Deadline& deadline) {
  return configs_from(0, topics, keys, deadline);
}
Result<LogDirSizes> FakeKafka::log_dir_sizes(BrokerId broker, const std::vector<TopicPartition>& partitions,
                                             const Deadline& deadline) {
  return sizes_from(0, broker, partitions, deadline);
}

}  // namespace kro
