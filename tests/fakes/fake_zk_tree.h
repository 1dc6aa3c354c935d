#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ports/zk_session.h"

namespace kro {

// The data of an in-memory ZooKeeper: znodes with the stats, sequence numbers and checks of the real server
// (PrepRequestProcessor, DataTree). Knows no sessions but their ids, and no watches.
class FakeZkTree {
 public:
  struct Node {
    std::string data;
    ZkStat stat;  // cversion, data_length and num_children are worked out by stat_of
    // Creations below it: the server's own cversion. The next sequential child gets it; clients see 2 * it - children.
    std::int32_t creations = 0;
    std::string owner;  // credential of the creator; empty: open to everybody
    std::unordered_set<std::string> children;
  };

  FakeZkTree();

  [[nodiscard]] const Node* find(const std::string& path) const;
  [[nodiscard]] static ZkStat stat_of(const Node& node);
  [[nodiscard]] std::int64_t zxid() const { return zxid_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  void set_sequence(const std::string& path, std::int32_t next);

  // One transaction: all of `ops` or nothing, one zxid (used up by a failure too). On success `ops` holds the paths
  // with their sequence numbers. `credential` empty: nobody; kSuperuser passes every ACL.
  Result<std::vector<ZkOpResult>> apply(std::vector<ZkOp>& ops, const std::string& credential, std::int64_t session,
                                        std::int64_t wall_ms);
  // A new session or its end also uses up a number.
  std::int64_t next_zxid() { return ++zxid_; }
  [[nodiscard]] std::vector<std::string> ephemerals(std::int64_t session) const;

  static constexpr const char* kSuperuser = "\x01super";

 private:
  class Transaction;

  std::int64_t zxid_ = 0;
  std::unordered_map<std::string, Node> nodes_;
  std::unordered_map<std::int64_t, std::unordered_set<std::string>> ephemerals_;
};

std::string zk_parent(const std::string& path);  // "/" of "/a"
std::string zk_name(const std::string& path);

}  // namespace kro
