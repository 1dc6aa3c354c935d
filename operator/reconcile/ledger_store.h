#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "decide/reassignment_observation.h"
#include "ports/zk_session.h"

namespace kro::reconcile {

struct LedgerIdentity {
  std::string operator_id;
  std::string owner;    // uid of the operator's namespace
  std::string cluster;  // configured name
};

// Whose markers: a resource of the API server.
struct LedgerKey {
  std::string uid;
  std::string ns;
  std::string name;
};

// The operator's own part of one tree, and its only writer: every write is one multi that begins with
// check(ledger root, epoch), so that an operator that was deposed can do nothing (znodes.md 3.4).
//
// attach() takes the epoch; whatever was read before is stale. kFenced means deposed: never written again until the
// next attach(). Every other Conflict, and everything Ambiguous, means: read() the resource again before deciding.
// Blocking; one thread.
class LedgerStore {
 public:
  explicit LedgerStore(LedgerIdentity identity) : id_(std::move(identity)) {}

  // Makes the roots, proves that they can be written, takes a new epoch, and reads which resources have markers.
  // kInvalid/Permanent: the root is another operator's (LedgerConflict).
  Status attach(ZkSession& zk, const Deadline& deadline);
  void detach() { epoch_.reset(); }
  [[nodiscard]] bool attached() const { return epoch_.has_value(); }
  [[nodiscard]] const std::set<std::string>& uids() const { return uids_; }

  // Markers of these resources, each with its request's name, or `lost`. Results are not read here.
  Result<std::map<std::string, std::vector<decide::SentRequest>>> read(ZkSession& zk,
                                                                       const std::vector<std::string>& uids,
                                                                       const Deadline& deadline);
  // What a marker says of whom it is for; nullopt: the resource has no marker.
  Result<std::optional<LedgerKey>> whose(ZkSession& zk, const std::string& uid, const Deadline& deadline);

  // Sends one request; returns its znode name. `known` are the resource's requests that send.replaces points into.
  Result<std::string> send(ZkSession& zk, const LedgerKey& key, const decide::SendRequest& send,
                           const std::vector<decide::SentRequest>& known, const Deadline& deadline);
  Status drop_results(ZkSession& zk, const std::vector<std::string>& result_names, const Deadline& deadline);
  // Deletes markers with their results; with `root` the resource's node too.
  Status clean_up(ZkSession& zk, const std::string& uid, const std::vector<const decide::SentRequest*>& requests,
                  bool root, const Deadline& deadline);
  // [check(root), create, set]: version 1, which tells ours from a person's.
  Status create_lock(ZkSession& zk, const Deadline& deadline);
  Status delete_lock(ZkSession& zk, const Deadline& deadline);

 private:
  Result<std::vector<ZkOpResult>> fenced(ZkSession& zk, std::vector<ZkOp> ops, const Deadline& deadline);
  Status make_roots(ZkSession& zk, const Deadline& deadline);
  Status prove_writable(ZkSession& zk, const Deadline& deadline);
  Status take_epoch(ZkSession& zk, const Deadline& deadline);
  Status find_names(ZkSession& zk, std::map<std::string, std::vector<decide::SentRequest>>& found,
                    const Deadline& deadline);
  Status append_result_deletes(ZkSession& zk, const std::vector<std::string>& names, std::vector<ZkOp>& ops,
                               const Deadline& deadline);
  [[nodiscard]] std::string marker_text(const LedgerKey& key, const decide::SendRequest& send,
                                        const std::string& request) const;

  LedgerIdentity id_;
  std::optional<std::int32_t> epoch_;
  std::set<std::string> uids_;  // resources that have a node in the ledger
};

// May stand in a path: what the API server uses for uids, and nothing else.
bool valid_uid(std::string_view uid);

}  // namespace kro::reconcile
