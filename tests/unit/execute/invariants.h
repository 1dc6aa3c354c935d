#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "fakes/fake_kafka.h"
#include "fakes/fake_zk.h"
#include "ports/zk_rules.h"
#include "tree/limits.h"
#include "tree/node_codecs.h"
#include "tree/paths.h"
#include "tree/reassignment_codec.h"
#include "tree/result_codec.h"
#include "unit/execute/tap.h"

namespace kro::execute::test {

// Looks at every write and every call of the controllers before it happens, against what the fakes really hold, and
// does not trust the controller. What is wrong is gathered as text. One thread.
class Invariants {
 public:
  Invariants(FakeZk& zk, FakeKafka& kafka, const Clock& clock) : zk_(zk), kafka_(kafka), clock_(clock) {}

  std::vector<std::string> broken;
  std::vector<std::string> transcript;

  void watch(Tap& tap) {
    tap.before_write = [this](std::int64_t session, const std::vector<ZkOp>& ops) { on_write(session, ops); };
    tap.after_write = [this](const std::vector<ZkOp>&, bool ok) { note(ok ? "  written" : "  not written"); };
    tap.before_call = [this](const AlterRequest& request) { on_call(request); };
    tap.after_call = [this](const AlterRequest& request, const Result<AlterAnswers>& answers) {
      note(answers ? "  answered" : "  no answer: " + answers.error().text());
      if (answers || answers.error().retry != Retry::kAmbiguous) return;
      for (const auto& [tp, target] : request) unanswered_[tp] = clock_.now().mono;
    };
    tap.late_answer = [this](const AlterAnswers& answers) {
      for (const auto& [tp, answer] : answers) unanswered_.erase(tp);
    };
  }
  void note(std::string line) { transcript.push_back(std::move(line)); }

 private:
  static bool allowed(const std::string& path) {
    for (const std::string_view root :
         {tree::kReassignments, tree::kResults, tree::kRequests, tree::kController, tree::kControllerEpoch,
          tree::kControllerCall, tree::kForeign, tree::kLock, tree::kLedger, tree::kAdmin})
      if (path == root || (root != tree::kAdmin && path.starts_with(std::string(root) + "/"))) return true;
    return false;
  }

  void fail(const std::string& what) { broken.push_back(what); }

  void on_write(std::int64_t session, const std::vector<ZkOp>& ops) {
    std::string line = "write by " + std::to_string(session) + ":";
    for (const ZkOp& op : ops) line += " " + describe(op);
    note(line);
    const auto* head = ops.empty() ? nullptr : std::get_if<ZkCheck>(&ops.front());
    const bool fenced = head != nullptr && head->path == tree::kControllerEpoch;
    for (const ZkOp& op : ops) {
      const std::string& path = zk_rules::path_of(op);
      if (!allowed(path)) fail("a write outside the tree: " + path);
      const bool root = std::holds_alternative<ZkCreate>(op) && ops.size() == 1;
      if (!fenced && !root && path != tree::kController && path != tree::kControllerEpoch)
        fail("a write without the epoch check: " + describe(op));
    }
    bool asserts_no_lock = false;
    for (const ZkOp& op : ops) {
      if (const auto* create = std::get_if<ZkCreate>(&op)) {
        asserts_no_lock = asserts_no_lock || create->path == tree::kLock;
        if (create->path.starts_with(std::string(tree::kReassignments) + "/")) check_episode(*create, asserts_no_lock);
      }
      if (const auto* set = std::get_if<ZkSet>(&op)) {
        if (set->path.starts_with(std::string(tree::kResults) + "/") && !set->path.ends_with("/originals"))
          check_result(set->path, set->data, ops);
        if (set->path.starts_with(std::string(tree::kReassignments) + "/") && set->version == kAnyVersion)
          fail("a znode is set without its version: " + set->path);
      }
      if (const auto* gone = std::get_if<ZkDelete>(&op)) check_delete(*gone, asserts_no_lock);
    }
  }

  static std::string describe(const ZkOp& op) {
    constexpr const char* kNames[] = {"check", "create", "set", "delete"};
    return std::string(kNames[op.index()]) + " " + zk_rules::path_of(op).substr(0, 120);
  }

  void check_episode(const ZkCreate& create, bool asserts_no_lock) {
    if (create.data.empty()) return;  // the topic's node
    if (!asserts_no_lock) fail("a start without the lock assertion: " + create.path);
    if (const auto data = tree::decode_reassignment(create.data); !data) fail("unreadable znode " + create.path);
  }

  void check_delete(const ZkDelete& gone, bool asserts_no_lock) {
    if (gone.path == tree::kLock && !asserts_no_lock) fail("the controller deletes a lock that is not its own");
    if (!gone.path.starts_with(std::string(tree::kResults) + "/") || gone.path.ends_with("/originals")) return;
    const auto node = zk_.peek(gone.path);
    const auto result = node ? tree::decode_result(node->data) : invalid("absent");
    if (result && !result->done) fail("a result that is not done is deleted: " + gone.path);
  }

