#include "fakes/fake_zk.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/assert.h"
#include "fakes/fake_zk_session.h"
#include "ports/zk_rules.h"

namespace kro {

void FakeZk::Effects::run() const {
  if (hook) {
    for (const std::vector<ZkOp>& ops : commits) hook(ops);
  }
  for (const Delivery& delivery : events) {
    if (delivery.sink) delivery.sink(delivery.event);
  }
}

std::string FakeZk::Client::strip(const std::string& path) const {
  if (chroot.empty()) return path;
  const std::string rest = path.substr(chroot.size());
  return rest.empty() ? "/" : rest;
}

FakeZk::FakeZk(const Clock* clock) : clock_(clock) {}

FakeZk::~FakeZk() = default;

Now FakeZk::now() const { return clock_ != nullptr ? clock_->now() : now_; }

FakeZk::Effects FakeZk::effects() const { return {hook_, {}, {}}; }

FakeZk::Client& FakeZk::client(std::int64_t session_id) {
  const auto found = clients_.find(session_id);
  KRO_ASSERT(found != clients_.end());
  return *found->second;
}

void FakeZk::move(Client& client, ZkState state, Effects& effects) {
  if (client.state == state) return;
  client.state = state;
  effects.events.push_back({client.sink, {ZkEvent::Type::kState, {}, state}});
}

std::int64_t FakeZk::open(const ZkConfig& config, ZkEventSink sink, bool refused) {
  Effects effects;
  std::int64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    effects = this->effects();
    auto owned = std::make_unique<Client>();
    id = owned->id = ++last_session_;
    owned->chroot = config.chroot;
    owned->sink = std::move(sink);
    owned->refused = refused;
    if (config.auth) owned->credential = config.auth->credential;
    Client& client = *owned;
    clients_.emplace(id, std::move(owned));
    if (available_) connect(client, effects);
  }
  effects.run();
  return id;
}

// The client has a connection (again): what the server does with its session and with its watches.
void FakeZk::connect(Client& client, Effects& effects) {
  const bool waits = client.state == ZkState::kConnecting || client.state == ZkState::kSuspended;
  if (!waits || client.object_gone) return;
  if (client.refused) return move(client, ZkState::kAuthFailed, effects);
  if (client.state == ZkState::kConnecting) {
    tree_.next_zxid();
    client.alive = true;
    client.known_id = client.id;
    return move(client, ZkState::kConnected, effects);
  }
  if (!client.alive) return move(client, ZkState::kExpired, effects);
  move(client, ZkState::kConnected, effects);
  // SetWatches (DataTree.setWatches): compared with the last transaction that the client has seen.
  for (const std::string& path : std::vector<std::string>(client.data.begin(), client.data.end())) {
    const FakeZkTree::Node* node = tree_.find(path);
    if (node == nullptr) notify(client, ZkEvent::Type::kDeleted, path, effects);
    if (node != nullptr && node->stat.mzxid > client.seen_zxid) notify(client, ZkEvent::Type::kChanged, path, effects);
  }
  for (const std::string& path : std::vector<std::string>(client.exists.begin(), client.exists.end())) {
    if (tree_.find(path) != nullptr) notify(client, ZkEvent::Type::kCreated, path, effects);
  }
  for (const std::string& path : std::vector<std::string>(client.children.begin(), client.children.end())) {
    const FakeZkTree::Node* node = tree_.find(path);
    if (node == nullptr) notify(client, ZkEvent::Type::kDeleted, path, effects);
    if (node != nullptr && node->stat.pzxid > client.seen_zxid) notify(client, ZkEvent::Type::kChildren, path, effects);
  }
}

void FakeZk::notify(Client& client, ZkEvent::Type type, const std::string& path, Effects& effects) {
  std::size_t used = 0;
  if (type != ZkEvent::Type::kChildren) used += client.data.erase(path) + client.exists.erase(path);
  if (type == ZkEvent::Type::kChildren || type == ZkEvent::Type::kDeleted) used += client.children.erase(path);
  if (used == 0) return;
  ++counters_.events;
  effects.events.push_back({client.sink, {type, client.strip(path), ZkState::kConnecting}});
}

void FakeZk::trigger(const std::vector<ZkOp>& ops, Effects& effects) {
  for (const auto& [id, owned] : clients_) {
    Client& client = *owned;
    if (client.state != ZkState::kConnected) continue;
    for (const ZkOp& op : ops) {
      const std::string& path = zk_rules::path_of(op);
      if (std::holds_alternative<ZkSet>(op)) notify(client, ZkEvent::Type::kChanged, path, effects);
      if (std::holds_alternative<ZkCreate>(op)) notify(client, ZkEvent::Type::kCreated, path, effects);
      if (std::holds_alternative<ZkDelete>(op)) notify(client, ZkEvent::Type::kDeleted, path, effects);
      if (std::holds_alternative<ZkCreate>(op) || std::holds_alternative<ZkDelete>(op))
        notify(client, ZkEvent::Type::kChildren, zk_parent(path), effects);
    }
  }
}

Result<std::vector<ZkOpResult>> FakeZk::commit(std::vector<ZkOp> ops, const std::string& credential,
                                               std::int64_t session_id, Effects& effects) {
  auto results = tree_.apply(ops, credential, session_id, epoch_ms(now().wall));
  if (!results) return results;
  trigger(ops, effects);
  if (effects.hook) effects.commits.push_back(std::move(ops));
  return results;
}

