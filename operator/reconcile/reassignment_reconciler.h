#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "decide/reassignment_decider.h"
#include "decide/reassignment_notes.h"
#include "reconcile/cluster_context.h"
#include "reconcile/dirty_keys.h"
#include "reconcile/list_rounds.h"
#include "reconcile/status_slot.h"

namespace kro::reconcile {

// All KafkaReassignments of one cluster: observes, decides, acts.
//
// The ledger in memory is authoritative from attach() on, because every write to it is fenced by the epoch; it is read
// again only for what a lost answer or a failed precondition made doubtful. Resources that have finished keep a small
// record and nothing else; an edit brings the whole object again through the watch. One thread.
class ReassignmentReconciler {
 public:
  explicit ReassignmentReconciler(ClusterContext& context)
      : context_(context),
        dirty_(context.deps.reassignment_work, context.deps.clock),
        rounds_(context.watch_namespaces.size()) {}

  void seen(std::unique_ptr<api::KafkaReassignment> cr, Now now);
  void finished(const std::string& uid, FinishedRecord record, Now now);
  void removed(const std::string& uid);
  void begin_list(const std::string& ns) { rounds_.begin(ns); }
  void end_list(const std::string& ns);
  void status_written(const std::string& uid, Result<KubeMeta> answer, Now now);
  void zk_event(const ZkEvent& event);
  // The tree changed (lock, controller, health) or the policy: everything active is looked at again.
  void look_at_all();
  // The epoch was taken anew (or lost): nothing that was read before counts.
  void forget_tree();

  // Sends what was never asked for, before anything else is done; at most `most` writes. False: ZooKeeper is to be
  // left alone for now.
  bool send_pass(Now now, std::size_t most);
  // Reads ledgers, requests and results that are due. False as above.
  bool read_pass(Now now);
  // Decides about everything that changed: one write each, or what is to be told. False as above.
  bool work_pass(Now now);
  // Resources of the ledger that nobody knows: a few at a time, the API server is asked. False as above.
  bool sweep_pass(Now now);
  // Something is to be done now; not what failed and waits out its pause.
  [[nodiscard]] bool has_work(Now now) const;
  [[nodiscard]] MonoTime next_due() const;

  struct Figures {
    std::int64_t pending_requests = 0;
    std::int64_t in_flight = 0;
    std::size_t active = 0;
    std::size_t finished = 0;
  };
  [[nodiscard]] Figures figures() const;
  // Partitions of half-started resources that the lock withdrew, since `since`.
  [[nodiscard]] std::int64_t withdrawn() const;
  [[nodiscard]] bool synced() const { return rounds_.synced(); }

 private:
  struct Active {
    explicit Active(MonoTime at) : status(at) {}
    api::KafkaReassignment cr;
    std::vector<decide::SentRequest> requests;
    std::vector<decide::DryRun> dry_runs;
    std::int64_t dry_runs_of = -1;  // generation
    bool ledger_read = false;
    bool gone = false;
    bool ask_again = false;
    std::set<TopicPartition> busy;
    std::set<TopicPartition> busy_seen;  // of these, with a znode when last looked
    std::optional<MonoTime> ask_again_at;
    std::optional<api::ReassignmentStatus> wanted;
    StatusSlot<api::ReassignmentStatus> status;
    decide::Told told;
    std::optional<MonoTime> look_at;
    std::uint32_t round = 0;
  };
  struct Finished {
    FinishedRecord record;
    std::uint32_t round = 0;
  };

  Active& activate(const std::string& uid, Now now);
  void mark(const std::string& uid) { dirty_.mark(uid); }
  void retire(const std::string& uid);
  void forget(const std::string& uid);
  [[nodiscard]] decide::ReassignmentObservation observe(const Active& a) const;
  bool failed(const std::string& uid, const Error& error, Now now);
  bool doubt(const std::string& uid, const Error& error, Now now);
  bool act(const std::string& uid, Active& a, const decide::TreeWrite& write, Now now);
  bool send(const std::string& uid, Active& a, const decide::SendRequest& send, Now now);
  bool clean(const std::string& uid, Active& a, const decide::CleanUp& clean, Now now);
  bool drop_dry_runs(const std::string& uid, Active& a);
  // Decides about one; false: ZooKeeper is to be left alone. Takes it off the dirty ones unless something was written.
  bool work_on(const std::string& uid, Now now);
  bool look_at(const std::string& uid, Active& a, Now now);
  bool finish(const std::string& uid, Active& a);
  bool read_ledgers(Now now);
  bool read_czxids();
  bool read_results(Now now);
  bool read_busy(Now now);
  void take_result(const std::string& path, const std::string& uid, const std::optional<ZkNode>& node);
  void wake_the_busy(const std::string& uid, const decide::SentRequest& before, const tree::RequestResult& after);
  void watch_busy(const std::string& uid, Active& a, const std::vector<TopicPartition>& busy, Now now);
  void decided(const std::string& uid, Active& a, decide::ReassignmentPlan plan, Now now);
  void offer_status(const std::string& uid, Active& a, Now now);
  void tell_about_request(const Active& a, const std::string& name, std::size_t partitions);
  void count_refusal(const api::ReassignmentStatus& before, const api::ReassignmentStatus& now);
  void tell_about_end(const Active& a, Now now);
  void show(const Active& a);
  void timers(Now now);
  void tell_waiting(Now now);
  void want(MonoTime at);

  ClusterContext& context_;
  std::unordered_map<std::string, std::unique_ptr<Active>> active_;
  std::unordered_map<std::string, Finished> finished_;
  std::map<std::string, WallTime> attention_;                  // finished badly, and shown in /metrics until then
  DirtyKeys dirty_;                                            // to be decided
  std::set<std::string> doubtful_;                             // ledger to be read
  std::set<std::string> unread_;                               // requests whose czxid is not known yet
  std::unordered_map<std::string, std::string> result_paths_;  // watched result → uid
  std::set<std::string> dirty_results_;
  std::set<std::string> polled_results_;  // no room for a watch
  MonoTime poll_at_{};
  std::map<std::string, std::set<std::string>, std::less<>> busy_topics_;  // topic → uids that wait for it
  std::set<std::string> dirty_topics_;
  std::vector<std::string> sweep_;
  bool sweep_listed_ = false;
  ListRounds rounds_;
  bool look_first_ = false;                                        // a precondition failed: what we know is old
  WorkFigures::Outcome outcome_ = WorkFigures::Outcome::kRequeue;  // of the look in hand
  MonoTime next_due_ = MonoTime::max();
};

}  // namespace kro::reconcile
