#include "adapters/kafka/kafka_admin_impl.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "adapters/kafka/alter_reassignments_codec.h"
#include "adapters/kafka/describe_configs_codec.h"
#include "adapters/kafka/describe_log_dirs_codec.h"
#include "adapters/kafka/frame_codec.h"
#include "adapters/kafka/list_reassignments_codec.h"
#include "adapters/kafka/metadata_codec.h"
#include "base/assert.h"

namespace kro::kafka {

namespace {

constexpr std::int16_t kTopicAuthorizationFailed = 29;
constexpr std::int16_t kUnsupportedVersion = 35;
constexpr std::size_t kMostLateCalls = 16;
constexpr std::size_t kMostPartitionsPerCall = 200;

std::int32_t timeout_ms(MonoTime::duration timeout) {
  const auto ms = std::chrono::duration_cast<milliseconds>(timeout).count();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(ms, 1, 24LL * 3600 * 1000));
}

AlterAnswers for_each_partition(const AlterRequest& request, std::int16_t code, const std::string& message) {
  AlterAnswers out;
  for (const auto& [tp, replicas] : request) out[tp] = {code, message};
  return out;
}

int first_code(const AlterResponse& response) {
  if (response.error != 0) return response.error;
  for (const auto& [tp, answer] : response.answers)
    if (answer.code != 0) return answer.code;
  return 0;
}

// What a top-level code of an answered call means; nullopt: look at the partitions.
std::optional<Error> refusal(const AlterResponse& response) {
  switch (response.error) {
    case kafka_error::kNone: return std::nullopt;
    case kafka_error::kClusterAuthorizationFailed: return unauthorized(kAlterReassignments).value();
    case kafka_error::kNotController:
      return kafka_failed(kAlterReassignments, response.error, response.message).value();
    case kUnsupportedVersion: {
      Error error = kafka_failed(kAlterReassignments, response.error, response.message).value();
      error.code = ErrorCode::kUnsupported;
      error.retry = Retry::kPermanent;
      return error;
    }
    default: {
      // 7 (timed out at the controller) and -1 among them: some of it may have been done.
      Error error = kafka_failed(kAlterReassignments, response.error, response.message).value();
      error.retry = Retry::kAmbiguous;
      return error;
    }
  }
}

Result<AlterResponse> decode_answer(const Sent& sent, const std::string& frame, const AlterRequest& request) {
  const auto answer = decode_frame(kAlterReassignments, sent.version, frame);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->correlation != sent.correlation)
    return fail(ErrorCode::kProtocol, Retry::kTransient, "an answer has the correlation id of another request");
  auto response = decode_alter_reassignments(sent.version, answer->body);
  if (!response || response->error != 0) return response;
  for (const auto& [tp, replicas] : request)
    if (!response->answers.contains(tp))
      return fail(ErrorCode::kProtocol, Retry::kTransient, "an AlterPartitionReassignments answer lacks " + tp.text());
  return response;
}

// For messages without a top-level code.
template <class Message>
auto keep(Message& out, Result<Message> (*decode)(std::int16_t, std::string_view)) {
  return [&out, decode](std::int16_t version, std::string_view body) -> Result<std::int16_t> {
    auto decoded = decode(version, body);
    if (!decoded) return tl::unexpected(decoded.error());
    out = *std::move(decoded);
    return std::int16_t{0};
  };
}

}  // namespace

KafkaAdminImpl::KafkaAdminImpl(KafkaClientConfig config, RequestObserver observer)
    : links_(std::move(config), std::move(observer)) {}

Result<KafkaMetadata> KafkaAdminImpl::metadata(const std::optional<std::vector<std::string>>& topics,
                                               const Deadline& deadline) {
  KafkaMetadata out;
  const auto done = links_.read(
      kMetadata, [&](std::int16_t version) { return encode_metadata(version, topics); }, keep(out, decode_metadata),
      deadline);
  if (!done) return tl::unexpected(done.error());
  links_.seen(out.brokers);
  return out;
}

Result<OngoingReassignments> KafkaAdminImpl::list_reassignments(const Deadline& deadline) {
  ListResponse out;
  const std::int32_t timeout = timeout_ms(deadline.at - std::chrono::steady_clock::now());
  const auto code = links_.read(
      kListReassignments, [&](std::int16_t) { return encode_list_reassignments(timeout); },
      [&](std::int16_t, std::string_view body) -> Result<std::int16_t> {
        auto decoded = decode_list_reassignments(body);
        if (!decoded) return tl::unexpected(decoded.error());
        out = *std::move(decoded);
        return out.error;
      },
      deadline);
  if (!code) return tl::unexpected(code.error());
  if (*code != 0) return kafka_failed(kListReassignments, *code, out.message);
  return std::move(out.rows);
}

