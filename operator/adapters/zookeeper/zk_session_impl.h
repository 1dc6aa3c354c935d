#pragma once

#include <functional>
#include <memory>
#include <shared_mutex>
#include <thread>

#include "adapters/zookeeper/session_core.h"
#include "adapters/zookeeper/zk_errors.h"

namespace kro::zk {

// ZkSession on a CClient: starts operations, waits for their answers, and turns codes into errors.
class ZkSessionImpl final : public ZkSession {
 public:
  ZkSessionImpl(std::shared_ptr<SessionCore> core, std::shared_ptr<CClient> client);
  ~ZkSessionImpl() override;

  [[nodiscard]] ZkState state() const override { return core_->state(); }
  [[nodiscard]] std::int64_t session_id() const override { return core_->session_id(); }
  Status wait_connected(const Deadline& deadline) override { return core_->wait_connected(deadline); }

  Result<std::optional<ZkNode>> get(const std::string& path, bool watch, const Deadline& deadline) override;
  Result<std::vector<std::optional<ZkNode>>> get_many(const std::vector<std::string>& paths, bool watch,
                                                      const Deadline& deadline) override;
  Result<std::optional<ZkChildren>> children(const std::string& path, bool watch, const Deadline& deadline) override;
  Result<std::vector<ZkOpResult>> multi(const std::vector<ZkOp>& ops, const Deadline& deadline) override;
  Status sync(const Deadline& deadline) override;
  void close() override;
  [[nodiscard]] std::size_t watched_path_bytes() const override;

 private:
  using Start = std::function<Code(CClient&, const std::string& path, OpId)>;

  // Nothing is sent by a session that is not connected, nor after the deadline.
  [[nodiscard]] Status may_send(const Deadline& deadline, const std::string& what) const;
  // One read of each of `paths` (the server's), in windows; only kOk and kNoNode come back.
  Result<std::vector<OpAnswer>> read(const std::string& what, const std::vector<std::string>& paths,
                                     const Deadline& deadline, const Start& start);
  Result<std::vector<OpAnswer>> read_window(const std::string& what, const std::vector<std::string>& paths,
                                            std::size_t begin, std::size_t end, const Deadline& deadline,
                                            const Start& start);
  // For nodes that do not exist; true: the watch for the creation stands, false: the node has come meanwhile.
  Result<std::vector<bool>> watch_creation(const std::vector<std::string>& paths, const Deadline& deadline);
  Status reserve_watches(const std::vector<std::string>& paths, WatchBudget::Kind kind);
  Result<OpAnswer> send_multi(const std::vector<ZkOp>& ops, const Deadline& deadline);

  const std::shared_ptr<SessionCore> core_;
  // Shared by calls that start operations, exclusive for close: the handle must not go away under a call.
  std::shared_mutex client_mutex_;
  std::shared_ptr<CClient> client_;
  std::jthread suspension_timer_;
};

}  // namespace kro::zk