  // Outcomes are final, one a partition, and "completed" is said only of a partition whose list is the target.
  void check_result(const std::string& path, const std::string& data, const std::vector<ZkOp>& ops) {
    const auto after = tree::decode_result(data);
    if (!after) return fail("an unreadable result is written: " + path);
    std::map<TopicPartition, std::string> outcomes = outcomes_of(*after, path);
    if (outcomes.size() > static_cast<std::size_t>(after->partitions)) fail("more outcomes than partitions: " + path);
    if (after->done && !after->received.empty() && outcomes.size() < static_cast<std::size_t>(after->partitions) &&
        zk_.peek(path))
      fail("done with partitions that have no outcome: " + path);
    const auto node = zk_.peek(path);
    const auto before = node ? tree::decode_result(node->data) : tree::RequestResult{};
    const auto known = before ? outcomes_of(*before, path) : std::map<TopicPartition, std::string>{};
    for (const auto& [tp, outcome] : known)
      if (!outcomes.contains(tp) || outcomes.at(tp) != outcome) fail("an outcome was changed: " + tp.text());
    if (after->request.empty()) return;  // a lock's: its partitions' znodes are judged by the requests' results
    for (const auto& [tp, outcome] : outcomes)
      if (outcome == tree::outcome::kCompleted && !known.contains(tp)) check_completed(tp, *after, ops);
  }

  std::map<TopicPartition, std::string> outcomes_of(const tree::RequestResult& result, const std::string& path) {
    std::map<TopicPartition, std::string> out;
    for (const auto* sets : {&result.finished, &result.refused})
      for (const auto& [outcome, partitions] : *sets)
        for (const TopicPartition& tp : flatten(partitions))
          if (!out.emplace(tp, outcome).second) fail("two outcomes for " + tp.text() + " in " + path);
    return out;
  }

  void check_completed(const TopicPartition& tp, const tree::RequestResult& result, const std::vector<ZkOp>& ops) {
    const KafkaMetadata truth = kafka_.truth();
    const auto* partition = truth.find(tp);
    ReplicaList target;
    if (const auto node = zk_.peek(tree::reassignment(tp))) {
      if (const auto data = tree::decode_reassignment(node->data); data && !data->ended) target = data->assignment;
    }
    if (target.empty()) {
      const auto request = zk_.peek(tree::request(result.request));
      // Somebody took the znode away: this write fails as a whole.
      const bool vain = std::any_of(ops.begin(), ops.end(), [&](const ZkOp& op) {
        return std::holds_alternative<ZkDelete>(op) && zk_rules::path_of(op) == tree::reassignment(tp);
      });
      if (vain) return;
      if (!request) return fail("completed without znode and request: " + tp.text());
      const auto json = nlohmann::json::parse(request->data);
      target = json["assignments"][tp.topic][std::to_string(tp.partition)].get<ReplicaList>();
    }
    if (partition == nullptr || partition->replicas != target || !subset(target, partition->isr))
      fail("completed is a lie: " + tp.text() + " target " + to_text(target) + ", really " +
           (partition == nullptr ? "gone" : to_text(partition->replicas)));
    if (unanswered(tp)) fail("an outcome for an uncertain partition: " + tp.text());
  }

  [[nodiscard]] bool unanswered(const TopicPartition& tp) const {
    const auto at = unanswered_.find(tp);
    return at != unanswered_.end() && clock_.now().mono - at->second < 60s;
  }

  void on_call(const AlterRequest& request) {
    std::string line = "call:";
    const bool locked = zk_.peek(std::string(tree::kLock)).has_value();
    const auto record = zk_.peek(std::string(tree::kControllerCall));
    const auto recorded = record ? tree::decode_call(record->data) : PartitionSets{};
    for (const auto& [tp, target] : request) {
      line += " " + tp.text() + "→" + (target ? to_text(*target) : "null");
      if (target && target->empty()) fail("an empty replica list is sent: " + tp.text());
      if (unanswered(tp)) fail("a second call for an uncertain partition: " + tp.text());
      if (!recorded || !contains(*recorded, tp)) fail("a call without a permit that names it: " + tp.text());
      const auto node = zk_.peek(tree::reassignment(tp));
      const auto data = node ? tree::decode_reassignment(node->data) : invalid("absent");
      if (!data || data->ended) {
        if (target) fail("a call for a partition without a znode: " + tp.text());
        if (!target && !locked) fail("a foreign move is cancelled without a lock: " + tp.text());
        continue;
      }
      if (target && *target != data->assignment) fail("a call with another target than the znode: " + tp.text());
      if (!target && !data->rolling_back()) fail("null for a partition that is not rolled back: " + tp.text());
      if (!data->rolling_back() && locked) fail("a forward call under the lock: " + tp.text());
      if (data->rolling_back()) check_safe(tp, *data);
    }
    note(line);
  }

  // A call that takes replicas away from a running move must leave one that is alive and in the ISR.
  void check_safe(const TopicPartition& tp, const tree::Reassignment& data) {
    const KafkaMetadata truth = kafka_.truth();
    const auto* partition = truth.find(tp);
    if (partition == nullptr || !kafka_.running().contains(tp)) return;
    for (const BrokerId id : data.originals)
      if (truth.brokers.contains(id) && contains(partition->isr, id)) return;
    fail("a roll back that takes " + tp.text() + " offline");
  }

  FakeZk& zk_;
  FakeKafka& kafka_;
  const Clock& clock_;
  std::map<TopicPartition, MonoTime> unanswered_;
};

}  // namespace kro::execute::test
