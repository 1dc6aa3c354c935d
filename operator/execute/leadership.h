#pragma once

#include <optional>
#include <string>

#include "ports/clock.h"
#include "ports/zk_session.h"
#include "tree/node_codecs.h"

namespace kro::execute {

// Leadership of one tree (znodes.md 4.1): the owner of the ephemeral /admin/reassignment_controller, created in one
// multi with the versioned set of the epoch node. Every later write is a multi that begins with check(epoch node,
// version), so a leader that has lost the session, or was paused, can write nothing more.
//
// Belongs to one session: a new session is a new Leadership. One thread.
class Leadership {
 public:
  Leadership(ZkSession& session, const Clock& clock) : session_(session), clock_(clock) {}

  // Makes the persistent roots of the tree that are missing.
  Status ensure_roots(const std::string& chroot_hint, std::stop_token stop);

  // Tries once. true: we lead now (or did already). false: another leads; the controller node is watched.
  Result<bool> campaign(tree::ControllerNode node, std::stop_token stop);

  // After a reconnect, or a write whose answer was lost: is it still us? kFenced if not, or if the epoch node was
  // made anew.
  Status confirm(std::stop_token stop);

  [[nodiscard]] bool leading() const { return leading_; }
  [[nodiscard]] std::int64_t epoch() const { return epoch_; }

  // The multi, with the check at its head. `op_index` of an error counts from the first operation of `ops`; a failed
  // check, or a session that is gone, is kFenced and ends this leadership.
  Result<std::vector<ZkOpResult>> write(std::vector<ZkOp> ops, std::stop_token stop);

  static constexpr milliseconds kWriteTimeout = 15s;
  static constexpr milliseconds kReadTimeout = 15s;

 private:
  ZkSession& session_;
  const Clock& clock_;
  bool leading_ = false;
  std::int64_t epoch_ = 0;
  std::int32_t epoch_version_ = 0;
  std::int64_t epoch_czxid_ = 0;
};

}  // namespace kro::execute
