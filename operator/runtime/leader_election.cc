#include "runtime/leader_election.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace kro {
namespace {
const KubeResource kLeases{"coordination.k8s.io", "v1", "leases"};
constexpr milliseconds kLongestCall = 5s;
constexpr double kCandidateSpread = 0.2;
}  // namespace

LeaderElection::LeaderElection(KubeApi& api, const Clock& clock, LeaderElectionConfig config, LeaderCallbacks callbacks,
                               std::function<double()> random01)
    : api_(api),
      clock_(clock),
      config_(std::move(config)),
      callbacks_(std::move(callbacks)),
      random01_(std::move(random01)) {}

bool LeaderElection::leads() const {
  return leading_ && clock_.now().mono - renewed_at_.load() < config_.renew_deadline;
}

bool LeaderElection::expired(MonoTime now) const {
  return observed_.holder.empty() || now - observed_at_ >= seconds(observed_.duration_s);
}

// A leader that cannot renew must get out of its call when its time is over, not later.
Deadline LeaderElection::call_deadline(const std::stop_token& stop) const {
  Deadline out = clock_.in(kLongestCall, stop);
  if (leading_) out.at = std::min(out.at, renewed_at_.load() + config_.renew_deadline);
  return out;
}

milliseconds LeaderElection::step(const std::stop_token& stop) {
  const MonoTime begin = clock_.now().mono;
  if (leading_ && begin - renewed_at_.load() >= config_.renew_deadline) {
    lose("not renewed for " + std::to_string(config_.renew_deadline.count()) + " s: " + last_error_);
  }
  const bool taken = try_take(stop);
  if (stop.stop_requested()) return 0ms;

  const MonoTime end = clock_.now().mono;
  if (taken) {
    renewed_at_ = begin;
    if (!leading_) {
      leading_ = true;
      log::info("became the leader", {{"lease", config_.ns + "/" + config_.name}, {"identity", config_.identity}});
      if (callbacks_.on_started) callbacks_.on_started();
    }
    return std::max(config_.retry_period - std::chrono::duration_cast<milliseconds>(end - begin), milliseconds(0));
  }
  if (leading_) {
    if (known_ && !ours()) {
      lose("the Lease is held by '" + observed_.holder + "'");
    } else if (end - renewed_at_.load() >= config_.renew_deadline) {
      lose("not renewed for " + std::to_string(config_.renew_deadline.count()) + " s: " + last_error_);
    } else {
      // Not past the moment at which we must stop to lead.
      const auto left = std::chrono::ceil<milliseconds>(renewed_at_.load() + config_.renew_deadline - end);
      return std::min<milliseconds>(config_.retry_period, left);
    }
  }
  const double stretch = 1 + random01_() * kCandidateSpread;
  return milliseconds(
      static_cast<std::int64_t>(static_cast<double>(milliseconds(config_.retry_period).count()) * stretch));
}

bool LeaderElection::try_take(const std::stop_token& stop) {
  const Deadline deadline = call_deadline(stop);
  // While we lead nobody else should have written: the read is left out, a 409 brings it back.
  if (!(leading_ && known_ && ours())) {
    if (!look(deadline)) return false;
    if (!ours() && !expired(clock_.now().mono)) return false;
  }
  const Now now = clock_.now();
  LeaseRecord next = observed_;
  if (!ours()) {
    next.acquire_time = rfc3339_micro(now.wall);
    if (!observed_.resource_version.empty()) ++next.transitions;
  }
  next.holder = config_.identity;
  next.duration_s = config_.lease_duration.count();
  next.renew_time = rfc3339_micro(now.wall);
  return write(std::move(next), deadline);
}

// False: not known (any more) what the server has.
bool LeaderElection::look(const Deadline& deadline) {
  auto read = api_.get(kLeases, {config_.ns, config_.name}, deadline);
  if (!read) {
    last_error_ = read.error().text();
    return false;
  }
  LeaseRecord seen;
  if (read->has_value()) {
    auto decoded = decode_lease(**read);
    if (!decoded) {
      last_error_ = decoded.error().text();
      return false;
    }
    seen = std::move(*decoded);
  }
  observe(std::move(seen), clock_.now().mono);
  return true;
}

bool LeaderElection::write(LeaseRecord record, const Deadline& deadline) {
  const std::string json = encode_lease(config_.ns, config_.name, record);
  auto answer = record.resource_version.empty() ? api_.create(kLeases, config_.ns, json, deadline)
                                                : api_.replace(kLeases, {config_.ns, config_.name}, json, deadline);
  if (!answer) {
    // Whatever happened, the next try looks first.
    known_ = false;
    last_error_ = answer.error().text();
    return false;
  }
  auto written = decode_lease(*answer);
  if (!written) {
    known_ = false;
    last_error_ = written.error().text();
    return false;
  }
  observe(std::move(*written), clock_.now().mono);
  return true;
}

void LeaderElection::observe(LeaseRecord record, MonoTime now) {
  if (!known_ || record != observed_) {
    // A Lease that we saw before and that has not changed keeps its age, also over failed calls in between.
    if (record != observed_) observed_at_ = now;
    observed_ = std::move(record);
    known_ = true;
  }
}

void LeaderElection::lose(const std::string& why) {
  leading_ = false;
  log::warn("lost the leadership", {{"lease", config_.ns + "/" + config_.name}, {"cause", why}});
  if (callbacks_.on_lost) callbacks_.on_lost(why);
}

void LeaderElection::release(const Deadline& deadline) {
  if (leading_) lose("released");
  // A stop may have cut the last write: look who has the Lease, it may be us.
  if (!known_ && !look(deadline)) return;
  if (!ours()) return;
  const Now now = clock_.now();
  LeaseRecord next = observed_;
  next.holder.clear();
  next.duration_s = 1;
  next.acquire_time = next.renew_time = rfc3339_micro(now.wall);
  if (!write(std::move(next), deadline)) log::info("could not release the leadership", {{"error", last_error_}});
}

std::string leader_identity(const std::string& host, const std::string& random_bits) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = host + "_";
  for (std::size_t i = 0; i < random_bits.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out.push_back('-');
    const auto byte = static_cast<unsigned char>(random_bits[i]);
    out.push_back(kHex[byte >> 4U]);
    out.push_back(kHex[byte & 15U]);
  }
  return out;
}

}  // namespace kro