void FakeZk::end(Client& client, Effects& effects) {
  if (!client.alive) return;
  client.alive = false;
  client.forget_watches();
  std::vector<ZkOp> ops;
  for (std::string& path : tree_.ephemerals(client.id)) ops.emplace_back(ZkDelete{std::move(path)});
  const bool gone = commit(std::move(ops), FakeZkTree::kSuperuser, client.id, effects).has_value();
  KRO_ASSERT(gone);
}

void FakeZk::set_available(bool available) {
  Effects effects;
  {
    const std::lock_guard lock(mutex_);
    effects = this->effects();
    available_ = available;
    for (const auto& [id, owned] : clients_) {
      if (available) {
        connect(*owned, effects);
      } else if (owned->state == ZkState::kConnected) {
        owned->seen_zxid = tree_.zxid();
        move(*owned, ZkState::kSuspended, effects);
      }
    }
  }
  effects.run();
}

void FakeZk::expire(std::int64_t session_id) {
  Effects effects;
  {
    const std::lock_guard lock(mutex_);
    effects = this->effects();
    Client& client = this->client(session_id);
    end(client, effects);
    if (client.state == ZkState::kConnected) move(client, ZkState::kExpired, effects);
    if (client.object_gone) clients_.erase(session_id);
  }
  effects.run();
}

void FakeZk::suspend(std::int64_t session_id) {
  Effects effects;
  {
    const std::lock_guard lock(mutex_);
    effects = this->effects();
    Client& client = this->client(session_id);
    if (client.state != ZkState::kConnected) return;
    client.seen_zxid = tree_.zxid();
    move(client, ZkState::kSuspended, effects);
  }
  effects.run();
}

void FakeZk::resume(std::int64_t session_id) {
  Effects effects;
  {
    const std::lock_guard lock(mutex_);
    effects = this->effects();
    if (available_) connect(client(session_id), effects);
  }
  effects.run();
}

void FakeZk::give_up(std::int64_t session_id) {
  Effects effects;
  {
    const std::lock_guard lock(mutex_);
    effects = this->effects();
    Client& client = this->client(session_id);
    if (client.state != ZkState::kSuspended) return;
    client.forget_watches();
    move(client, ZkState::kExpired, effects);
  }
  effects.run();
}

std::vector<std::int64_t> FakeZk::sessions() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::int64_t> alive;
  for (const auto& [id, client] : clients_) {
    if (client->alive) alive.push_back(id);
  }
  return alive;
}

void FakeZk::set_now(Now now) {
  const std::lock_guard lock(mutex_);
  now_ = now;
}

void FakeZk::on_commit(CommitHook hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

std::optional<ZkNode> FakeZk::peek(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const FakeZkTree::Node* node = tree_.find(path);
  if (node == nullptr) return std::nullopt;
  return ZkNode{node->data, FakeZkTree::stat_of(*node)};
}

std::vector<std::string> FakeZk::names(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  const FakeZkTree::Node* node = tree_.find(path);
  if (node == nullptr) return {};
  std::vector<std::string> names(node->children.begin(), node->children.end());
  std::sort(names.begin(), names.end());
  return names;
}

void FakeZk::put(const std::string& path, const std::string& data) {
  KRO_ASSERT(zk_rules::valid_path(path));
  Effects effects;
  {
    const std::lock_guard lock(mutex_);
    effects = this->effects();
    std::vector<ZkOp> ops;
    if (tree_.find(path) != nullptr) {
      ops.emplace_back(ZkSet{path, data});
    } else {
      for (std::size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        if (tree_.find(path.substr(0, slash)) == nullptr) ops.emplace_back(ZkCreate{path.substr(0, slash), ""});
      }
      ops.emplace_back(ZkCreate{path, data});
    }
    const bool done = commit(std::move(ops), FakeZkTree::kSuperuser, 0, effects).has_value();
    KRO_ASSERT(done);
  }
  effects.run();
}

void FakeZk::remove(const std::string& path) {
  Effects effects;
  {
    const std::lock_guard lock(mutex_);
    effects = this->effects();
    if (tree_.find(path) == nullptr) return;
    std::vector<std::string> paths = {path};
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::string parent = paths[i];
      for (const std::string& name : tree_.find(parent)->children) paths.push_back(parent + "/" + name);
    }
    std::vector<ZkOp> ops;
    for (auto each = paths.rbegin(); each != paths.rend(); ++each) ops.emplace_back(ZkDelete{*each});
    const bool done = commit(std::move(ops), FakeZkTree::kSuperuser, 0, effects).has_value();
    KRO_ASSERT(done);
  }
  effects.run();
}

void FakeZk::set_sequence(const std::string& parent, std::int32_t next) {
  const std::lock_guard lock(mutex_);
  tree_.set_sequence(parent, next);
}

std::int64_t FakeZk::zxid() const {
  const std::lock_guard lock(mutex_);
  return tree_.zxid();
}

std::size_t FakeZk::node_count() const {
  const std::lock_guard lock(mutex_);
  return tree_.size();
}

FakeZk::Counters FakeZk::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void FakeZk::reset_counters() {
  const std::lock_guard lock(mutex_);
  counters_ = {};
}

}  // namespace kro
