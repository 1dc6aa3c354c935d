#include "execute/tree_loader.h"

#include "base/log.h"
#include "decide/acceptance_decider.h"
#include "execute/call_executor.h"
#include "tree/paths.h"

namespace kro::execute {
namespace {

using decide::AcceptedRequest;
using decide::CancelRecord;
using decide::ControllerModel;
using decide::Episode;

constexpr std::size_t kReadsPerPipeline = 2000;

class Loader {
 public:
  Loader(ControllerContext& c, bool new_leader) : c_(c), new_leader_(new_leader) {}

  Status load() {
    for (const auto step : {&Loader::load_episodes, &Loader::load_results, &Loader::load_inbox, &Loader::load_call,
                            &Loader::load_foreign})
      if (auto done = (this->*step)(); !done) return done;
    c_.model = std::move(model_);
    c_.view.reset();
    c_.to_submit.clear();
    return {};
  }

 private:
  Deadline deadline() const { return c_.clock.in(Leadership::kReadTimeout, c_.stop); }

  Result<std::vector<std::string>> children(std::string_view path) {
    auto read = c_.session.children(std::string(path), false, deadline());
    if (!read) return tl::unexpected(read.error());
    return *read ? std::move((*read)->names) : std::vector<std::string>{};
  }

  // In pieces, so that one pipeline stays well under the limits of a packet and a deadline.
  Result<std::vector<std::optional<ZkNode>>> get_many(const std::vector<std::string>& paths) {
    std::vector<std::optional<ZkNode>> out;
    for (std::size_t at = 0; at < paths.size(); at += kReadsPerPipeline) {
      const std::vector<std::string> piece(
          paths.begin() + static_cast<std::ptrdiff_t>(at),
          paths.begin() + static_cast<std::ptrdiff_t>(std::min(paths.size(), at + kReadsPerPipeline)));
      auto read = read_readable(c_, piece);
      if (!read) return tl::unexpected(read.error());
      for (auto& node : *read) out.push_back(std::move(node));
    }
    return out;
  }

  Status load_episodes() {
    const auto topics = children(tree::kReassignments);
    if (!topics) return tl::unexpected(topics.error());
    std::vector<TopicPartition> partitions;
    std::vector<std::string> paths;
    for (const std::string& topic : *topics) {
      if (!valid_topic_name(topic)) continue;
      model_.topic_dirs.insert(topic);
      const auto numbers = children(tree::topic(topic));
      if (!numbers) return tl::unexpected(numbers.error());
      for (const std::string& number : *numbers) {
        const auto id = partition_number(number);
        if (!id) continue;
        partitions.push_back({topic, *id});
        paths.push_back(tree::reassignment(partitions.back()));
      }
    }
    const auto nodes = get_many(paths);
    if (!nodes) return tl::unexpected(nodes.error());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (!(*nodes)[i]) continue;
      auto data = tree::decode_reassignment((*nodes)[i]->data);
      if (!data) {
        log::warn("a reassignment znode cannot be read: it is in flight for nobody, and the next start overwrites it",
                  {{"path", paths[i]}, {"error", data.error().text()}});
        Episode unreadable;
        unreadable.data.ended = true;
        unreadable.version = (*nodes)[i]->stat.version;
        model_.in_flight.emplace(partitions[i], std::move(unreadable));
        continue;
      }
      const auto known = c_.model.in_flight.find(partitions[i]);
      if (!new_leader_ && known != c_.model.in_flight.end() && known->second.data == *data) {
        model_.in_flight.emplace(partitions[i], known->second).first->second.version = (*nodes)[i]->stat.version;
        continue;
      }
      Episode episode;
      episode.data = std::move(*data);
      episode.version = (*nodes)[i]->stat.version;
      episode.inherited = true;
      model_.in_flight.emplace(partitions[i], std::move(episode));
    }
    return {};
  }

