#include "adapters/kube/http_exchange.h"

#include <utility>

namespace kro {

void HttpExchange::set_head(HttpHead head) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    head_ = head;
  }
  changed_.notify_one();
}

HttpExchange::Push HttpExchange::push(std::string_view bytes, std::function<void()> resume) {
  Push out = Push::kGoOn;
  {
    const std::scoped_lock lock(mutex_);
    if (abandoned_) return Push::kAbandoned;
    bytes_.append(bytes);
    if (bytes_.size() > kHighWater) {
      resume_ = std::move(resume);
      out = Push::kPause;
    }
  }
  changed_.notify_one();
  return out;
}

void HttpExchange::finish(std::string failure) noexcept {
  {
    const std::scoped_lock lock(mutex_);
    if (done_) return;
    done_ = true;
    failure_ = std::move(failure);
  }
  changed_.notify_one();
}

HttpExchange::News HttpExchange::wait(MonoTime until, const std::stop_token& stop, std::string& into) {
  into.clear();
  // Room for a usual event stays; what one huge object needed goes back.
  if (into.capacity() > kHighWater) std::string().swap(into);
  std::function<void()> resume;
  {
    std::unique_lock lock(mutex_);
    const auto something = [this] { return (head_ && (!head_told_ || !bytes_.empty())) || done_; };
    if (!changed_.wait_until(lock, stop, until, something)) {
      return stop.stop_requested() ? News::kStopped : News::kTimeout;
    }
    if (head_ && !head_told_) {
      head_told_ = true;
      return News::kHead;
    }
    // Bytes may arrive before the head is told, and then the head may fail to: without one there is no answer.
    if (!head_ || bytes_.empty()) return News::kDone;
    into.swap(bytes_);
    resume = std::exchange(resume_, nullptr);
  }
  if (resume) resume();
  return News::kBytes;
}

void HttpExchange::abandon() {
  std::function<void()> resume;
  {
    const std::scoped_lock lock(mutex_);
    abandoned_ = true;
    resume = std::exchange(resume_, nullptr);
  }
  if (resume) resume();
}

HttpHead HttpExchange::head() const {
  const std::scoped_lock lock(mutex_);
  return head_.value_or(HttpHead{});
}

std::string HttpExchange::failure() const {
  const std::scoped_lock lock(mutex_);
  return failure_;
}

}  // namespace kro
