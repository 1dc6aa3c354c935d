#include "fakes/faulty_zk.h"

#include <atomic>

namespace kro {

// The sink of the owner, until the session has expired or is closed.
struct FaultyZkSession::Shared {
  explicit Shared(ZkEventSink sink_in) : sink(std::move(sink_in)) {}

  void forward(const ZkEvent& event) {
    if (!ended.load() && sink) sink(event);
  }
  void say(ZkState state) { forward({ZkEvent::Type::kState, {}, state}); }

  const ZkEventSink sink;
  std::atomic<bool> expired{false};
  std::atomic<bool> closed{false};
  std::atomic<bool> ended{false};
};

void ZkFaults::at(std::uint64_t nth, ZkFault fault) {
  const std::lock_guard lock(mutex_);
  planned_[nth] = fault;
}

void ZkFaults::script(std::deque<ZkFault> faults) {
  const std::lock_guard lock(mutex_);
  script_ = std::move(faults);
}

void ZkFaults::random(std::uint64_t seed, Chances chances) {
  const std::lock_guard lock(mutex_);
  generator_.emplace(seed);
  chances_ = chances;
}

void ZkFaults::only_writes() {
  const std::lock_guard lock(mutex_);
  writes_count_ = true;
  reads_count_ = false;
}

void ZkFaults::only_reads() {
  const std::lock_guard lock(mutex_);
  writes_count_ = false;
  reads_count_ = true;
}

void ZkFaults::reset() {
  const std::lock_guard lock(mutex_);
  planned_.clear();
  script_.clear();
  generator_.reset();
  writes_count_ = reads_count_ = true;
  operations_ = injected_ = 0;
}

std::uint64_t ZkFaults::operations() const {
  const std::lock_guard lock(mutex_);
  return operations_;
}

std::uint64_t ZkFaults::injected() const {
  const std::lock_guard lock(mutex_);
  return injected_;
}

ZkFault ZkFaults::draw(bool write) {
  const std::lock_guard lock(mutex_);
  if (write ? !writes_count_ : !reads_count_) return ZkFault::kNone;
  ++operations_;
  ZkFault fault = ZkFault::kNone;
  if (const auto planned = planned_.find(operations_); planned != planned_.end()) {
    fault = planned->second;
  } else if (!script_.empty()) {
    fault = script_.front();
    script_.pop_front();
  } else if (generator_) {
    // Not std::uniform_real_distribution: its numbers differ between libraries, and a seed must stay good.
    double roll = static_cast<double>((*generator_)() >> 11) * 0x1.0p-53;
    const auto within = [&roll](double chance) {
      roll -= chance;
      return roll < 0;
    };
    if (within(chances_.before)) {
      fault = ZkFault::kBefore;
    } else if (within(chances_.lost)) {
      fault = ZkFault::kLost;
    } else if (within(chances_.after)) {
      fault = ZkFault::kAfter;
    } else if (within(chances_.expire / 2)) {
      fault = ZkFault::kExpireBefore;
    } else if (within(chances_.expire / 2)) {
      fault = ZkFault::kExpireAfter;
    }
  }
  if (fault != ZkFault::kNone) ++injected_;
  return fault;
}

FaultyZkSession::FaultyZkSession(std::unique_ptr<ZkSession> inner, std::shared_ptr<Shared> shared,
                                 std::shared_ptr<ZkFaults> faults)
    : inner_(std::move(inner)), shared_(std::move(shared)), faults_(std::move(faults)) {}

ZkState FaultyZkSession::state() const {
  if (shared_->closed) return ZkState::kClosed;
  return shared_->expired ? ZkState::kExpired : inner_->state();
}

template <class T, class Call>
Result<T> FaultyZkSession::run(bool write, const Call& call) {
  if (shared_->expired && !shared_->closed)
    return fail(ErrorCode::kGone, Retry::kTransient, "session expired (injected)");
  // A call that would not be sent anyhow meets no fault.
  const ZkFault fault = inner_->state() == ZkState::kConnected ? faults_->draw(write) : ZkFault::kNone;
  if (fault == ZkFault::kNone) return call();
  const Retry unknown = write ? Retry::kAmbiguous : Retry::kTransient;
  const bool applied = fault == ZkFault::kAfter || fault == ZkFault::kTimeoutAfter || fault == ZkFault::kExpireAfter;
  if (applied) {
    // An answer that says "not applied" is lost as well.
    static_cast<void>(call());
  }
  switch (fault) {
    case ZkFault::kExpireBefore:
    case ZkFault::kExpireAfter:
      shared_->expired = true;
      shared_->say(ZkState::kExpired);
      shared_->ended = true;
      inner_->close();
      return fail(ErrorCode::kGone, unknown, "session expired (injected)");
    case ZkFault::kTimeoutAfter: return fail(ErrorCode::kTimeout, unknown, "no answer before the deadline (injected)");
    default: break;
  }
  shared_->say(ZkState::kSuspended);
  shared_->say(ZkState::kConnected);
  return fail(ErrorCode::kUnavailable, fault == ZkFault::kBefore ? Retry::kTransient : unknown,
              "connection lost (injected)");
}

Status FaultyZkSession::wait_connected(const Deadline& deadline) {
  if (state() == ZkState::kExpired) return fail(ErrorCode::kGone, Retry::kTransient, "session expired");
  return inner_->wait_connected(deadline);
}

Result<std::optional<ZkNode>> FaultyZkSession::get(const std::string& path, bool watch, const Deadline& deadline) {
  return run<std::optional<ZkNode>>(false, [&] { return inner_->get(path, watch, deadline); });
}

Result<std::vector<std::optional<ZkNode>>> FaultyZkSession::get_many(const std::vector<std::string>& paths, bool watch,
                                                                     const Deadline& deadline) {
  return run<std::vector<std::optional<ZkNode>>>(false, [&] { return inner_->get_many(paths, watch, deadline); });
}

Result<std::optional<ZkChildren>> FaultyZkSession::children(const std::string& path, bool watch,
                                                            const Deadline& deadline) {
  return run<std::optional<ZkChildren>>(false, [&] { return inner_->children(path, watch, deadline); });
}

Result<std::vector<ZkOpResult>> FaultyZkSession::multi(const std::vector<ZkOp>& ops, const Deadline& deadline) {
  return run<std::vector<ZkOpResult>>(true, [&] { return inner_->multi(ops, deadline); });
}

Status FaultyZkSession::sync(const Deadline& deadline) {
  return run<void>(false, [&] { return inner_->sync(deadline); });
}

void FaultyZkSession::close() {
  shared_->closed = true;
  shared_->ended = true;
  inner_->close();
}

Result<std::unique_ptr<ZkSession>> FaultyZkConnector::open(const ZkConfig& config, ZkEventSink sink) {
  auto shared = std::make_shared<FaultyZkSession::Shared>(std::move(sink));
  auto inner = inner_->open(config, [shared](const ZkEvent& event) { shared->forward(event); });
  if (!inner) return inner;
  return std::make_unique<FaultyZkSession>(std::move(*inner), std::move(shared), faults_);
}

}  // namespace kro
