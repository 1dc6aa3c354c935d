#include "execute/acceptance_executor.h"

#include <algorithm>

#include "base/log.h"
#include "decide/acceptance_decider.h"
#include "execute/tree_loader.h"
#include "tree/paths.h"

namespace kro::execute {

Status AcceptanceExecutor::scan() {
  fresh_.clear();
  const auto children =
      c_.session.children(std::string(tree::kRequests), true, c_.clock.in(Leadership::kReadTimeout, c_.stop));
  if (!children) return tl::unexpected(children.error());
  std::vector<std::string> names;
  if (*children)
    for (const std::string& name : (*children)->names)
      if (tree::sequence_of(name)) names.push_back(name);
  const tree::SequenceOrder before{names.empty() ? 0 : *tree::sequence_of(names.front())};
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return before(*tree::sequence_of(a), *tree::sequence_of(b));
  });
  c_.metrics.set("kafka_reassignment_controller_inbox_depth", {{"kafka_cluster", c_.options.cluster_name}},
                 static_cast<double>(names.size()));

  std::set<std::string> known;
  for (const auto& [result_name, request] : c_.model.requests)
    if (request.in_inbox) known.insert(request.name);
  std::erase_if(names, [&](const std::string& name) { return known.contains(name); });
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(tree::request(name));
  const auto nodes = read_readable(c_, paths);
  if (!nodes) return tl::unexpected(nodes.error());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto& node = (*nodes)[i];
    if (!node || skipped_.contains(node->stat.czxid)) continue;
    fresh_.push_back({names[i], *tree::sequence_of(names[i]), node->stat,
                      tree::decode_request(node->data, decide::controller_features())});
  }
  return {};
}

std::set<std::string> AcceptanceExecutor::topics() const {
  std::set<std::string> out;
  for (const Fresh& f : fresh_)
    if (const auto* request = std::get_if<tree::Request>(&f.content))
      for (const auto& [topic, partitions] : request->assignments) out.insert(topic);
  return out;
}

bool AcceptanceExecutor::asks_for_health() const {
  return std::any_of(fresh_.begin(), fresh_.end(), [](const Fresh& f) {
    const auto* request = std::get_if<tree::Request>(&f.content);
    return request != nullptr && request->health_gate;
  });
}

Status AcceptanceExecutor::read_topics_being_deleted() {
  const auto children =
      c_.session.children(std::string(tree::kDeleteTopics), false, c_.clock.in(Leadership::kReadTimeout, c_.stop));
  if (!children) return tl::unexpected(children.error());
  c_.model.topics_being_deleted.clear();
  if (*children) c_.model.topics_being_deleted.insert((*children)->names.begin(), (*children)->names.end());
  return {};
}

Status AcceptanceExecutor::accept() {
  if (fresh_.empty()) return {};
  if (auto read = read_topics_being_deleted(); !read) return read;
  while (!fresh_.empty()) {
    const Fresh next = std::move(fresh_.front());
    fresh_.erase(fresh_.begin());
    if (auto done = accept_one(next); !done) return done;
  }
  return {};
}

Status AcceptanceExecutor::pass_over(const Fresh& fresh, const Error& error) {
  if (error.code != ErrorCode::kNotEmpty && error.code != ErrorCode::kUnauthorized) return tl::unexpected(error);
  log::warn("a request cannot be deleted and is passed over; remove what stands below it, or mend its ACL",
            {{"request", fresh.name}, {"error", error.text()}});
  skipped_.insert(fresh.stat.czxid);
  return {};
}

Status AcceptanceExecutor::remove_leftover(const Fresh& fresh) {
  const auto removed = c_.write({ZkDelete{tree::request(fresh.name), fresh.stat.version}});
  if (removed || removed.error().code == ErrorCode::kNotFound) return {};
  return pass_over(fresh, removed.error());
}

Status AcceptanceExecutor::accept_one(const Fresh& fresh) {
  const std::string name = tree::result_name(fresh.name, fresh.stat.czxid);
  decide::Acceptance acceptance;
  if (const auto* refusal = std::get_if<tree::RequestRefusal>(&fresh.content)) {
    acceptance.result.refused[refusal->reason] = {};
    acceptance.result.error = refusal->error;
    acceptance.result.received = rfc3339(c_.clock.now().wall);
    acceptance.result.done = true;
  } else {
    acceptance = decide::decide_acceptance(std::get<tree::Request>(fresh.content), c_.model, *c_.view);
  }
  tree::RequestResult& result = acceptance.result;
  result.request = fresh.name;
  result.czxid = tree::hex(fresh.stat.czxid);
  result.ctime = fresh.stat.ctime_ms;

  // The check: a client may have taken the request back, or changed it, since it was read.
  std::vector<ZkOp> ops{
      ZkCheck{tree::request(fresh.name), fresh.stat.version},
      ZkCreate{tree::result(name), tree::encode_result(result), ZkMode::kPersistent, ZkAcl::kCreatorAllWorldRead},
      ZkCreate{tree::originals(name), tree::encode_originals(acceptance.originals), ZkMode::kPersistent,
               ZkAcl::kCreatorAllWorldRead}};
  if (result.done) ops.push_back(ZkDelete{tree::request(fresh.name), fresh.stat.version});
  const auto written = c_.write(std::move(ops));
  if (!written) {
    const Error& error = written.error();
    if (error.op_index == 0 && error.code == ErrorCode::kNotFound) return {};  // taken back
    if (error.op_index == 1 && error.code == ErrorCode::kAlreadyExists) return remove_leftover(fresh);
    if (error.op_index == 3) return pass_over(fresh, error);
    return tl::unexpected(error);
  }
  c_.moved = true;
  log::info("request accepted", {{"request", fresh.name},
                                 {"czxid", result.czxid},
                                 {"client", result.client},
                                 {"partitions", result.partitions},
                                 {"refused", result.refused_count()},
                                 {"done", result.done},
                                 {"error", result.error}});
  for (const auto& [reason, partitions] : result.refused)
    c_.count_outcome("refused", static_cast<double>(std::max<std::size_t>(1, count(partitions))));
  if (result.done) return {};

  decide::AcceptedRequest accepted;
  accepted.name = fresh.name;
  accepted.sequence = fresh.sequence;
  accepted.in_inbox = true;
  accepted.request = std::get<tree::Request>(fresh.content);
  accepted.result = std::move(result);
  accepted.originals = std::move(acceptance.originals);
  accepted.waiting = decide::waiting_of(accepted, name, {});
  c_.model.requests.insert_or_assign(name, std::move(accepted));
  return {};
}

}  // namespace kro::execute
