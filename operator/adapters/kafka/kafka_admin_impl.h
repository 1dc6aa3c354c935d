#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapters/kafka/links.h"
#include "ports/kafka_admin.h"

namespace kro::kafka {

// KafkaAdmin in terms of Links and the codecs.
//
// A call that changes Kafka goes out once. Sent and not answered in time, its connection moves to `late_` and later
// calls use another one, because a broker answers a connection's requests in order and the late one would come first.
class KafkaAdminImpl final : public KafkaAdmin {
 public:
  KafkaAdminImpl(KafkaClientConfig config, RequestObserver observer);

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
  [[nodiscard]] std::string kafka_version() const override { return links_.version(); }

 private:
  struct LateCall {
    std::unique_ptr<Connection> connection;
    Sent sent;
    AlterRequest request;
  };
  // The answer did not come: ambiguous; waits on for it where that can help.
  tl::unexpected<Error> unanswered(Error error, const Sent& sent, const AlterRequest& request);

  Links links_;
  std::deque<LateCall> late_;  // after links_: their connections go before its network
};

}  // namespace kro::kafka
