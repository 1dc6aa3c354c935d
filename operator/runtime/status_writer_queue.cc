#include "runtime/status_writer_queue.h"

#include <utility>

#include "base/assert.h"

namespace kro {

std::optional<StatusWrite> StatusWriterQueue::submit(const std::string& key, StatusWrite write) {
  Key& entry = keys_[key];
  auto replaced = std::exchange(entry.next, std::move(write));
  if (!replaced && !entry.in_flight) ready_.push_back(key);
  return replaced;
}

std::optional<StatusWriterQueue::Work> StatusWriterQueue::take() {
  if (ready_.empty()) return std::nullopt;
  Work out;
  out.key = std::move(ready_.front());
  ready_.pop_front();
  Key& entry = keys_.at(out.key);
  KRO_ASSERT(entry.next.has_value() && !entry.in_flight);
  out.write = std::move(*std::exchange(entry.next, std::nullopt));
  entry.in_flight = true;
  return out;
}

void StatusWriterQueue::finish(const std::string& key, const std::string& based_on, const Result<KubeMeta>& outcome) {
  const auto it = keys_.find(key);
  KRO_ASSERT(it != keys_.end() && it->second.in_flight);
  Key& entry = it->second;
  entry.in_flight = false;
  if (!entry.next) {
    keys_.erase(it);
    return;
  }
  if (outcome && entry.next->resource_version == based_on) entry.next->resource_version = outcome->resource_version;
  ready_.push_back(key);
}

std::vector<StatusWrite> StatusWriterQueue::clear() {
  std::vector<StatusWrite> out;
  ready_.clear();
  for (auto it = keys_.begin(); it != keys_.end();) {
    if (it->second.next) out.push_back(std::move(*std::exchange(it->second.next, std::nullopt)));
    it = it->second.in_flight ? std::next(it) : keys_.erase(it);
  }
  return out;
}

std::size_t StatusWriterQueue::waiting() const {
  std::size_t out = 0;
  for (const auto& [key, entry] : keys_) out += entry.next ? 1U : 0U;
  return out;
}

}  // namespace kro
