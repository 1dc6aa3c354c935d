#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ports/kafka_admin.h"

namespace kro {

// A Kafka cluster in memory (ZooKeeper mode, 3.9), driven by the test: nothing moves but in step() and advance().
//
// It models what was measured on real brokers, and tests/contract/kafka holds it to that:
// * A target gives replicas = target ++ what is left of the origin, adding = new ones, removing = origin − target; the
//   origin (replicas − adding) survives changes of target. Replicas in neither stop at once, the leader too.
// * null = replicas − adding in the stored order: [1,2] → [2,3], null gives [2,1]. 85 when nothing runs. 39 for a new
//   replica that is not alive, also when the same target runs already. 3 for what does not exist.
// * A move ends when target ⊆ ISR: the leader stays if it is in the target, else the first live target in the ISR. A
//   new order or a smaller list ends at once.
// * The last replica of an ISR never leaves it. So a roll back to replicas outside the ISR answers 0 and leaves no
//   leader, isr [3], data lost to them, also after they came back.
// * A topic deleted while a replica's broker is dead hangs: Metadata and API 45 say 3, API 46 still lists it.
// * poison(): 46 lists it with nothing left of the target; any list by API 45 heals it.
// Not modelled: elections of the controller, legacy znodes, unclean elections, leftover directories, ACLs per topic.
// One thread.
class FakeKafka final : public KafkaAdmin {
 public:
  // What becomes of an alter call: nullopt of apply_after: it never reaches Kafka; of answer_after: it is never
  // answered. Unless both are 0 the caller gets kTimeout/Ambiguous, and a later answer comes by late_answers().
  struct Fate {
    std::optional<milliseconds> apply_after = 0ms;
    std::optional<milliseconds> answer_after = 0ms;
  };
  static constexpr Fate kLostApplied{0ms, std::nullopt};
  static constexpr Fate kLostNotApplied{std::nullopt, std::nullopt};

  struct Call {
    std::string api;     // "Metadata", "ListPartitionReassignments" …
    milliseconds at{0};  // fake time
    int client = 0;
    AlterRequest request;  // of alter calls
    bool answered = false;
    AlterAnswers answers;  // of alter calls that were applied, answered or not
  };

  FakeKafka();
  ~FakeKafka() override;

  // Another client of this cluster, with late answers of its own. Must not outlive it.
  std::unique_ptr<KafkaAdmin> make_client();

  // Brokers are born alive. A dead one leaves every ISR of which it is not the last member.
  void add_broker(BrokerId id, const std::string& rack = "");
  void set_alive(BrokerId id, bool alive);
  // false: it exists, also half deleted. A topic created again has another id.
  bool create_topic(const std::string& name, const std::vector<ReplicaList>& partitions);
  void delete_topic(const std::string& name);
  void set_config(const std::string& topic, const std::string& key, const std::string& value);
  void set_bytes(const TopicPartition& tp, std::int64_t bytes);
  // Bytes a second at which each replica catches up, for all partitions or one; 0: stuck; nullopt: at the next step.
  void set_speed(std::optional<std::int64_t> bytes_per_second);
  void set_speed(const TopicPartition& tp, std::optional<std::int64_t> bytes_per_second);
  void poison(const TopicPartition& tp);
  // A change by somebody else: like API 45, not in the history. Kafka's code.
  std::int16_t foreign_alter(const TopicPartition& tp, const std::optional<ReplicaList>& replicas);

  // The fates of the next alter calls, one each, in order.
  void next_alter(Fate fate) { fates_.push_back(fate); }
  // Every call fails with kUnavailable/Transient, nothing applied; late answers do not arrive either.
  void set_away(bool away) { away_ = away; }
  // The next n calls of any kind fail like that.
  void fail_next(int calls) { failing_ = calls; }
  // Every 45 and 46 is answered with this top-level code (31, 41); 0: as usual.
  void refuse_with(std::int16_t code) { refusal_ = code; }
  // Metadata goes on showing the partitions as they are now, while everything else moves: it lags, as measured on busy
  // brokers. false: it shows the truth again.
  void freeze_metadata(bool frozen);
  void set_version(std::string version) { version_ = std::move(version); }

  // Time goes on: due late calls are applied, replicas catch up and join, moves end.
  void advance(milliseconds span);
  void step() { advance(0ms); }
  // Steps until nothing moves that can move by itself; only for speeds other than 0.
  void settle();

  [[nodiscard]] const std::vector<Call>& history() const { return history_; }
  [[nodiscard]] milliseconds now() const { return now_; }
  // What Kafka really has, not counted as a call.
  [[nodiscard]] KafkaMetadata truth() const;
  [[nodiscard]] OngoingReassignments running() const;

  Result<KafkaMetadata> metadata(const std::optional<std::vector<std::string>>& topics,
                                 const Deadline& deadline) override;
  Result<OngoingReassignments> list_reassignments(const Deadline& deadline) override;
  Result<AlterAnswers> alter_reassignments(const AlterRequest& request, milliseconds timeout,
                                           const Deadline& deadline) override;
  std::vector<AlterAnswers> late_answers() override;
  Result<TopicConfigs> topic_configs(const std::vector<std::string>& topics, const std::vector<std::string>& keys,
                                     const Deadline& deadline) override;
  Result<LogDirSizes> log_dir_sizes(BrokerId broker, const std::vector<TopicPartition>& partitions,
                                    const Deadline& deadline) override;
  [[nodiscard]] std::string kafka_version() const override { return version_; }

 private:
  class Client;
  class Cluster;  // brokers, topics and Kafka's rules: fake_kafka_cluster.h
  struct Pending {
    std::size_t call = 0;  // index into history_
    std::optional<milliseconds> apply_at;
    std::optional<milliseconds> answer_at;
    bool applied = false;
  };

  // Records the call; an error when it cannot reach Kafka.
  Status begin(std::string api, int client, const Deadline& deadline);
  Result<AlterAnswers> alter_from(int client, const AlterRequest& request, const Deadline& deadline);
  std::vector<AlterAnswers> late_of(int client);
  Result<KafkaMetadata> metadata_from(int client, const std::optional<std::vector<std::string>>& topics,
                                      const Deadline& deadline);
  Result<OngoingReassignments> list_from(int client, const Deadline& deadline);
  Result<TopicConfigs> configs_from(int client, const std::vector<std::string>& topics,
                                    const std::vector<std::string>& keys, const Deadline& deadline);
  Result<LogDirSizes> sizes_from(int client, BrokerId broker, const std::vector<TopicPartition>& partitions,
                                 const Deadline& deadline);

  std::unique_ptr<Cluster> cluster_;
  std::optional<KafkaMetadata> frozen_;
  std::deque<Fate> fates_;
  std::vector<Pending> pending_;
  std::vector<Call> history_;
  milliseconds now_{0};
  std::string version_ = "3.9";
  std::int16_t refusal_ = 0;
  int failing_ = 0;
  int clients_ = 1;
  bool away_ = false;
};

}  // namespace kro