tl::unexpected<Error> KafkaAdminImpl::unanswered(Error error, const Sent& sent, const AlterRequest& request) {
  links_.observe(kAlterReassignments, kNoAnswerCode);
  if (error.code == ErrorCode::kTimeout || error.code == ErrorCode::kCancelled) {
    if (late_.size() == kMostLateCalls) late_.pop_front();
    late_.push_back({links_.release_controller(), sent, request});
  }
  links_.drop_controller();
  error.retry = Retry::kAmbiguous;
  return pass_on(std::move(error), std::string(kAlterReassignments.name));
}

Result<AlterAnswers> KafkaAdminImpl::alter_reassignments(const AlterRequest& request, milliseconds timeout,
                                                         const Deadline& deadline) {
  KRO_ASSERT(request.size() <= kMostPartitionsPerCall);
  for (const auto& [tp, replicas] : request) KRO_ASSERT(!replicas || !replica_list_problem(*replicas));

  auto link = links_.checked_controller(deadline);
  if (!link) return tl::unexpected(link.error());
  const auto sent = links_.send(
      **link, kAlterReassignments,
      [&](std::int16_t version) { return encode_alter_reassignments(version, request, timeout_ms(timeout)); },
      deadline);
  if (!sent) {
    if (sent.error().code != ErrorCode::kUnsupported) links_.drop_controller();
    return tl::unexpected(sent.error());
  }
  auto frame = (*link)->connection->receive(deadline);
  if (!frame) return unanswered(frame.error(), *sent, request);
  auto response = decode_answer(*sent, *frame, request);
  if (!response) return unanswered(response.error(), *sent, request);
  links_.observe(kAlterReassignments, first_code(*response));
  if (response->error == kafka_error::kNotController) {
    links_.drop_controller();
    (void)links_.controller(deadline);  // the caller's next try finds it refreshed
  }
  if (auto error = refusal(*response)) return tl::unexpected(*std::move(error));
  return std::move(response->answers);
}

std::vector<AlterAnswers> KafkaAdminImpl::late_answers() {
  std::vector<AlterAnswers> out;
  std::erase_if(late_, [&](LateCall& call) {
    const auto frame = call.connection->poll();
    if (frame && !*frame) return false;
    if (!frame) return true;
    auto response = decode_answer(call.sent, **frame, call.request);
    if (!response) return true;
    links_.observe(kAlterReassignments, first_code(*response));
    out.push_back(response->error == 0 ? std::move(response->answers)
                                       : for_each_partition(call.request, response->error, response->message));
    return true;
  });
  return out;
}

Result<TopicConfigs> KafkaAdminImpl::topic_configs(const std::vector<std::string>& topics,
                                                   const std::vector<std::string>& keys, const Deadline& deadline) {
  if (topics.empty()) return TopicConfigs{};
  TopicConfigAnswers answers;
  const auto done = links_.read(
      kDescribeConfigs, [&](std::int16_t version) { return encode_describe_topic_configs(version, topics, keys); },
      keep(answers, decode_describe_configs), deadline);
  if (!done) return tl::unexpected(done.error());
  TopicConfigs out;
  for (auto& [topic, answer] : answers) {
    if (answer.error == kafka_error::kUnknownTopicOrPartition) continue;
    if (answer.error == kTopicAuthorizationFailed) return unauthorized(kDescribeConfigs);
    if (answer.error != 0) return kafka_failed(kDescribeConfigs, answer.error, answer.message);
    out[topic] = std::move(answer.values);
  }
  return out;
}

Result<LogDirSizes> KafkaAdminImpl::log_dir_sizes(BrokerId broker, const std::vector<TopicPartition>& partitions,
                                                  const Deadline& deadline) {
  if (partitions.empty()) return LogDirSizes{};
  LogDirsAnswer answer;
  const auto encode = [&](std::int16_t version) { return encode_describe_log_dirs(version, partitions); };
  const auto decode = [&](std::int16_t version, std::string_view body) -> Result<std::int16_t> {
    auto decoded = decode_describe_log_dirs(version, body);
    if (!decoded) return tl::unexpected(decoded.error());
    answer = *std::move(decoded);
    return answer.error;
  };
  for (int attempt = 1;; ++attempt) {
    auto link = links_.broker(broker, deadline);
    if (!link) return tl::unexpected(link.error());
    const auto code = links_.exchange(**link, kDescribeLogDirs, encode, decode, deadline);
    if (code && *code == kafka_error::kClusterAuthorizationFailed) return unauthorized(kDescribeLogDirs);
    // One directory that failed leaves the sizes in the others good.
    if (code && *code != 0 && answer.sizes.empty()) return kafka_failed(kDescribeLogDirs, *code, "");
    if (code) return std::move(answer.sizes);
    if (code.error().code != ErrorCode::kUnsupported) links_.drop_broker(broker);
    if (attempt == 2 || !worth_another_connection(code.error())) return tl::unexpected(code.error());
  }
}

}  // namespace kro::kafka