  static std::optional<PartitionId> partition_number(const std::string& text) {
    if (text.empty() || text.size() > 10 || (text.size() > 1 && text[0] == '0')) return std::nullopt;
    std::int64_t n = 0;
    for (const char ch : text) {
      if (ch < '0' || ch > '9') return std::nullopt;
      n = n * 10 + (ch - '0');
    }
    return n <= std::numeric_limits<PartitionId>::max() ? std::optional(static_cast<PartitionId>(n)) : std::nullopt;
  }

  Status load_results() {
    const auto names = children(tree::kResults);
    if (!names) return tl::unexpected(names.error());
    std::vector<std::string> known;
    std::vector<std::string> paths;
    for (const std::string& name : *names) {
      if (!tree::parse_result_name(name)) continue;
      known.push_back(name);
      paths.push_back(tree::result(name));
    }
    const auto nodes = get_many(paths);
    if (!nodes) return tl::unexpected(nodes.error());
    std::vector<std::string> open;
    std::vector<std::string> originals_paths;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!(*nodes)[i]) continue;
      auto result = tree::decode_result((*nodes)[i]->data);
      if (!result) {
        log::warn("a result cannot be read and is left alone", {{"path", paths[i]}, {"error", result.error().text()}});
        continue;
      }
      const bool present_lock = model_lock() == known[i];
      if (result->done && !present_lock) continue;
      results_.emplace(known[i], std::move(*result));
      open.push_back(known[i]);
      originals_paths.push_back(tree::originals(known[i]));
    }
    const auto originals = get_many(originals_paths);
    if (!originals) return tl::unexpected(originals.error());
    for (std::size_t i = 0; i < open.size(); ++i)
      if ((*originals)[i])
        if (auto lists = tree::decode_originals((*originals)[i]->data)) originals_.emplace(open[i], std::move(*lists));
    for (auto& [name, result] : results_) add_result(name, std::move(result));
    return {};
  }

  std::string model_lock() const {
    return c_.model.lock ? tree::cancel_result_name(c_.model.lock->czxid) : std::string();
  }

  void add_result(const std::string& name, tree::RequestResult result) {
    const auto parsed = tree::parse_result_name(name);
    auto originals = originals_.contains(name) ? std::move(originals_.at(name)) : tree::Originals{};
    if (parsed->cancel) {
      model_.cancels.emplace(name, CancelRecord{std::move(result), std::move(originals), false});
      return;
    }
    AcceptedRequest request;
    request.name = parsed->request;
    request.sequence = *tree::sequence_of(parsed->request);
    request.result = std::move(result);
    request.originals = std::move(originals);
    model_.requests.emplace(name, std::move(request));
  }

  // A request that has a result is resumed from both; what has none is left to the acceptance.
  Status load_inbox() {
    std::vector<std::string> names;
    std::vector<std::string> paths;
    for (const auto& [name, request] : model_.requests) {
      names.push_back(name);
      paths.push_back(tree::request(request.name));
    }
    const auto nodes = get_many(paths);
    if (!nodes) return tl::unexpected(nodes.error());
    for (std::size_t i = 0; i < names.size(); ++i) {
      AcceptedRequest& request = model_.requests.at(names[i]);
      const auto parsed = tree::parse_result_name(names[i]);
      if (!(*nodes)[i] || (*nodes)[i]->stat.czxid != parsed->czxid) continue;
      auto content = tree::decode_request((*nodes)[i]->data, decide::controller_features());
      if (!std::holds_alternative<tree::Request>(content)) {
        request.undecodable = true;
        continue;
      }
      request.in_inbox = true;
      request.request = std::move(std::get<tree::Request>(content));
      request.waiting = decide::waiting_of(request, names[i], model_.in_flight);
    }
    return {};
  }

  // Whoever led before may have a call under way: 60 s without an answer end that.
  Status load_call() {
    const auto node = c_.session.get(std::string(tree::kControllerCall), false, deadline());
    if (!node) return tl::unexpected(node.error());
    if (!*node || (*node)->data.empty()) return {};
    model_.call_recorded = true;
    if (!new_leader_) {
      model_.uncertain = c_.model.uncertain;
      return {};
    }
    const auto partitions = tree::decode_call((*node)->data);
    if (!partitions) {
      log::warn("the record of calls cannot be read: everything in flight may have a call under way",
                {{"error", partitions.error().text()}});
      for (const auto& [tp, episode] : model_.in_flight)
        if (!episode.data.ended) model_.uncertain[tp] = c_.clock.now().mono + CallExecutor::kUncertainFor;
      return {};
    }
    for (const TopicPartition& tp : flatten(*partitions))
      model_.uncertain[tp] = c_.clock.now().mono + CallExecutor::kUncertainFor;
    return {};
  }

  Status load_foreign() {
    const auto node = c_.session.get(std::string(tree::kForeign), false, deadline());
    if (!node) return tl::unexpected(node.error());
    if (*node) {
      auto foreign = tree::decode_foreign((*node)->data);
      model_.published_foreign = foreign ? std::move(*foreign) : tree::Foreign{-1, {}};
    }
    model_.lock = c_.model.lock;
    if (!new_leader_) model_.foreign_rollbacks = c_.model.foreign_rollbacks;
    return {};
  }

  ControllerContext& c_;
  bool new_leader_;
  ControllerModel model_;
  std::map<std::string, tree::RequestResult> results_;
  std::map<std::string, tree::Originals> originals_;
};

}  // namespace

