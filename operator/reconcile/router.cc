#include "reconcile/router.h"

#include "api/cancel_codec.h"
#include "api/reassignment_codec.h"
#include "base/assert.h"
#include "base/log.h"
#include "reconcile/cluster_context.h"
#include "reconcile/ledger_store.h"

namespace kro::reconcile {
namespace {

FinishedSeen finished_seen(const api::KafkaReassignment& cr) {
  FinishedSeen out;
  out.uid = cr.meta.uid;
  out.record.ns = cr.meta.ns;
  out.record.name = cr.meta.name;
  out.record.generation = cr.meta.generation;
  out.record.succeeded = cr.status.phase == api::phase::kSucceeded;
  if (!out.record.succeeded) out.record.phase = cr.status.phase;
  out.record.completed = parse_rfc3339(cr.status.completion).value_or(WallTime{});
  return out;
}

void unreadable(Kind kind, const Error& error) {
  log::error("an object of the API server cannot be read", {{"kind", kind_name(kind)}, {"error", error.text()}});
}

}  // namespace

Router::Router(Kind kind, std::string ns, std::map<std::string, ClusterInbox*> inboxes, std::function<void()> on_listed)
    : kind_(kind), ns_(std::move(ns)), inboxes_(std::move(inboxes)), on_listed_(std::move(on_listed)) {
  KRO_ASSERT(inboxes_.contains(""));
}

ClusterInbox& Router::inbox(const std::string& cluster) {
  const auto it = inboxes_.find(cluster);
  return it == inboxes_.end() ? *inboxes_.at("") : *it->second;
}

void Router::upsert(std::string_view object_json) {
  if (kind_ == Kind::kCancel) {
    auto cr = api::decode_cancel(object_json);
    if (!cr) return unreadable(kind_, cr.error());
    ClusterInbox& to = inbox(cr->spec.cluster);
    to.post(CancelSeen{std::make_unique<api::KafkaReassignmentCancel>(std::move(*cr))});
    return;
  }
  auto cr = api::decode_reassignment(object_json);
  if (!cr) return unreadable(kind_, cr.error());
  if (!valid_uid(cr->meta.uid)) return unreadable(kind_, invalid("uid " + cr->meta.uid).value());
  ClusterInbox& to = inbox(cr->spec.cluster);
  if (cr->finished())
    to.post(finished_seen(*cr));
  else
    to.post(ReassignmentSeen{std::make_unique<api::KafkaReassignment>(std::move(*cr))});
}

void Router::remove(std::string_view object_json) {
  if (kind_ == Kind::kCancel) {
    const auto cr = api::decode_cancel(object_json);
    if (!cr) return unreadable(kind_, cr.error());
    return inbox(cr->spec.cluster).post(Removed{kind_, cr->meta.uid});
  }
  const auto cr = api::decode_reassignment(object_json);
  if (!cr) return unreadable(kind_, cr.error());
  inbox(cr->spec.cluster).post(Removed{kind_, cr->meta.uid});
}

void Router::begin_list() {
  for (const auto& [cluster, inbox] : inboxes_) inbox->post(ListBegins{kind_, ns_});
}

void Router::end_list() {
  for (const auto& [cluster, inbox] : inboxes_) inbox->post(ListEnds{kind_, ns_});
  on_listed_();
}

}  // namespace kro::reconcile
