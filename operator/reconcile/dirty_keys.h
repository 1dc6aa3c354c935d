#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/backoff.h"
#include "runtime/work_figures.h"

namespace kro::reconcile {

// Keys that are to be looked at: each once, however often it is marked, and those that failed only after a pause of
// their own that doubles. Which are taken first is the passes' matter (ADR 0010), so this has no order of its own.
//
//   mark ─▶ due ─▶ done
//            ▲ └─▶ again                    looked at, and to be looked at once more
//            └──── paused ◀── failed        mark() does not end a pause, succeeded() does
//
// Tells the figures of its controller. One thread.
class DirtyKeys {
 public:
  DirtyKeys(WorkFigures& figures, const Clock& clock) : figures_(figures), clock_(clock) {}
  ~DirtyKeys() { clear(); }
  DirtyKeys(const DirtyKeys&) = delete;
  DirtyKeys& operator=(const DirtyKeys&) = delete;

  void mark(const std::string& key);
  void done(const std::string& key);
  // Done with this look; stays marked. After a failure the wait begins with the end of the pause.
  void again(const std::string& key);
  void failed(const std::string& key, MonoTime now);
  void succeeded(const std::string& key);
  // The key will not come again.
  void forget(const std::string& key);
  void clear();

  [[nodiscard]] std::vector<std::string> due(MonoTime now) const;
  [[nodiscard]] bool any_due(MonoTime now) const;
  [[nodiscard]] bool paused(const std::string& key, MonoTime now) const;
  // When the next pause ends.
  [[nodiscard]] MonoTime next_due(MonoTime now) const;
  // How long a marked key has been due.
  [[nodiscard]] milliseconds waited(const std::string& key, MonoTime now) const;

 private:
  WorkFigures& figures_;
  const Clock& clock_;
  std::map<std::string, MonoTime> marked_;  // since
  std::map<std::string, MonoTime> pauses_;  // until
  KeyedBackoff backoff_;
};

}  // namespace kro::reconcile
