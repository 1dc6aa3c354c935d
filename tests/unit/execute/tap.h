#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ports/kafka_admin.h"
#include "ports/zk_session.h"

namespace kro::execute::test {

// Thrown out of a controller's step at a crash point: the process ends there, between two of its effects.
struct Killed {};

// What a controller does to the outside world, seen call by call: hooks for the checker, and the place where a crash
// matrix kills it. One thread.
struct Tap {
  std::function<void(std::int64_t session, const std::vector<ZkOp>&)> before_write;
  std::function<void(const std::vector<ZkOp>&, bool ok)> after_write;
  std::function<void(const AlterRequest&)> before_call;
  std::function<void(const AlterRequest&, const Result<AlterAnswers>&)> after_call;
  std::function<void(const AlterAnswers&)> late_answer;
  std::set<std::string> unreadable;  // paths whose ACL does not let us read

  int effects = 0;  // writes and calls so far
  int kill_at = 0;  // the effect at which it is killed; 0: never
  bool kill_after = false;
  int reads = 0;

  void begin() {
    if (++effects == kill_at && !kill_after) throw Killed{};
  }
  void end(int effect) const {
    if (effect == kill_at && kill_after) throw Killed{};
  }
};

class TapSession final : public ZkSession {
 public:
  TapSession(std::unique_ptr<ZkSession> inner, Tap& tap) : inner_(std::move(inner)), tap_(tap) {}

  [[nodiscard]] ZkState state() const override { return inner_->state(); }
  [[nodiscard]] std::int64_t session_id() const override { return inner_->session_id(); }
  Status wait_connected(const Deadline& deadline) override { return inner_->wait_connected(deadline); }
  Result<std::optional<ZkNode>> get(const std::string& path, bool watch, const Deadline& deadline) override {
    ++tap_.reads;
    if (tap_.unreadable.contains(path)) return denied(path);
    return inner_->get(path, watch, deadline);
  }
  Result<std::vector<std::optional<ZkNode>>> get_many(const std::vector<std::string>& paths, bool watch,
                                                      const Deadline& deadline) override {
    ++tap_.reads;
    for (const std::string& path : paths)
      if (tap_.unreadable.contains(path)) return denied(path);
    return inner_->get_many(paths, watch, deadline);
  }
  Result<std::optional<ZkChildren>> children(const std::string& path, bool watch, const Deadline& deadline) override {
    ++tap_.reads;
    return inner_->children(path, watch, deadline);
  }
  Result<std::vector<ZkOpResult>> multi(const std::vector<ZkOp>& ops, const Deadline& deadline) override {
    tap_.begin();
    const int effect = tap_.effects;
    if (tap_.before_write) tap_.before_write(inner_->session_id(), ops);
    auto done = inner_->multi(ops, deadline);
    if (tap_.after_write) tap_.after_write(ops, done.has_value());
    tap_.end(effect);
    return done;
  }
  Status sync(const Deadline& deadline) override { return inner_->sync(deadline); }
  void close() override { inner_->close(); }

 private:
  static tl::unexpected<Error> denied(const std::string& path) {
    return fail(ErrorCode::kUnauthorized, Retry::kPermanent, "no permission to read " + path);
  }
  std::unique_ptr<ZkSession> inner_;
  Tap& tap_;
};

class TapConnector final : public ZkConnector {
 public:
  TapConnector(std::unique_ptr<ZkConnector> inner, Tap& tap) : inner_(std::move(inner)), tap_(tap) {}
  Result<std::unique_ptr<ZkSession>> open(const ZkConfig& config, ZkEventSink sink) override {
    auto session = inner_->open(config, std::move(sink));
    if (!session) return session;
    last_session_ = (*session)->session_id();
    return std::make_unique<TapSession>(std::move(*session), tap_);
  }
  [[nodiscard]] std::int64_t last_session() const { return last_session_; }

 private:
  std::unique_ptr<ZkConnector> inner_;
  Tap& tap_;
  std::int64_t last_session_ = 0;
};

class TapKafka final : public KafkaAdmin {
 public:
  TapKafka(std::unique_ptr<KafkaAdmin> inner, Tap& tap) : inner_(std::move(inner)), tap_(tap) {}

  Result<KafkaMetadata> metadata(const std::optional<std::vector<std::string>>& topics, const Deadline& d) override {
    return inner_->metadata(topics, d);
  }
  Result<OngoingReassignments> list_reassignments(const Deadline& d) override { return inner_->list_reassignments(d); }
  Result<AlterAnswers> alter_reassignments(const AlterRequest& request, milliseconds timeout,
                                           const Deadline& deadline) override {
    tap_.begin();
    const int effect = tap_.effects;
    if (tap_.before_call) tap_.before_call(request);
    auto answers = inner_->alter_reassignments(request, timeout, deadline);
    if (tap_.after_call) tap_.after_call(request, answers);
    tap_.end(effect);
    return answers;
  }
  std::vector<AlterAnswers> late_answers() override {
    auto late = inner_->late_answers();
    for (const AlterAnswers& answers : late)
      if (tap_.late_answer) tap_.late_answer(answers);
    return late;
  }
  Result<TopicConfigs> topic_configs(const std::vector<std::string>& topics, const std::vector<std::string>& keys,
                                     const Deadline& d) override {
    return inner_->topic_configs(topics, keys, d);
  }
  Result<LogDirSizes> log_dir_sizes(BrokerId broker, const std::vector<TopicPartition>& partitions,
                                    const Deadline& d) override {
    return inner_->log_dir_sizes(broker, partitions, d);
  }
  [[nodiscard]] std::string kafka_version() const override { return inner_->kafka_version(); }

 private:
  std::unique_ptr<KafkaAdmin> inner_;
  Tap& tap_;
};

}  // namespace kro::execute::test
