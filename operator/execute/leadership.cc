#include "execute/leadership.h"

#include "base/log.h"
#include "tree/paths.h"

namespace kro::execute {
namespace {

bool op_failed_with(const Error& error, int index, ErrorCode code) {
  return error.op_index == index && error.code == code;
}

}  // namespace

Status Leadership::ensure_roots(const std::string& chroot_hint, std::stop_token stop) {
  for (const std::string_view path : {tree::kAdmin, tree::kRequests, tree::kReassignments, tree::kResults,
                                      tree::kControllerEpoch, tree::kControllerCall}) {
    const std::string name(path);
    const auto node = session_.get(name, false, clock_.in(kReadTimeout, stop));
    if (!node) return tl::unexpected(node.error());
    if (*node) continue;
    const bool results = path == tree::kResults;
    std::vector<ZkOp> create{ZkCreate{name, path == tree::kControllerEpoch ? "0" : "", ZkMode::kPersistent,
                                      results ? ZkAcl::kCreatorAllWorldRead : ZkAcl::kLikeKafka}};
    const auto made =
        leading_ ? write(std::move(create), stop) : session_.multi(create, clock_.in(kWriteTimeout, stop));
    if (made || made.error().code == ErrorCode::kAlreadyExists) continue;
    if (made.error().code == ErrorCode::kNotFound && path == tree::kAdmin)
      return fail(ErrorCode::kNotFound, Retry::kTransient,
                  "the chroot \"" + chroot_hint + "\" does not exist in ZooKeeper: check --zookeeper");
    return tl::unexpected(made.error());
  }
  return {};
}

Result<bool> Leadership::campaign(tree::ControllerNode node, std::stop_token stop) {
  if (leading_) return true;
  const auto present = session_.get(std::string(tree::kController), true, clock_.in(kReadTimeout, stop));
  if (!present) return tl::unexpected(present.error());
  if (*present && (*present)->stat.ephemeral_owner != session_.session_id()) return false;

  const auto epoch_node = session_.get(std::string(tree::kControllerEpoch), false, clock_.in(kReadTimeout, stop));
  if (!epoch_node) return tl::unexpected(epoch_node.error());
  if (!*epoch_node) return fail(ErrorCode::kNotFound, Retry::kTransient, "the epoch node has gone");
  const auto last = tree::decode_epoch((*epoch_node)->data);
  if (!last) return pass_on(last.error(), std::string(tree::kControllerEpoch));

  node.epoch = *last + 1;
  std::vector<ZkOp> ops{
      ZkSet{std::string(tree::kControllerEpoch), std::to_string(node.epoch), (*epoch_node)->stat.version},
      ZkCreate{std::string(tree::kController), tree::encode_controller(node), ZkMode::kEphemeral}};
  // A lost answer of an earlier try of this session left the node: it is ours, made anew with the new epoch.
  if (*present) ops.insert(ops.begin(), ZkDelete{std::string(tree::kController), (*present)->stat.version});
  const auto won = session_.multi(ops, clock_.in(kWriteTimeout, stop));
  if (!won) {
    const ErrorCode code = won.error().code;
    if (code == ErrorCode::kAlreadyExists || code == ErrorCode::kVersion) return false;
    return tl::unexpected(won.error());
  }
  epoch_ = node.epoch;
  epoch_version_ = (*epoch_node)->stat.version + 1;
  epoch_czxid_ = (*epoch_node)->stat.czxid;
  leading_ = true;
  return true;
}

Status Leadership::confirm(std::stop_token stop) {
  const auto epoch_node = session_.get(std::string(tree::kControllerEpoch), false, clock_.in(kReadTimeout, stop));
  if (!epoch_node) return tl::unexpected(epoch_node.error());
  if (*epoch_node && (*epoch_node)->stat.czxid == epoch_czxid_ && (*epoch_node)->stat.version == epoch_version_)
    return {};
  leading_ = false;
  return fail(ErrorCode::kFenced, Retry::kConflict, "another controller has taken the epoch");
}

Result<std::vector<ZkOpResult>> Leadership::write(std::vector<ZkOp> ops, std::stop_token stop) {
  if (!leading_) return fail(ErrorCode::kFenced, Retry::kConflict, "this controller does not lead");
  ops.insert(ops.begin(), ZkCheck{std::string(tree::kControllerEpoch), epoch_version_});
  auto written = session_.multi(ops, clock_.in(kWriteTimeout, stop));
  if (written) {
    written->erase(written->begin());
    return written;
  }
  Error error = std::move(written.error());
  const bool fenced = op_failed_with(error, 0, ErrorCode::kVersion) || op_failed_with(error, 0, ErrorCode::kNotFound);
  if (fenced || error.code == ErrorCode::kGone) {
    leading_ = false;
    if (fenced) return fail(ErrorCode::kFenced, Retry::kConflict, "another controller has taken the epoch");
  }
  if (error.op_index) --*error.op_index;
  return tl::unexpected(std::move(error));
}

}  // namespace kro::execute
