#pragma once

#include <functional>
#include <map>
#include <string>

#include "reconcile/cluster_inbox.h"
#include "runtime/reflector.h"

namespace kro::reconcile {

// Reads what a reflector shows, once, on the reflector's thread, and hands it to the worker of its cluster: a compact
// struct of what is active, a few words of what has finished. Objects of clusters that are not configured go to the
// worker named "". clusterRef cannot change, so an object never moves.
class Router final : public ReflectorSink {
 public:
  // `ns`: the namespace that is watched, empty for all. Inboxes by cluster name, "" included; they outlive the router.
  Router(Kind kind, std::string ns, std::map<std::string, ClusterInbox*> inboxes, std::function<void()> on_listed);

  void upsert(std::string_view object_json) override;
  void remove(std::string_view object_json) override;
  void begin_list() override;
  void end_list() override;

 private:
  ClusterInbox& inbox(const std::string& cluster);

  const Kind kind_;
  const std::string ns_;
  const std::map<std::string, ClusterInbox*> inboxes_;
  const std::function<void()> on_listed_;
};

}  // namespace kro::reconcile
