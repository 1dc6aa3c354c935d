#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "ports/clock.h"
#include "ports/kube_api.h"
#include "runtime/reflector_fsm.h"
#include "runtime/step_thread.h"

namespace kro {

// What a reflector keeps up to date. Called on the reflector's thread, in order; slow calls hold the server back.
// The texts are valid during the call.
//
// Between begin_list and end_list every object that exists is upserted; end_list means that all others are gone.
// begin_list may come again without end_list: the first listing broke, forget what it showed as seen.
class ReflectorSink {
 public:
  virtual ~ReflectorSink() = default;
  virtual void upsert(std::string_view object_json) = 0;
  virtual void remove(std::string_view object_json) = 0;
  virtual void begin_list() = 0;
  virtual void end_list() = 0;
};

struct ReflectorHealth {
  bool connected = false;   // the server has accepted the watch that is open now
  bool synced = false;      // a whole list was shown at least once
  MonoTime last_contact{};  // the server's last sign of life
  std::string problem;      // why not connected; empty when it is, or was never tried
};

struct ReflectorConfig {
  KubeResource resource;
  std::string ns;  // empty: all namespaces
};

// Mirrors one resource type into a sink, for ever, through every failure.
//
// One step is one watch from start to end. All decisions are in ReflectorFsm; see there for states and pauses.
class Reflector {
 public:
  // `health` is called on the reflector's thread at every change and every bookmark; it must not block.
  // `random01` gives numbers in [0, 1).
  Reflector(KubeApi& api, ReflectorConfig config, ReflectorSink& sink, const Clock& clock,
            std::function<double()> random01, std::function<void(const ReflectorHealth&)> health);

  // Watches until the watch ends; returns the pause before the next step.
  milliseconds step(const std::stop_token& stop);

  [[nodiscard]] const ReflectorHealth& health() const { return health_; }

 private:
  bool on_event(const KubeWatchEvent& event);
  void tell_health();

  KubeApi& api_;
  ReflectorConfig config_;
  ReflectorSink& sink_;
  const Clock& clock_;
  std::function<double()> random01_;
  std::function<void(const ReflectorHealth&)> on_health_;
  ReflectorFsm fsm_;
  ReflectorHealth health_;
};

// A reflector on a thread of its own. Stops and joins when destroyed.
class ReflectorThread {
 public:
  explicit ReflectorThread(std::unique_ptr<Reflector> reflector)
      : reflector_(std::move(reflector)),
        thread_("reflector", [r = reflector_.get()](const std::stop_token& stop) { return r->step(stop); }) {}

  void request_stop() { thread_.request_stop(); }

 private:
  std::unique_ptr<Reflector> reflector_;
  StepThread thread_;
};

}  // namespace kro
