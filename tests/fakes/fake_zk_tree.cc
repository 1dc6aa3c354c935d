#include "fakes/fake_zk_tree.h"

#include <array>
#include <cstdio>
#include <functional>
#include <limits>

namespace kro {
namespace {

std::string sequence_text(std::int32_t number) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%010d", number);
  return text.data();
}

std::int32_t wrapped(std::int64_t number) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(number)); }

tl::unexpected<Error> refuse(ErrorCode code, Retry retry, const char* why, const std::string& path) {
  return fail(code, retry, std::string(why) + ": " + path);
}

}  // namespace

std::string zk_parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string zk_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Applies operations one after the other and remembers how to take each back.
class FakeZkTree::Transaction {
 public:
  Transaction(FakeZkTree& tree, const std::string& credential, std::int64_t session, std::int64_t wall_ms)
      : tree_(tree), credential_(credential), session_(session), wall_ms_(wall_ms), zxid_(tree.next_zxid()) {}

  Result<ZkOpResult> apply(ZkOp& op) {
    if (auto* create = std::get_if<ZkCreate>(&op)) return this->create(*create);
    if (auto* set = std::get_if<ZkSet>(&op)) return this->set(*set);
    if (auto* remove = std::get_if<ZkDelete>(&op)) return this->remove(*remove);
    return check(std::get<ZkCheck>(op));
  }

  void roll_back() {
    for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) (*undo)();
  }

 private:
  [[nodiscard]] bool allowed(const Node& node) const {
    return node.owner.empty() || node.owner == credential_ || credential_ == kSuperuser;
  }

  Node* find(const std::string& path) {
    const auto found = tree_.nodes_.find(path);
    return found == tree_.nodes_.end() ? nullptr : &found->second;
  }

  static tl::unexpected<Error> no_node(const std::string& path) {
    return refuse(ErrorCode::kNotFound, Retry::kConflict, "no such node", path);
  }
  static tl::unexpected<Error> no_auth(const std::string& path) {
    return refuse(ErrorCode::kUnauthorized, Retry::kPermanent, "the node's ACL forbids it", path);
  }
  static tl::unexpected<Error> bad_version(const std::string& path) {
    return refuse(ErrorCode::kVersion, Retry::kConflict, "the node has another version", path);
  }

  Result<ZkOpResult> create(ZkCreate& op) {
    if (op.path == "/") return refuse(ErrorCode::kAlreadyExists, Retry::kConflict, "the node exists", op.path);
    const std::string parent_path = zk_parent(op.path);
    Node* parent = find(parent_path);
    if (parent == nullptr) return no_node(op.path);
    if (!allowed(*parent)) return no_auth(op.path);
    if (op.mode == ZkMode::kPersistentSequential) op.path += sequence_text(parent->creations);
    if (find(op.path) != nullptr)
      return refuse(ErrorCode::kAlreadyExists, Retry::kConflict, "the node exists", op.path);
    if (parent->stat.ephemeral_owner != 0)
      return refuse(ErrorCode::kInvalid, Retry::kPermanent, "the parent is ephemeral", op.path);

    undo_.push_back([this, path = op.path, parent_path, pzxid = parent->stat.pzxid, creations = parent->creations] {
      tree_.nodes_.erase(path);
      Node& old_parent = tree_.nodes_.at(parent_path);
      old_parent.children.erase(zk_name(path));
      old_parent.stat.pzxid = pzxid;
      old_parent.creations = creations;
      tree_.ephemerals_[session_].erase(path);
    });
    // DataTree.createNode takes the new number only if it is greater: at the end of 32 bits the counter sticks.
    const std::int32_t creations = wrapped(std::int64_t{parent->creations} + 1);
    if (creations > parent->creations) {
      parent->creations = creations;
      parent->stat.pzxid = zxid_;
    }
    parent->children.insert(zk_name(op.path));
    Node node;
    node.data = op.data;
    node.stat.czxid = node.stat.mzxid = node.stat.pzxid = zxid_;
    node.stat.ctime_ms = node.stat.mtime_ms = wall_ms_;
    if (credential_ != kSuperuser) node.owner = credential_;
    if (op.mode == ZkMode::kEphemeral) {
      node.stat.ephemeral_owner = session_;
      tree_.ephemerals_[session_].insert(op.path);
    }
    tree_.nodes_.emplace(op.path, std::move(node));
    return ZkOpResult{op.path, std::nullopt};
  }

  Result<ZkOpResult> set(const ZkSet& op) {
    Node* node = find(op.path);
    if (node == nullptr) return no_node(op.path);
    if (!allowed(*node)) return no_auth(op.path);
    if (op.version != kAnyVersion && op.version != node->stat.version) return bad_version(op.path);
    undo_.push_back([this, path = op.path, data = node->data, stat = node->stat]() mutable {
      Node& old = tree_.nodes_.at(path);
      old.data = std::move(data);
      old.stat = stat;
    });
    node->data = op.data;
    node->stat.version = wrapped(std::int64_t{node->stat.version} + 1);
    node->stat.mzxid = zxid_;
    node->stat.mtime_ms = wall_ms_;
    return ZkOpResult{"", stat_of(*node)};
  }

  Result<ZkOpResult> remove(const ZkDelete& op) {
    if (op.path == "/") return refuse(ErrorCode::kInvalid, Retry::kPermanent, "bad arguments", op.path);
    const std::string parent_path = zk_parent(op.path);
    Node* parent = find(parent_path);
    if (parent == nullptr) return no_node(op.path);
    if (!allowed(*parent)) return no_auth(op.path);
    Node* node = find(op.path);
    if (node == nullptr) return no_node(op.path);
    if (op.version != kAnyVersion && op.version != node->stat.version) return bad_version(op.path);
    if (!node->children.empty())
      return refuse(ErrorCode::kNotEmpty, Retry::kConflict, "the node has children", op.path);
    const std::int64_t owner = node->stat.ephemeral_owner;
    undo_.push_back([this, path = op.path, parent_path, old = *node, pzxid = parent->stat.pzxid, owner]() mutable {
      tree_.nodes_.emplace(path, std::move(old));
      Node& old_parent = tree_.nodes_.at(parent_path);
      old_parent.children.insert(zk_name(path));
      old_parent.stat.pzxid = pzxid;
      if (owner != 0) tree_.ephemerals_[owner].insert(path);
    });
    parent->children.erase(zk_name(op.path));
    parent->stat.pzxid = zxid_;
    if (owner != 0) tree_.ephemerals_[owner].erase(op.path);
    tree_.nodes_.erase(op.path);
    return ZkOpResult{};
  }

  Result<ZkOpResult> check(const ZkCheck& op) {
    const Node* node = find(op.path);
    if (node == nullptr) return no_node(op.path);
    if (op.version != kAnyVersion && op.version != node->stat.version) return bad_version(op.path);
    return ZkOpResult{};
  }

  FakeZkTree& tree_;
  const std::string& credential_;
  const std::int64_t session_;
  const std::int64_t wall_ms_;
  const std::int64_t zxid_;
  std::vector<std::function<void()>> undo_;
};

