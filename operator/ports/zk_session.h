#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ports/clock.h"

namespace kro {

struct ZkStat {
  std::int64_t czxid = 0;
  std::int64_t mzxid = 0;
  std::int64_t pzxid = 0;
  std::int64_t ctime_ms = 0;
  std::int64_t mtime_ms = 0;
  std::int32_t version = 0;
  std::int32_t cversion = 0;
  std::int64_t ephemeral_owner = 0;
  std::int32_t data_length = 0;
  std::int32_t num_children = 0;
};

struct ZkNode {
  std::string data;
  ZkStat stat;
};

struct ZkChildren {
  std::vector<std::string> names;  // bare names, in no order
  ZkStat stat;
};

enum class ZkMode { kPersistent, kEphemeral, kPersistentSequential };

// What Kafka would use (facts: world:anyone without credentials, creator-all + world-read with them), or readable
// by everybody and writable by the creator alone. Without credentials both are world:anyone.
enum class ZkAcl { kLikeKafka, kCreatorAllWorldRead };

constexpr std::int32_t kAnyVersion = -1;

struct ZkCheck {
  std::string path;
  std::int32_t version = kAnyVersion;
};
struct ZkCreate {
  std::string path;  // for kPersistentSequential the prefix; the server appends %010d
  std::string data;
  ZkMode mode = ZkMode::kPersistent;
  ZkAcl acl = ZkAcl::kLikeKafka;
};
struct ZkSet {
  std::string path;
  std::string data;
  std::int32_t version = kAnyVersion;
};
struct ZkDelete {
  std::string path;
  std::int32_t version = kAnyVersion;
};
using ZkOp = std::variant<ZkCheck, ZkCreate, ZkSet, ZkDelete>;

struct ZkOpResult {
  std::string path;            // the path that was created, for creates
  std::optional<ZkStat> stat;  // for sets
};

enum class ZkState {
  kConnecting,
  kConnected,
  kSuspended,   // was connected and is not now; the session may still live
  kExpired,     // the session is gone, or must be taken for gone: make a new one
  kAuthFailed,  // credentials refused: a new session fails the same way
  kClosed,
};

struct ZkEvent {
  enum class Type { kState, kCreated, kDeleted, kChanged, kChildren };
  Type type = Type::kState;
  std::string path;                      // empty for kState
  ZkState state = ZkState::kConnecting;  // for kState
};

// Called on a thread of the session (the fake: on the caller's): must copy, hand over and return at once; must not
// call the session. Every armed watch fires at most once.
using ZkEventSink = std::function<void(const ZkEvent&)>;

// One ZooKeeper session: absolute paths below the configured chroot ("/admin/…"). It lives until it is expired or
// closed and is never revived: whoever needs another asks ZkConnector.
//
// Errors: connection lost before the call was sent, or a read that got no answer → kUnavailable/Transient; a write
// that got no answer → kUnavailable or kTimeout with Ambiguous; session gone → kGone (Transient for reads,
// Ambiguous for writes already sent). A multi over kMostMultiBytes → kTooLarge/Permanent, nothing sent. A failed
// multi names the operation in Error::op_index and its cause in code: kNotFound, kAlreadyExists, kVersion,
// kNotEmpty, kUnauthorized (Retry::kConflict for the first four, kPermanent for the last).
// Thread safe: calls may come from several threads; completions never run user code except the sink.
class ZkSession {
 public:
  virtual ~ZkSession() = default;

  [[nodiscard]] virtual ZkState state() const = 0;
  [[nodiscard]] virtual std::int64_t session_id() const = 0;
  // Waits until kConnected; kUnavailable/Transient at the deadline, kGone when expired, kUnauthorized when refused.
  virtual Status wait_connected(const Deadline& deadline) = 0;

  // nullopt: no such node. With `watch` one event follows at the node's next creation, change or deletion.
  virtual Result<std::optional<ZkNode>> get(const std::string& path, bool watch, const Deadline& deadline) = 0;
  // Many reads in one pipeline, answers in the order of `paths`; with `watch` as for get. Fails as a whole.
  virtual Result<std::vector<std::optional<ZkNode>>> get_many(const std::vector<std::string>& paths, bool watch,
                                                              const Deadline& deadline) = 0;
  // nullopt: no such node, and with `watch` the event of its creation follows (an exists watch is armed).
  virtual Result<std::optional<ZkChildren>> children(const std::string& path, bool watch, const Deadline& deadline) = 0;
  // All or nothing, at most 1,000 operations. Answers in the order of the operations.
  virtual Result<std::vector<ZkOpResult>> multi(const std::vector<ZkOp>& ops, const Deadline& deadline) = 0;
  // The next read sees everything that was committed before this call.
  virtual Status sync(const Deadline& deadline) = 0;
  // Ends the session (its ephemeral nodes go at once). Idempotent; pending calls fail with kCancelled.
  virtual void close() = 0;
  // Bytes of the paths with an armed watch, which a reconnect sends in one packet; 0 where nobody counts.
  [[nodiscard]] virtual std::size_t watched_path_bytes() const { return 0; }
};

struct ZkAuth {
  std::string scheme;  // "digest"
  std::string credential;
};

struct ZkConfig {
  std::string connect;  // host:port,host:port, no chroot
  std::string chroot;   // "" or "/kafka"
  milliseconds session_timeout = 10s;
  std::optional<ZkAuth> auth;
};

class ZkConnector {
 public:
  virtual ~ZkConnector() = default;
  // Starts to connect and returns at once; `sink` gets events from then on until the session is destroyed.
  // kInvalid for an unusable configuration.
  virtual Result<std::unique_ptr<ZkSession>> open(const ZkConfig& config, ZkEventSink sink) = 0;
};

constexpr std::size_t kMostMultiOps = 1000;
constexpr std::size_t kMostMultiBytes = 512 * 1024;  // znodes.md 4.1; server limit is 1 MiB a packet

}  // namespace kro
