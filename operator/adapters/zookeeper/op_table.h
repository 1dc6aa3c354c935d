#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ports/zk_session.h"

namespace kro::zk {

// The answers of the C client that differ for us.
enum class Code {
  kOk,
  kNoNode,
  kNodeExists,
  kBadVersion,
  kNotEmpty,
  kNoAuth,
  kInvalidAcl,
  kBadArguments,
  kEphemeralParent,
  kConnectionLoss,
  kExpired,        // the server said so in an answer
  kDeadHandle,     // refused by the library before sending: expired or credentials refused
  kAuthFailed,     // credentials refused
  kLoginRequired,  // the server wants a login that we did not give
  kClosing,
  kNotServed,  // surely not applied: session moved, read-only server, throttled
  kOther,
};

struct OpAnswer {
  struct Part {  // one operation of a multi
    Code code = Code::kOk;
    ZkOpResult result;
  };
  Code code = Code::kOther;
  std::string data;
  ZkStat stat;
  std::vector<std::string> names;
  std::vector<Part> parts;
};

// One call of the port that waits for `count` answers of the library.
//
// answer() comes from the completion thread, abort() from whoever ends or gives up the session; what comes after an
// abort or after the waiter has left is dropped.
class PendingCall {
 public:
  explicit PendingCall(std::size_t count) : open_(count), answers_(count) {}

  void answer(std::size_t index, OpAnswer answer) noexcept;
  void abort(ErrorCode why) noexcept;
  // All answers in order; or kTimeout, kCancelled (stop token), or the code given to abort().
  tl::expected<std::vector<OpAnswer>, ErrorCode> wait(const Deadline& deadline);

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::size_t open_;
  std::vector<OpAnswer> answers_;
  std::optional<ErrorCode> aborted_;
};

// Memory that the library writes to until it has completed the operation.
struct OpArena {
  virtual ~OpArena() = default;
};

using OpId = std::uint64_t;

struct OpSlot {
  std::shared_ptr<PendingCall> call;
  std::size_t index = 0;
  std::unique_ptr<OpArena> arena;  // for a multi
};

// The operations that the library has not completed yet, by id.
//
// The library gets ids as its contexts, never pointers: zookeeper_close() may drop completions, and one that comes
// late finds nothing here instead of freed memory. A slot outlives its waiter, because the library may still write
// into the arena after the deadline of the call.
class OpTable {
 public:
  OpId open(std::shared_ptr<PendingCall> call, std::size_t index, std::unique_ptr<OpArena> arena = nullptr);
  // The slot of `id`, once; nullopt when it was taken before.
  std::optional<OpSlot> take(OpId id) noexcept;
  // Wakes all waiters with `why`; slots and arenas stay.
  void abort_all(ErrorCode why) noexcept;
  // Until the library has completed everything; false when `most` has passed.
  bool wait_empty(milliseconds most) const;
  // Only when the library is gone.
  void clear() noexcept;
  [[nodiscard]] std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable emptied_;
  OpId last_ = 0;
  std::unordered_map<OpId, OpSlot> slots_;
};

}  // namespace kro::zk
