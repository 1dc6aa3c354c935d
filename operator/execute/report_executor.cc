#include "execute/report_executor.h"

#include <algorithm>

#include "base/log.h"
#include "decide/problem_decider.h"
#include "tree/limits.h"
#include "tree/paths.h"

namespace kro::execute {

using decide::AcceptedRequest;
using decide::Episode;

namespace {

constexpr milliseconds kSizesTimeout = 5s;
constexpr milliseconds kStrayFor = 10min;

ReplicaList adding_of(const Episode& e) { return without(e.data.assignment, e.data.originals); }

}  // namespace

void ReportExecutor::read_sizes() {
  const MonoTime now = c_.clock.now().mono;
  if (!c_.view || c_.model.in_flight.empty() || now < next_look_) return;
  next_look_ = now + c_.options.report_every;
  // What has just started is looked at soon, so that its growth can be told; the rest at the slower pace.
  const bool news = std::any_of(c_.model.in_flight.begin(), c_.model.in_flight.end(),
                                [](const auto& e) { return !e.second.data.ended && e.second.leader_bytes < 0; });
  if (!news && now < next_sizes_) return;
  next_sizes_ = now + c_.options.sizes_every;
  std::map<BrokerId, std::vector<TopicPartition>> wanted;
  for (const auto& [tp, episode] : c_.model.in_flight) {
    const auto* partition = c_.view->metadata.find(tp);
    if (partition == nullptr || episode.data.ended) continue;
    if (partition->leader >= 0) wanted[partition->leader].push_back(tp);
    for (const BrokerId id : adding_of(episode))
      if (id != partition->leader) wanted[id].push_back(tp);
  }
  for (const auto& [broker, partitions] : wanted) {
    if (!c_.view->alive(broker)) continue;
    const auto sizes = c_.kafka.log_dir_sizes(broker, partitions, c_.clock.in(kSizesTimeout, c_.stop));
    if (!sizes) continue;
    for (const auto& [tp, bytes] : *sizes) {
      const auto at = c_.model.in_flight.find(tp);
      if (at == c_.model.in_flight.end()) continue;
      Episode& episode = at->second;
      const auto* partition = c_.view->metadata.find(tp);
      if (partition != nullptr && partition->leader == broker) episode.leader_bytes = bytes;
      if (!contains(adding_of(episode), broker)) continue;
      const auto [replica, fresh] = episode.adding.try_emplace(broker);
      if (fresh) replica->second.last_growth = now;
      if (bytes > replica->second.bytes) {
        if (replica->second.bytes >= 0) c_.progressed.insert(episode.data.request);
        replica->second.last_growth = now;
      }
      replica->second.bytes = bytes;
    }
  }
}

bool ReportExecutor::fill(const std::string& name, const AcceptedRequest& request, tree::RequestResult& result) {
  const tree::RequestResult before = result;
  result.waiting = static_cast<std::int32_t>(count(request.waiting));
  const auto hold = c_.holding.find(name);
  result.holding = hold == c_.holding.end() || result.waiting == 0 ? std::string() : hold->second;
  result.problems.clear();
  result.problems_total = 0;
  tree::Bytes bytes;
  bool sizes = false;
  for (auto& [tp, episode] : c_.model.in_flight) {
    if (episode.data.ended || (episode.data.request != name && !contains(result.joined, tp))) continue;
    if (episode.leader_bytes >= 0) {
      sizes = true;
      std::int64_t total = 0;
      for (const auto& [id, replica] : episode.adding) {
        total += episode.leader_bytes;
        bytes.moved += std::clamp<std::int64_t>(replica.bytes, 0, episode.leader_bytes);
      }
      bytes.total += total;
      counted_[tp] = {name, total};
    }
    auto problem = decide::find_problem(tp, episode, *c_.view);
    if (!problem) {
      episode.problem_cause.clear();
      continue;
    }
    if (episode.problem_cause != problem->cause) {
      episode.problem_cause = problem->cause;
      episode.problem_since = c_.view->begun.wall;
    }
    problem->since = rfc3339(episode.problem_since);
    ++result.problems_total;
    if (result.problems.size() < tree::kMostProblems) result.problems.push_back(std::move(*problem));
  }
  if (const auto done = finished_bytes_.find(name); done != finished_bytes_.end()) {
    bytes.moved += done->second;
    bytes.total += done->second;
    sizes = true;
  }
  if (sizes) result.bytes = bytes;
  if (c_.progressed.erase(name) > 0) result.last_progress = rfc3339(c_.view->begun.wall);
  return !(result == before);
}

Status ReportExecutor::report() {
  const MonoTime now = c_.clock.now().mono;
  if (!c_.view || now < next_report_) return {};
  next_report_ = now + c_.options.report_every;
  // What was counted and is not in flight any more has ended: its bytes stay in the sum.
  for (auto it = counted_.begin(); it != counted_.end();) {
    if (c_.model.in_flight.contains(it->first)) {
      ++it;
      continue;
    }
    finished_bytes_[it->second.first] += it->second.second;
    it = counted_.erase(it);
  }
  std::erase_if(finished_bytes_, [&](const auto& f) { return !c_.model.requests.contains(f.first); });

  std::vector<std::string> names;
  for (const auto& [name, request] : c_.model.requests) names.push_back(name);
  const bool moved_before = c_.moved;
  for (const std::string& name : names) {
    const AcceptedRequest& request = c_.model.requests.at(name);
    if (request.result_gone) continue;
    tree::RequestResult filled = request.result;
    if (!fill(name, request, filled)) continue;
    TreeChange change(c_.model);
    *change.result(name) = std::move(filled);
    if (auto written = c_.commit(change); !written) return written;
  }
  c_.moved = moved_before;  // telling is no reason to step again
  return {};
}

Status ReportExecutor::publish_foreign() {
  tree::Foreign foreign;
  std::erase_if(c_.ended_targets, [&](const auto& e) { return c_.view->begun.mono - e.second.when > kStrayFor; });
  for (const auto& [tp, row] : c_.view->after) {
    if (row.target().empty())
      log::error(
          "Kafka lists a reassignment with nothing left of its target: do not move the controller before it is "
          "repaired by sending its full replica list through the Admin API",
          {{"partition", tp.text()}, {"replicas", to_text(row.replicas)}});
    if (c_.model.in_flight.contains(tp)) continue;
    if (const auto ended = c_.ended_targets.find(tp);
        ended != c_.ended_targets.end() && ended->second.target == row.target()) {
      log::warn("stray: Kafka moves a partition to a target whose reassignment has ended here",
                {{"partition", tp.text()}, {"target", to_text(row.target())}});
      c_.count_outcome("stray");
      c_.ended_targets.erase(ended);
    }
    ++foreign.total;
    if (foreign.moves.size() < tree::kMostForeign)
      foreign.moves.push_back({tp, row.target(), row.adding, row.removing});
  }
  if (c_.model.published_foreign == foreign) return {};
  const std::string path(tree::kForeign);
  const bool exists = c_.model.published_foreign.has_value();
  const auto written = c_.write({exists ? ZkOp{ZkSet{path, tree::encode_foreign(foreign)}}
                                        : ZkOp{ZkCreate{path, tree::encode_foreign(foreign), ZkMode::kPersistent}}});
  if (!written) return tl::unexpected(written.error());
  c_.model.published_foreign = std::move(foreign);
  return {};
}

Status ReportExecutor::delete_result(const std::string& name, const tree::RequestResult& result) {
  std::vector<ZkOp> ops{ZkDelete{tree::result(name)}};
  const auto originals = c_.session.get(tree::originals(name), false, c_.clock.in(Leadership::kReadTimeout, c_.stop));
  if (!originals) return tl::unexpected(originals.error());
  if (*originals) ops.insert(ops.begin(), ZkDelete{tree::originals(name)});
  // "<operator id>/<uid>": its marker goes in the same multi, so that the operator never sends the request again.
  const auto slash = result.client.find('/');
  if (slash != std::string::npos && valid_topic_name(result.client.substr(0, slash)) &&
      valid_topic_name(result.client.substr(slash + 1))) {
    const std::string uid_path = tree::ledger_uid(result.client.substr(0, slash), result.client.substr(slash + 1));
    const auto markers = c_.session.children(uid_path, false, c_.clock.in(Leadership::kReadTimeout, c_.stop));
    if (!markers) return tl::unexpected(markers.error());
    if (*markers) {
      for (const std::string& marker : (*markers)->names) {
        const std::string path = uid_path + "/" + marker;
        const auto node = c_.session.get(path, false, c_.clock.in(Leadership::kReadTimeout, c_.stop));
        if (node && *node && tree::hex((*node)->stat.czxid) == result.czxid)
          ops.push_back(ZkDelete{path, (*node)->stat.version});
      }
    }
  }
  const auto written = c_.write(std::move(ops));
  if (written || written.error().code == ErrorCode::kNotFound || written.error().code == ErrorCode::kNotEmpty)
    return {};
  return tl::unexpected(written.error());
}

Status ReportExecutor::retain() {
  const Now now = c_.clock.now();
  if (now.mono < next_retention_) return {};
  next_retention_ = now.mono + c_.options.retention_every;
  const auto children =
      c_.session.children(std::string(tree::kResults), false, c_.clock.in(Leadership::kReadTimeout, c_.stop));
  if (!children) return tl::unexpected(children.error());
  if (!*children) return {};
  using namespace std::chrono;
  struct Kept {
    WallTime received;
    std::string name;
    tree::RequestResult result;
  };
  std::vector<Kept> of_nobody;
  for (const std::string& name : (*children)->names) {
    if (c_.model.requests.contains(name) || c_.model.cancels.contains(name)) continue;
    const auto node = c_.session.get(tree::result(name), false, c_.clock.in(Leadership::kReadTimeout, c_.stop));
    if (!node) return tl::unexpected(node.error());
    if (!*node) continue;
    auto result = tree::decode_result((*node)->data);
    if (!result || !result->done) continue;
    const WallTime received = parse_rfc3339(result->received).value_or(from_epoch_ms((*node)->stat.ctime_ms));
    const auto age = now.wall - received;
    const bool dry_run =
        result->refused_count() + result->finished_count() < static_cast<std::size_t>(result->partitions);
    const bool of_resource = result->client.find('/') != std::string::npos;
    const milliseconds keep = dry_run       ? milliseconds(hours(1))
                              : of_resource ? milliseconds(days(90))
                                            : milliseconds(days(7));
    if (age > keep) {
      if (auto gone = delete_result(name, *result); !gone) return gone;
    } else if (!of_resource) {
      of_nobody.push_back({received, name, std::move(*result)});
    }
  }
  constexpr std::size_t kMostOfNobody = 1000;
  std::sort(of_nobody.begin(), of_nobody.end(), [](const Kept& a, const Kept& b) { return a.received < b.received; });
  for (std::size_t i = 0; i + kMostOfNobody < of_nobody.size(); ++i)
    if (auto gone = delete_result(of_nobody[i].name, of_nobody[i].result); !gone) return gone;
  return {};
}

void ReportExecutor::gauges() {
  c_.metrics.set("kafka_reassignment_controller_in_flight", {{"kafka_cluster", c_.options.cluster_name}},
                 static_cast<double>(c_.model.in_flight_count()));
}

}  // namespace kro::execute
