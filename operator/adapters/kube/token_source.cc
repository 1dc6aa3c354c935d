#include "adapters/kube/token_source.h"

#include <fstream>
#include <iterator>

#include "base/log.h"

namespace kro {
namespace {
constexpr auto kReadAgainAfter = 60s;
}

std::string TokenSource::get(MonoTime now) {
  const std::scoped_lock lock(mutex_);
  if (!file_.empty() && (!read_once_ || now - read_at_ >= kReadAgainAfter)) read(now);
  return token_;
}

bool TokenSource::renew(const std::string& refused, MonoTime now) {
  const std::scoped_lock lock(mutex_);
  if (file_.empty()) return false;
  read(now);
  return token_ != refused;
}

void TokenSource::read(MonoTime now) {
  read_once_ = true;
  read_at_ = now;
  std::ifstream in(file_, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();
  if (text.empty()) {
    log::warn("cannot read the API server token", {{"file", file_}});
    return;
  }
  token_ = std::move(text);
}

}  // namespace kro
