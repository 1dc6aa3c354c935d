#include "runtime/reflector.h"

#include <utility>

#include "base/log.h"

namespace kro {

Reflector::Reflector(KubeApi& api, ReflectorConfig config, ReflectorSink& sink, const Clock& clock,
                     std::function<double()> random01, std::function<void(const ReflectorHealth&)> health)
    : api_(api),
      config_(std::move(config)),
      sink_(sink),
      clock_(clock),
      random01_(std::move(random01)),
      on_health_(std::move(health)) {}

milliseconds Reflector::step(const std::stop_token& stop) {
  const auto options = fsm_.next_watch(config_.ns, random01_(), clock_.now().mono);
  const Status outcome = api_.watch(
      config_.resource, options, [this](const KubeWatchEvent& event) { return on_event(event); }, stop);
  if (stop.stop_requested()) return 0ms;

  const bool was_watching = fsm_.state() == ReflectorFsm::State::kWatching;
  const milliseconds pause = fsm_.on_end(outcome, random01_(), clock_.now().mono);
  if (was_watching && fsm_.state() == ReflectorFsm::State::kEmpty) {
    log::info("listing again", {{"resource", config_.resource.plural},
                                {"cause", outcome ? std::string("the watch was silent") : outcome.error().text()}});
  }
  // A watch that ended by time-out is followed by the next one at once: no change of health.
  if (!outcome && outcome.error().code != ErrorCode::kGone) {
    if (health_.connected || health_.problem.empty()) {
      log::warn(
          "the API server's watch failed",
          {{"resource", config_.resource.plural}, {"error", outcome.error().text()}, {"pause_ms", pause.count()}});
    }
    health_.connected = false;
    health_.problem = outcome.error().text();
    tell_health();
  }
  return pause;
}

bool Reflector::on_event(const KubeWatchEvent& event) {
  using Type = KubeWatchEvent::Type;
  using Tell = ReflectorFsm::Tell;
  health_.last_contact = clock_.now().mono;
  const Tell tell = fsm_.on_event(event);
  switch (tell) {
    case Tell::kUpsert: sink_.upsert(event.object); break;
    case Tell::kRemove: sink_.remove(event.object); break;
    case Tell::kBegin: sink_.begin_list(); break;
    case Tell::kEnd: sink_.end_list(); break;
    case Tell::kNothing: break;
  }
  if (event.type == Type::kOpened) {
    if (!health_.problem.empty()) log::info("the API server answers again", {{"resource", config_.resource.plural}});
    health_.connected = true;
    health_.problem.clear();
  }
  health_.synced = fsm_.synced();
  if (event.type == Type::kOpened || event.type == Type::kBookmark || tell == Tell::kEnd) tell_health();
  return true;
}

void Reflector::tell_health() {
  if (on_health_) on_health_(health_);
}

}  // namespace kro
