#include "runtime/backoff.h"

#include <algorithm>

namespace kro {

milliseconds backoff_pause(const BackoffPolicy& policy, int failures) {
  milliseconds pause = policy.first;
  for (int n = 1; n < failures && pause < policy.most; ++n) pause *= 2;
  return std::min(pause, policy.most);
}

milliseconds jittered(milliseconds pause, double share, double random01) {
  const double stretch = static_cast<double>(pause.count()) * share * std::clamp(random01, 0.0, 1.0);
  return pause + milliseconds(static_cast<milliseconds::rep>(stretch));
}

void KeyedBackoff::forget(std::string_view key) {
  const auto at = failures_.find(key);
  if (at != failures_.end()) failures_.erase(at);
}

int KeyedBackoff::failures(std::string_view key) const {
  const auto at = failures_.find(key);
  return at == failures_.end() ? 0 : at->second;
}

}  // namespace kro
