#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fakes/fake_zk_tree.h"
#include "ports/clock.h"
#include "ports/zk_session.h"

namespace kro {

class FakeZkSession;

// An in-memory ZooKeeper for all sessions of a test. It passes the contract suite of the real one.
//
// Watch events reach the sink on the caller's thread after the transaction, before the call that caused them
// returns. A call needs no time: it times out only if its deadline has passed already, and wait_connected() of a
// session that is not connected fails at once. Thread safe; sinks and on_commit run without the lock and may call
// any session (a sink must not, as with the real one). As with the real one, a session that is closed while it is
// suspended lives on in the server, with its ephemeral nodes, until expire().
class FakeZk {
 public:
  struct Counters {
    std::uint64_t gets = 0;  // nodes read, get_many included
    std::uint64_t get_calls = 0;
    std::uint64_t children = 0;
    std::uint64_t multis = 0;
    std::uint64_t failed_multis = 0;  // among multis
    std::uint64_t ops = 0;            // operations of committed multis
    std::uint64_t syncs = 0;
    std::uint64_t events = 0;  // watch events delivered
  };
  using CommitHook = std::function<void(const std::vector<ZkOp>&)>;

  // Without a clock, time is what set_now() says: the epoch of the steady clock, and a day in 2026.
  explicit FakeZk(const Clock* clock = nullptr);
  ~FakeZk();
  FakeZk(const FakeZk&) = delete;
  FakeZk& operator=(const FakeZk&) = delete;

  // New sessions of ours too stay kConnecting while this is false; the others become kSuspended.
  void set_available(bool available);
  // Ends the session on the server: its ephemeral nodes go now. The client hears at once, or at resume().
  void expire(std::int64_t session_id);
  // The client loses its connection; calls fail, the session lives.
  void suspend(std::int64_t session_id);
  // Connects again: kConnected (or kExpired), then the events of watches that were missed meanwhile.
  void resume(std::int64_t session_id);
  // What the adapter does after 4/3 of the time-out: the client gives the session up, the server has not ended it.
  void give_up(std::int64_t session_id);
  // The sessions that the server holds, oldest first.
  [[nodiscard]] std::vector<std::int64_t> sessions() const;

  void set_now(Now now);
  // Called after each committed transaction, before its watch events, with the server's paths and the sequence
  // numbers filled in. Also for what this class does itself (put, remove, a session's end).
  void on_commit(CommitHook hook);

  // The tree from outside any session, as another client without limits would see and change it.
  [[nodiscard]] std::optional<ZkNode> peek(const std::string& path) const;
  [[nodiscard]] std::vector<std::string> names(const std::string& path) const;  // sorted; empty if absent
  void put(const std::string& path, const std::string& data);                   // creates what is missing, or sets
  void remove(const std::string& path);                                         // with all that is below it
  // The number that the next sequential child of `parent` gets. At 2147483647 the counter sticks, as the server's.
  void set_sequence(const std::string& parent, std::int32_t next);
  [[nodiscard]] std::int64_t zxid() const;
  [[nodiscard]] std::size_t node_count() const;
  [[nodiscard]] Counters counters() const;
  void reset_counters();

 private:
  friend class FakeZkSession;
  friend class FakeZkConnector;

  struct Delivery {
    ZkEventSink sink;
    ZkEvent event;
  };
  struct Client;  // what the server and the client library know of one session

  // What a call leaves to be done without the lock: transactions to tell, then events.
  struct Effects {
    CommitHook hook;
    std::vector<std::vector<ZkOp>> commits;
    std::vector<Delivery> events;
    void run() const;
  };

  [[nodiscard]] Now now() const;
  std::int64_t open(const ZkConfig& config, ZkEventSink sink, bool refused);
  Client& client(std::int64_t session_id);
  [[nodiscard]] Effects effects() const;
  Result<std::vector<ZkOpResult>> commit(std::vector<ZkOp> ops, const std::string& credential, std::int64_t session_id,
                                         Effects& effects);
  void end(Client& client, Effects& effects);
  void move(Client& client, ZkState state, Effects& effects);
  void connect(Client& client, Effects& effects);
  void trigger(const std::vector<ZkOp>& ops, Effects& effects);
  void notify(Client& client, ZkEvent::Type type, const std::string& path, Effects& effects);

  const Clock* clock_;
  mutable std::mutex mutex_;
  Now now_{from_epoch_ms(1796083200000), MonoTime{}};
  bool available_ = true;
  FakeZkTree tree_;
  std::int64_t last_session_ = 0x1000;
  std::map<std::int64_t, std::unique_ptr<Client>> clients_;
  CommitHook hook_;
  Counters counters_;
};

class FakeZkConnector final : public ZkConnector {
 public:
  explicit FakeZkConnector(std::shared_ptr<FakeZk> server) : server_(std::move(server)) {}
  Result<std::unique_ptr<ZkSession>> open(const ZkConfig& config, ZkEventSink sink) override;
  // The sessions opened from now on end in kAuthFailed.
  void refuse_credentials(bool refuse) { refuse_ = refuse; }

 private:
  std::shared_ptr<FakeZk> server_;
  bool refuse_ = false;
};

}  // namespace kro
