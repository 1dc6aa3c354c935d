#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "adapters/kube/http_transport.h"
#include "base/time.h"

namespace kro {

// The slot between the HTTP library's threads and the one thread that waits for an answer.
//
// The library's side copies and signals, and never blocks: when the reader is slow, push() asks to be called again
// only after `resume` was called, which holds the connection back. Shared by both sides, so that a late callback
// finds it alive after the reader left.
class HttpExchange {
 public:
  // What the reader is told each time.
  enum class News { kHead, kBytes, kDone, kTimeout, kStopped };

  // --- the library's threads ---
  enum class Push { kGoOn, kPause, kAbandoned };
  void set_head(HttpHead head) noexcept;
  // kPause: the bytes were taken; the next push only after `resume` ran (once, on the reader's thread).
  Push push(std::string_view bytes, std::function<void()> resume);
  // Empty: the answer is whole.
  void finish(std::string failure) noexcept;

  // --- the reader ---
  // Waits for the head, bytes or the end, in that order. Bytes replace what `into` holds.
  News wait(MonoTime until, const std::stop_token& stop, std::string& into);
  // The reader leaves: later pushes are refused, a paused library goes on (and fails).
  void abandon();
  [[nodiscard]] HttpHead head() const;
  [[nodiscard]] std::string failure() const;

  static constexpr std::size_t kHighWater = 256 * 1024;

 private:
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::optional<HttpHead> head_;
  bool head_told_ = false;
  std::string bytes_;
  std::function<void()> resume_;
  bool done_ = false;
  bool abandoned_ = false;
  std::string failure_;
};

}  // namespace kro
