#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>

#include "ports/zk_session.h"

namespace kro {

// What may befall one call of a session. "Ambiguous" holds for writes (multi); reads and sync get Transient.
enum class ZkFault {
  kNone,
  kBefore,        // connection lost before it was sent: kUnavailable/Transient, not applied
  kLost,          // sent and lost on the way: kUnavailable/Ambiguous, not applied
  kAfter,         // applied, the answer lost: kUnavailable/Ambiguous
  kTimeoutAfter,  // applied, no answer before the deadline: kTimeout/Ambiguous
  kExpireBefore,  // the session ends, not applied: kGone/Ambiguous
  kExpireAfter,   // applied, then the session ends: kGone/Ambiguous
};

// Decides, for all sessions that share it, which call meets which fault. Thread safe.
//
// A crash matrix: run once without faults, read operations(), then once for each number up to that and each fault:
//   faults->reset(); faults->at(n, ZkFault::kAfter); run(); check();
class ZkFaults {
 public:
  // The `nth` operation from the last reset(), counted from 1.
  void at(std::uint64_t nth, ZkFault fault);
  // The next operations, one fault each.
  void script(std::deque<ZkFault> faults);
  // Every operation with these chances, from a seed; what at() and script() say goes first.
  struct Chances {
    double before = 0;
    double lost = 0;
    double after = 0;
    double expire = 0;  // half before, half after
  };
  void random(std::uint64_t seed, Chances chances);
  // Only writes, or only reads and syncs, count and fail. Default: both.
  void only_writes();
  void only_reads();
  // No faults and a count of 0.
  void reset();

  [[nodiscard]] std::uint64_t operations() const;  // since reset()
  [[nodiscard]] std::uint64_t injected() const;    // since reset()
  ZkFault draw(bool write);

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, ZkFault> planned_;
  std::deque<ZkFault> script_;
  std::optional<std::mt19937_64> generator_;
  Chances chances_;
  bool writes_count_ = true;
  bool reads_count_ = true;
  std::uint64_t operations_ = 0;
  std::uint64_t injected_ = 0;
};

// Any session, with faults. A lost connection shows as kSuspended and kConnected events around the failed call, the
// inner session and its watches live on; an expired one closes the inner session, so its ephemeral nodes go.
// One call is one operation, get_many and multi too; wait_connected() and close() do not fail.
class FaultyZkSession final : public ZkSession {
 public:
  struct Shared;  // with the sink that is given to the inner session

  FaultyZkSession(std::unique_ptr<ZkSession> inner, std::shared_ptr<Shared> shared, std::shared_ptr<ZkFaults> faults);

  [[nodiscard]] ZkState state() const override;
  [[nodiscard]] std::int64_t session_id() const override { return inner_->session_id(); }
  Status wait_connected(const Deadline& deadline) override;
  Result<std::optional<ZkNode>> get(const std::string& path, bool watch, const Deadline& deadline) override;
  Result<std::vector<std::optional<ZkNode>>> get_many(const std::vector<std::string>& paths, bool watch,
                                                      const Deadline& deadline) override;
  Result<std::optional<ZkChildren>> children(const std::string& path, bool watch, const Deadline& deadline) override;
  Result<std::vector<ZkOpResult>> multi(const std::vector<ZkOp>& ops, const Deadline& deadline) override;
  Status sync(const Deadline& deadline) override;
  void close() override;
  [[nodiscard]] std::size_t watched_path_bytes() const override { return inner_->watched_path_bytes(); }

 private:
  template <class T, class Call>
  Result<T> run(bool write, const Call& call);

  std::unique_ptr<ZkSession> inner_;
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<ZkFaults> faults_;
};

class FaultyZkConnector final : public ZkConnector {
 public:
  FaultyZkConnector(std::unique_ptr<ZkConnector> inner, std::shared_ptr<ZkFaults> faults)
      : inner_(std::move(inner)), faults_(std::move(faults)) {}
  Result<std::unique_ptr<ZkSession>> open(const ZkConfig& config, ZkEventSink sink) override;

 private:
  std::unique_ptr<ZkConnector> inner_;
  std::shared_ptr<ZkFaults> faults_;
};

}  // namespace kro
