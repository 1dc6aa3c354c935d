#include "reconcile/cluster_context.h"

#include "base/log.h"

namespace kro::reconcile {

KubeResource resource_of(Kind kind) {
  return {std::string(api::kGroup), std::string(api::kVersion),
          std::string(kind == Kind::kReassignment ? api::kReassignmentPlural : api::kCancelPlural)};
}

std::string_view kind_name(Kind kind) {
  return kind == Kind::kReassignment ? "KafkaReassignment" : "KafkaReassignmentCancel";
}

std::string key_of(Kind kind, const api::ObjectMeta& meta) {
  return std::string(kind_name(kind)) + "/" + meta.ns + "/" + meta.name;
}

bool ClusterContext::usable(const Error& error) {
  switch (error.code) {
    case ErrorCode::kFenced:
      deps.metrics.add("kafka_reassignment_zk_fenced_writes_total", {{"kafka_cluster", cluster}});
      log::error("another operator took over, nothing more is written",
                 {{"kafka_cluster", cluster}, {"error", error.text()}});
      leading = false;
      writing = false;
      zk = nullptr;
      deps.on_deposed();
      return false;
    case ErrorCode::kUnavailable:
    case ErrorCode::kTimeout:
    case ErrorCode::kGone:
    case ErrorCode::kCancelled:
      log::warn("ZooKeeper does not answer", {{"kafka_cluster", cluster}, {"error", error.text()}});
      return false;
    default: return true;
  }
}

void ClusterContext::submit_status(Kind kind, const api::ObjectMeta& meta, std::string json) {
  StatusWrite write;
  write.resource = resource_of(kind);
  write.name = {meta.ns, meta.name};
  write.resource_version = meta.resource_version;
  write.status_json = std::move(json);
  write.done = [box = inbox, metrics = &deps.metrics, kind, uid = meta.uid](Result<KubeMeta> answer) {
    const std::string_view result = answer                                       ? "success"
                                    : answer.error().code == ErrorCode::kVersion ? "conflict"
                                                                                 : "error";
    metrics->add("kafka_reassignment_status_writes_total",
                 {{"kind", std::string(kind_name(kind))}, {"result", std::string(result)}});
    box->post(StatusWritten{kind, uid, std::move(answer)});
  };
  deps.write_status(key_of(kind, meta), std::move(write));
}

void ClusterContext::tell(Kind kind, const api::ObjectMeta& meta, const std::vector<decide::Note>& notes) {
  for (const decide::Note& note : notes) {
    EventNote out;
    out.regarding = {std::string(api::kGroup) + "/" + std::string(api::kVersion),
                     std::string(kind_name(kind)),
                     {meta.ns, meta.name},
                     meta.uid};
    out.warning = note.warning;
    out.reason = note.reason;
    out.action = "Reconcile";
    out.note = note.text;
    deps.record(out);
  }
}

}  // namespace kro::reconcile