Result<std::vector<std::optional<ZkNode>>> read_readable(ControllerContext& context,
                                                         const std::vector<std::string>& paths) {
  const auto deadline = [&] { return context.clock.in(Leadership::kReadTimeout, context.stop); };
  auto all = context.session.get_many(paths, false, deadline());
  if (all || all.error().code != ErrorCode::kUnauthorized) return all;
  std::vector<std::optional<ZkNode>> out;
  for (const std::string& path : paths) {
    auto one = context.session.get(path, false, deadline());
    if (!one && one.error().code != ErrorCode::kUnauthorized) return tl::unexpected(one.error());
    if (!one) log::warn("a znode cannot be read and is passed over: mend its ACL", {{"path", path}});
    out.push_back(one ? std::move(*one) : std::nullopt);
  }
  return out;
}

Status load_tree(ControllerContext& context, bool new_leader) { return Loader(context, new_leader).load(); }

namespace {

// Accepted, without an outcome, not waiting, and no znode speaks for it.
std::vector<TopicPartition> orphans_of(const std::string& name, const AcceptedRequest& request,
                                       const ControllerModel& model) {
  std::vector<TopicPartition> out;
  for (const auto& [topic, partitions] : request.originals.originals) {
    for (const auto& [partition, replicas] : partitions) {
      TopicPartition tp{topic, partition};
      if (!request.result.outcome_of(tp).empty() || find(request.waiting, tp) != nullptr) continue;
      const auto episode = model.in_flight.find(tp);
      const bool flies = episode != model.in_flight.end() && !episode->second.data.ended;
      if (flies && (episode->second.data.request == name || contains(request.result.joined, tp))) continue;
      out.push_back(std::move(tp));
    }
  }
  return out;
}

}  // namespace

Status finish_orphans(ControllerContext& context) {
  std::vector<std::string> names;
  for (const auto& [name, request] : context.model.requests)
    if (!request.undecodable) names.push_back(name);
  for (const std::string& name : names) {
    const auto orphans = orphans_of(name, context.model.requests.at(name), context.model);
    if (orphans.empty()) continue;
    log::warn("reassignment znodes were deleted by somebody while they were in flight",
              {{"result", name}, {"partitions", orphans.size()}});
    TreeChange change(context.model);
    for (const TopicPartition& tp : orphans) change.finish(name, tp, tree::outcome::kChangedOutside);
    if (auto written = context.commit(change); !written) return written;
    context.count_outcome(tree::outcome::kChangedOutside, static_cast<double>(orphans.size()));
  }
  return {};
}

}  // namespace kro::execute