FakeZkTree::FakeZkTree() { nodes_.emplace("/", Node{}); }

const FakeZkTree::Node* FakeZkTree::find(const std::string& path) const {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

ZkStat FakeZkTree::stat_of(const Node& node) {
  ZkStat stat = node.stat;
  const auto children = static_cast<std::int64_t>(node.children.size());
  stat.cversion = wrapped(std::int64_t{node.creations} * 2 - children);
  stat.num_children = static_cast<std::int32_t>(children);
  stat.data_length = static_cast<std::int32_t>(node.data.size());
  return stat;
}

void FakeZkTree::set_sequence(const std::string& path, std::int32_t next) { nodes_.at(path).creations = next; }

Result<std::vector<ZkOpResult>> FakeZkTree::apply(std::vector<ZkOp>& ops, const std::string& credential,
                                                  std::int64_t session, std::int64_t wall_ms) {
  Transaction transaction(*this, credential, session, wall_ms);
  std::vector<ZkOpResult> results;
  results.reserve(ops.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    auto result = transaction.apply(ops[i]);
    if (!result) {
      transaction.roll_back();
      result.error().op_index = static_cast<int>(i);
      return tl::unexpected<Error>(std::move(result.error()));
    }
    results.push_back(std::move(*result));
  }
  return results;
}

std::vector<std::string> FakeZkTree::ephemerals(std::int64_t session) const {
  const auto found = ephemerals_.find(session);
  if (found == ephemerals_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

}  // namespace kro
