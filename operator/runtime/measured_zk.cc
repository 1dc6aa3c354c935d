#include "runtime/measured_zk.h"

#include <type_traits>

namespace kro {
namespace {

// The closed label list of metrics.md; every other code is an answer, not a failure of ZooKeeper.
std::string_view label(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUnavailable: return "unavailable";
    case ErrorCode::kTimeout: return "timeout";
    case ErrorCode::kGone: return "gone";
    case ErrorCode::kUnauthorized: return "unauthorized";
    default: return {};
  }
}

class MeasuredZk final : public ZkSession {
 private:
  template <class Call>
  std::invoke_result_t<Call> timed(std::string_view op, const Call& call) {
    const MonoTime start = clock_.now().mono;
    auto answer = call();
    const std::chrono::duration<double> took = clock_.now().mono - start;
    metrics_.observe("kafka_reassignment_zk_request_duration_seconds",
                     {{"kafka_cluster", cluster_}, {"op", std::string(op)}}, took.count());
    if (!answer)
      if (const auto code = label(answer.error().code); !code.empty())
        metrics_.add("kafka_reassignment_zk_errors_total", {{"kafka_cluster", cluster_}, {"code", std::string(code)}});
    return answer;
  }

 public:
  MeasuredZk(std::unique_ptr<ZkSession> inner, Metrics& metrics, const Clock& clock, std::string cluster)
      : inner_(std::move(inner)), metrics_(metrics), clock_(clock), cluster_(std::move(cluster)) {}

  [[nodiscard]] ZkState state() const override { return inner_->state(); }
  [[nodiscard]] std::int64_t session_id() const override { return inner_->session_id(); }
  Status wait_connected(const Deadline& deadline) override { return inner_->wait_connected(deadline); }
  Result<std::optional<ZkNode>> get(const std::string& path, bool watch, const Deadline& deadline) override {
    return timed("get", [&] { return inner_->get(path, watch, deadline); });
  }
  Result<std::vector<std::optional<ZkNode>>> get_many(const std::vector<std::string>& paths, bool watch,
                                                      const Deadline& deadline) override {
    return timed("get", [&] { return inner_->get_many(paths, watch, deadline); });
  }
  Result<std::optional<ZkChildren>> children(const std::string& path, bool watch, const Deadline& deadline) override {
    return timed("children", [&] { return inner_->children(path, watch, deadline); });
  }
  Result<std::vector<ZkOpResult>> multi(const std::vector<ZkOp>& ops, const Deadline& deadline) override {
    return timed("multi", [&] { return inner_->multi(ops, deadline); });
  }
  Status sync(const Deadline& deadline) override {
    return timed("get", [&] { return inner_->sync(deadline); });
  }
  void close() override { inner_->close(); }
  [[nodiscard]] std::size_t watched_path_bytes() const override { return inner_->watched_path_bytes(); }

 private:
  std::unique_ptr<ZkSession> inner_;
  Metrics& metrics_;
  const Clock& clock_;
  std::string cluster_;
};

}  // namespace

std::unique_ptr<ZkSession> measured(std::unique_ptr<ZkSession> inner, Metrics& metrics, const Clock& clock,
                                    std::string cluster) {
  return std::make_unique<MeasuredZk>(std::move(inner), metrics, clock, std::move(cluster));
}

}  // namespace kro
