#include "decide/kafka_view.h"

#include <charconv>

namespace kro::decide {

std::size_t KafkaView::min_insync(std::string_view topic) const {
  const auto config = configs.find(topic);
  if (config == configs.end()) return 1;
  const auto value = config->second.find("min.insync.replicas");
  if (value == config->second.end()) return 1;
  std::size_t n = 1;
  const std::string& text = value->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && end == text.data() + text.size() ? n : 1;
}

}  // namespace kro::decide
