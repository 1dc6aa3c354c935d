#pragma once

#include <memory>
#include <string>
#include <unordered_set>

#include "fakes/fake_zk.h"

namespace kro {

// One session as the server and the client library know it. Watched paths are the server's.
struct FakeZk::Client {
  std::int64_t id = 0;
  std::int64_t known_id = 0;  // what session_id() says: 0 before the first connection
  std::string chroot;
  std::string credential;
  ZkEventSink sink;
  ZkState state = ZkState::kConnecting;
  bool refused = false;
  bool alive = false;        // the server holds it
  bool object_gone = false;  // closed by its owner
  std::int64_t seen_zxid = 0;
  std::unordered_set<std::string> data;
  std::unordered_set<std::string> exists;
  std::unordered_set<std::string> children;

  [[nodiscard]] std::string full(const std::string& path) const {
    if (chroot.empty()) return path;
    return path == "/" ? chroot : chroot + path;
  }
  [[nodiscard]] std::string strip(const std::string& path) const;
  void forget_watches() {
    data.clear();
    exists.clear();
    children.clear();
  }
};

class FakeZkSession final : public ZkSession {
 public:
  FakeZkSession(std::shared_ptr<FakeZk> server, std::int64_t id) : server_(std::move(server)), id_(id) {}
  ~FakeZkSession() override { close(); }

  [[nodiscard]] ZkState state() const override;
  [[nodiscard]] std::int64_t session_id() const override;
  Status wait_connected(const Deadline& deadline) override;
  Result<std::optional<ZkNode>> get(const std::string& path, bool watch, const Deadline& deadline) override;
  Result<std::vector<std::optional<ZkNode>>> get_many(const std::vector<std::string>& paths, bool watch,
                                                      const Deadline& deadline) override;
  Result<std::optional<ZkChildren>> children(const std::string& path, bool watch, const Deadline& deadline) override;
  Result<std::vector<ZkOpResult>> multi(const std::vector<ZkOp>& ops, const Deadline& deadline) override;
  Status sync(const Deadline& deadline) override;
  void close() override;
  [[nodiscard]] std::size_t watched_path_bytes() const override;

 private:
  // The client of an open session, under the server's lock; the error of a call that cannot be sent.
  Result<FakeZk::Client*> usable(const Deadline& deadline) const;

  std::shared_ptr<FakeZk> server_;
  const std::int64_t id_;
  bool closed_ = false;  // under the server's lock
  std::int64_t last_known_id_ = 0;
};

}  // namespace kro
