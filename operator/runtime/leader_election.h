#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "ports/clock.h"
#include "ports/kube_api.h"
#include "runtime/leader_election_codec.h"

namespace kro {

struct LeaderElectionConfig {
  std::string ns;
  std::string name;
  std::string identity;  // leader_identity(); must be unique among all candidates ever
  seconds lease_duration = 15s;
  seconds renew_deadline = 10s;
  seconds retry_period = 2s;
};

struct LeaderCallbacks {
  std::function<void()> on_started;
  std::function<void(const std::string& why)> on_lost;
};

// Elects one leader through a Lease, by the rules of Kubernetes' own components, so that both can share one.
//
//   candidate ── took the Lease ──▶ leader ── not renewed for renew_deadline, or another holds it ──▶ candidate
//
// Only local intervals count: a Lease is free when its content has not changed for lease_duration by our clock,
// whatever times it holds. The leader counts from before its last good renewal was sent, so it stops believing
// (renew_deadline) before others start (lease_duration). This is no fence by itself: a process that was frozen
// finds out late, so writes must be fenced where they land.
//
// step(), release() and the callbacks belong to one thread; leads() may be called from any.
class LeaderElection {
 public:
  LeaderElection(KubeApi& api, const Clock& clock, LeaderElectionConfig config, LeaderCallbacks callbacks,
                 std::function<double()> random01);

  // One try to take or renew, blocking no longer than what is left of the renew deadline. Returns the pause until
  // the next: retry_period, for candidates stretched at random by up to 20 %.
  milliseconds step(const std::stop_token& stop);

  // Gives leadership up so that others need not wait for it to run out. Calls on_lost first if we led. Best effort.
  void release(const Deadline& deadline);

  // Was renewed less than renew_deadline ago.
  [[nodiscard]] bool leads() const;
  // Who held the Lease when we last looked; empty: nobody, or not known.
  [[nodiscard]] const std::string& holder() const { return observed_.holder; }

 private:
  bool try_take(const std::stop_token& stop);
  bool look(const Deadline& deadline);
  bool write(LeaseRecord record, const Deadline& deadline);
  void observe(LeaseRecord record, MonoTime now);
  void lose(const std::string& why);
  [[nodiscard]] bool expired(MonoTime now) const;
  [[nodiscard]] bool ours() const { return observed_.holder == config_.identity; }
  [[nodiscard]] Deadline call_deadline(const std::stop_token& stop) const;

  KubeApi& api_;
  const Clock& clock_;
  LeaderElectionConfig config_;
  LeaderCallbacks callbacks_;
  std::function<double()> random01_;

  LeaseRecord observed_;
  MonoTime observed_at_{};
  bool known_ = false;  // observed_ is what the server has, as far as we know
  std::string last_error_;
  std::atomic<bool> leading_{false};
  std::atomic<MonoTime> renewed_at_{MonoTime{}};
};

// "<host>_<128 random bits>": unique though a pod restarts under its name. `random_bits` are any 16 bytes.
std::string leader_identity(const std::string& host, const std::string& random_bits);

}  // namespace kro
