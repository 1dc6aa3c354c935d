#include "reconcile/ledger_store.h"

#include <algorithm>

#include "api/json_writer.h"
#include "base/assert.h"

namespace kro::reconcile {
namespace {

using decide::SentRequest;

constexpr std::size_t kMostPerCleanUp = 200;

const tree::Features& every_feature() {
  static const tree::Features features{
      {"cancel", "withdraw", "legacy", "client", "check", "allow", "dry_run", "all_or_nothing", "max_in_flight",
       "max_in_flight_per_broker", "health_gate", "throttle"},
      {"ReplicationFactorChange", "InternalTopics", "UnderReplicated", "NoLeader", "RackSpread", "PartitionsBusy",
       "MinInsyncReplicas"}};
  return features;
}

ZkCreate create(std::string path, std::string data = {}, ZkAcl acl = ZkAcl::kLikeKafka) {
  return {std::move(path), std::move(data), ZkMode::kPersistent, acl};
}

std::string lock_path() { return std::string(tree::kLock); }

SentRequest sent_request(const tree::MarkerName& name, const ZkNode& node) {
  SentRequest out;
  out.marker = name;
  out.marker_version = node.stat.version;
  out.czxid = node.stat.czxid;
  out.sent = from_epoch_ms(node.stat.ctime_ms);
  auto request = std::make_shared<tree::Request>();
  if (const auto marker = tree::decode_marker(node.data)) {
    out.attempt = marker->attempt;
    auto decoded = tree::decode_request(marker->request, every_feature());
    if (auto* good = std::get_if<tree::Request>(&decoded)) *request = std::move(*good);
  }
  out.request = std::move(request);
  return out;
}

}  // namespace

bool valid_uid(std::string_view uid) {
  return !uid.empty() && uid.size() <= 64 && std::all_of(uid.begin(), uid.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Result<std::vector<ZkOpResult>> LedgerStore::fenced(ZkSession& zk, std::vector<ZkOp> ops, const Deadline& deadline) {
  KRO_ASSERT(epoch_.has_value());
  ops.insert(ops.begin(), ZkCheck{tree::ledger(id_.operator_id), *epoch_});
  auto answer = zk.multi(ops, deadline);
  if (answer) return answer;
  Error error = std::move(answer.error());
  const bool root = error.op_index == 0 && (error.code == ErrorCode::kVersion || error.code == ErrorCode::kNotFound);
  if (!root) return tl::unexpected(std::move(error));
  epoch_.reset();
  return fail(ErrorCode::kFenced, Retry::kConflict, "another operator with id " + id_.operator_id + " took over");
}

Status LedgerStore::make_roots(ZkSession& zk, const Deadline& deadline) {
  const std::vector<ZkCreate> roots = {create(std::string(tree::kAdmin)), create(std::string(tree::kRequests)),
                                       create(std::string(tree::kResults), {}, ZkAcl::kCreatorAllWorldRead),
                                       create(std::string(tree::kLedger), {}, ZkAcl::kCreatorAllWorldRead)};
  std::vector<std::string> paths;
  for (const ZkCreate& root : roots) paths.push_back(root.path);
  const auto there = zk.get_many(paths, false, deadline);
  if (!there) return tl::unexpected(there.error());
  for (std::size_t i = 0; i < roots.size(); ++i) {
    if ((*there)[i]) continue;
    const auto made = zk.multi({roots[i]}, deadline);
    if (!made && made.error().code != ErrorCode::kAlreadyExists) return pass_on(made.error(), roots[i].path);
  }
  return {};
}

Status LedgerStore::prove_writable(ZkSession& zk, const Deadline& deadline) {
  std::vector<ZkOp> ops;
  for (const std::string_view root : {tree::kRequests, tree::kResults, tree::kLedger}) {
    const std::string probe = std::string(root) + "/probe-" + id_.operator_id;
    ops.emplace_back(create(probe));
    ops.emplace_back(ZkDelete{probe});
  }
  const auto proved = zk.multi(ops, deadline);
  if (!proved) return pass_on(proved.error(), "the request tree cannot be written");
  return {};
}

Status LedgerStore::take_epoch(ZkSession& zk, const Deadline& deadline) {
  const std::string path = tree::ledger(id_.operator_id);
  auto node = zk.get(path, false, deadline);
  if (!node) return tl::unexpected(node.error());
  tree::LedgerRoot root{0, id_.owner, id_.cluster};
  if (!*node) {
    const auto made = zk.multi({create(path, tree::encode_ledger_root(root), ZkAcl::kCreatorAllWorldRead)}, deadline);
    if (!made && made.error().code != ErrorCode::kAlreadyExists) return tl::unexpected(made.error());
    node = zk.get(path, false, deadline);
    if (!node) return tl::unexpected(node.error());
    if (!*node) return fail(ErrorCode::kNotFound, Retry::kConflict, path + " went away");
  }
  const auto was = tree::decode_ledger_root((*node)->data);
  if (!was) return invalid("the ledger root " + path + " cannot be read: " + was.error().text());
  const bool other_owner = !was->owner.empty() && !id_.owner.empty() && was->owner != id_.owner;
  if (other_owner || was->cluster != id_.cluster)
    return invalid("the ledger " + path + " belongs to owner " + was->owner + ", cluster " + was->cluster);
  root.epoch = std::int64_t{(*node)->stat.version} + 1;
  if (root.owner.empty()) root.owner = was->owner;
  const auto set = zk.multi({ZkSet{path, tree::encode_ledger_root(root), (*node)->stat.version}}, deadline);
  if (!set) return tl::unexpected(set.error());
  KRO_ASSERT(set->size() == 1 && (*set)[0].stat.has_value());
  epoch_ = (*set)[0].stat->version;
  return {};
}

Status LedgerStore::attach(ZkSession& zk, const Deadline& deadline) {
  epoch_.reset();
  uids_.clear();
  if (auto done = make_roots(zk, deadline); !done) return done;
  if (auto done = prove_writable(zk, deadline); !done) return done;
  if (auto done = take_epoch(zk, deadline); !done) return done;
  const auto children = zk.children(tree::ledger(id_.operator_id), false, deadline);
  if (!children) {
    epoch_.reset();
    return tl::unexpected(children.error());
  }
  if (*children)
    for (const std::string& uid : (*children)->names)
      if (valid_uid(uid)) uids_.insert(uid);
  return {};
}

Result<std::map<std::string, std::vector<SentRequest>>> LedgerStore::read(ZkSession& zk,
                                                                          const std::vector<std::string>& uids,
                                                                          const Deadline& deadline) {
  // Another server may lag behind the one that applied our last write.
  if (auto synced = zk.sync(deadline); !synced) return tl::unexpected(synced.error());
  std::map<std::string, std::vector<SentRequest>> out;
  std::vector<std::string> paths;
  std::vector<std::pair<std::string, tree::MarkerName>> of;
  for (const std::string& uid : uids) {
    const auto children = zk.children(tree::ledger_uid(id_.operator_id, uid), false, deadline);
    if (!children) return tl::unexpected(children.error());
    out[uid];
    if (!*children) {
      uids_.erase(uid);
      continue;
    }
    uids_.insert(uid);
    for (const std::string& child : (*children)->names) {
      const auto name = tree::parse_marker_name(child);
      if (!name) continue;
      paths.push_back(tree::marker(id_.operator_id, uid, child));
      of.emplace_back(uid, *name);
    }
  }
  if (paths.empty()) return out;
  const auto nodes = zk.get_many(paths, false, deadline);
  if (!nodes) return tl::unexpected(nodes.error());
  for (std::size_t i = 0; i < paths.size(); ++i)
    if ((*nodes)[i]) out[of[i].first].push_back(sent_request(of[i].second, *(*nodes)[i]));
  for (auto& [uid, requests] : out)
    std::sort(requests.begin(), requests.end(),
              [](const SentRequest& a, const SentRequest& b) { return a.marker < b.marker; });
  if (auto found = find_names(zk, out, deadline); !found) return tl::unexpected(found.error());
  return out;
}

// A marker and its request have the same czxid. The inbox is looked at first: a request leaves it only after its
// result was made, so one that is in neither was lost.
Status LedgerStore::find_names(ZkSession& zk, std::map<std::string, std::vector<SentRequest>>& found,
                               const Deadline& deadline) {
  std::map<std::int64_t, std::string> names;
  const auto inbox = zk.children(std::string(tree::kRequests), false, deadline);
  if (!inbox) return tl::unexpected(inbox.error());
  if (*inbox) {
    std::vector<std::string> paths;
    std::vector<std::string> of;
    for (const std::string& name : (*inbox)->names)
      if (tree::sequence_of(name)) {
        paths.push_back(tree::request(name));
        of.push_back(name);
      }
    const auto nodes = zk.get_many(paths, false, deadline);
    if (!nodes) return tl::unexpected(nodes.error());
    for (std::size_t i = 0; i < of.size(); ++i)
      if ((*nodes)[i]) names.emplace((*nodes)[i]->stat.czxid, of[i]);
  }
  const auto results = zk.children(std::string(tree::kResults), false, deadline);
  if (!results) return tl::unexpected(results.error());
  if (*results)
    for (const std::string& name : (*results)->names)
      if (const auto parsed = tree::parse_result_name(name); parsed && !parsed->cancel)
        names.emplace(parsed->czxid, parsed->request);
  for (auto& [uid, requests] : found)
    for (SentRequest& request : requests) {
      const auto it = names.find(request.czxid);
      request.lost = it == names.end();
      if (!request.lost) request.name = it->second;
    }
  return {};
}

Result<std::optional<LedgerKey>> LedgerStore::whose(ZkSession& zk, const std::string& uid, const Deadline& deadline) {
  const auto children = zk.children(tree::ledger_uid(id_.operator_id, uid), false, deadline);
  if (!children) return tl::unexpected(children.error());
  if (!*children || (*children)->names.empty()) return std::optional<LedgerKey>();
  const auto node = zk.get(tree::marker(id_.operator_id, uid, (*children)->names.front()), false, deadline);
  if (!node) return tl::unexpected(node.error());
  if (!*node) return std::optional<LedgerKey>();
  const auto marker = tree::decode_marker((*node)->data);
  if (!marker) return std::optional(LedgerKey{uid, "", ""});
  return std::optional(LedgerKey{uid, marker->ns, marker->name});
}

std::string LedgerStore::marker_text(const LedgerKey& key, const decide::SendRequest& send,
                                     const std::string& request) const {
  api::JsonWriter out;
  out.open('{').key("version").value(1).key("namespace").value(key.ns).key("name").value(key.name);
  if (send.attempt != 0) out.key("attempt").value(send.attempt);
  std::string text = out.take();
  text += ",\"request\":";
  text += request;
  text += '}';
  return text;
}

Status LedgerStore::append_result_deletes(ZkSession& zk, const std::vector<std::string>& names, std::vector<ZkOp>& ops,
                                          const Deadline& deadline) {
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    paths.push_back(tree::originals(name));
    paths.push_back(tree::result(name));
  }
  const auto nodes = zk.get_many(paths, false, deadline);
  if (!nodes) return tl::unexpected(nodes.error());
  for (std::size_t i = 0; i < paths.size(); ++i)
    if ((*nodes)[i]) ops.emplace_back(ZkDelete{paths[i]});
  return {};
}

Result<std::string> LedgerStore::send(ZkSession& zk, const LedgerKey& key, const decide::SendRequest& send,
                                      const std::vector<SentRequest>& known, const Deadline& deadline) {
  const std::string request = tree::encode_request(send.request);
  std::vector<ZkOp> ops;
  ops.emplace_back(create(lock_path()));
  ops.emplace_back(ZkDelete{lock_path()});
  const bool first = !send.dry_run && !uids_.contains(key.uid);
  if (!send.dry_run) {
    if (first) ops.emplace_back(create(tree::ledger_uid(id_.operator_id, key.uid), {}, ZkAcl::kCreatorAllWorldRead));
    std::vector<std::string> results;
    for (const std::size_t i : send.replaces) results.push_back(known.at(i).result_name());
    if (auto ok = append_result_deletes(zk, results, ops, deadline); !ok) return tl::unexpected(ok.error());
    for (const std::size_t i : send.replaces)
      ops.emplace_back(ZkDelete{
          tree::marker(id_.operator_id, key.uid, tree::marker_name(known[i].marker.generation, known[i].marker.n)),
          known[i].marker_version});
    ops.emplace_back(
        create(tree::marker(id_.operator_id, key.uid, tree::marker_name(send.marker.generation, send.marker.n)),
               marker_text(key, send, request), ZkAcl::kCreatorAllWorldRead));
  }
  ops.emplace_back(ZkCreate{std::string(tree::kRequests) + "/" + std::string(tree::kRequestPrefix), request,
                            ZkMode::kPersistentSequential, ZkAcl::kLikeKafka});
  auto answer = fenced(zk, std::move(ops), deadline);
  if (!answer) return tl::unexpected(answer.error());
  if (first) uids_.insert(key.uid);
  const std::string& path = answer->back().path;
  return path.substr(path.rfind('/') + 1);
}

Status LedgerStore::drop_results(ZkSession& zk, const std::vector<std::string>& result_names,
                                 const Deadline& deadline) {
  std::vector<ZkOp> ops;
  if (auto ok = append_result_deletes(zk, result_names, ops, deadline); !ok) return ok;
  if (ops.empty()) return {};
  const auto answer = fenced(zk, std::move(ops), deadline);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Status LedgerStore::clean_up(ZkSession& zk, const std::string& uid, const std::vector<const SentRequest*>& requests,
                             bool root, const Deadline& deadline) {
  for (std::size_t from = 0; from < requests.size() || from == 0; from += kMostPerCleanUp) {
    const std::size_t to = std::min(requests.size(), from + kMostPerCleanUp);
    std::vector<std::string> results;
    for (std::size_t i = from; i < to; ++i)
      if (!requests[i]->lost) results.push_back(requests[i]->result_name());
    std::vector<ZkOp> ops;
    if (auto ok = append_result_deletes(zk, results, ops, deadline); !ok) return ok;
    for (std::size_t i = from; i < to; ++i)
      ops.emplace_back(ZkDelete{
          tree::marker(id_.operator_id, uid, tree::marker_name(requests[i]->marker.generation, requests[i]->marker.n)),
          requests[i]->marker_version});
    if (root && to == requests.size()) ops.emplace_back(ZkDelete{tree::ledger_uid(id_.operator_id, uid)});
    if (ops.empty()) break;
    const auto answer = fenced(zk, std::move(ops), deadline);
    if (!answer) return tl::unexpected(answer.error());
  }
  if (root) uids_.erase(uid);
  return {};
}

Status LedgerStore::create_lock(ZkSession& zk, const Deadline& deadline) {
  std::vector<ZkOp> ops;
  ops.emplace_back(create(lock_path()));
  ops.emplace_back(ZkSet{lock_path(), tree::encode_lock({id_.operator_id})});
  const auto answer = fenced(zk, std::move(ops), deadline);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

Status LedgerStore::delete_lock(ZkSession& zk, const Deadline& deadline) {
  const auto node = zk.get(lock_path(), false, deadline);
  if (!node) return tl::unexpected(node.error());
  if (!*node) return {};
  if (tree::decode_lock((*node)->data).owner != id_.operator_id || (*node)->stat.version != 1)
    return fail(ErrorCode::kVersion, Retry::kConflict, "the lock is not ours any more");
  std::vector<ZkOp> ops;
  ops.emplace_back(ZkDelete{lock_path(), 1});
  const auto answer = fenced(zk, std::move(ops), deadline);
  if (!answer) return tl::unexpected(answer.error());
  return {};
}

}  // namespace kro::reconcile
