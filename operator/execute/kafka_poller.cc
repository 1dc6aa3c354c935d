#include "execute/kafka_poller.h"

namespace kro::execute {

std::set<std::string> topics_of_interest(const decide::ControllerModel& model) {
  std::set<std::string> out;
  for (const auto& [tp, episode] : model.in_flight) out.insert(tp.topic);
  for (const auto& [name, request] : model.requests)
    for (const auto& [topic, partitions] : request.waiting) out.insert(topic);
  for (const auto& [name, cancel] : model.cancels)
    if (!cancel.result.done)
      for (const auto& [topic, partitions] : cancel.originals.originals) out.insert(topic);
  return out;
}

Result<decide::KafkaView> poll_kafka(ControllerContext& c, const std::set<std::string>& topics, bool all_topics,
                                     bool configs) {
  decide::KafkaView view;
  view.begun = c.clock.now();
  auto before = c.kafka.list_reassignments(c.clock.in(kKafkaReadTimeout, c.stop));
  if (!before) return pass_on(before.error(), "ListPartitionReassignments");
  view.before = std::move(*before);
  c.beat();

  std::optional<std::vector<std::string>> names;
  if (!all_topics) {
    std::set<std::string> all = topics;
    for (const auto& [tp, row] : view.before) all.insert(tp.topic);  // foreign moves: their lists matter too
    names.emplace(all.begin(), all.end());
  }
  auto metadata = c.kafka.metadata(names, c.clock.in(kKafkaReadTimeout, c.stop));
  if (!metadata) return pass_on(metadata.error(), "Metadata");
  view.metadata = std::move(*metadata);
  c.beat();
  view.all_topics = all_topics;

  auto after = c.kafka.list_reassignments(c.clock.in(kKafkaReadTimeout, c.stop));
  if (!after) return pass_on(after.error(), "ListPartitionReassignments");
  view.after = std::move(*after);
  c.beat();

  if (configs) {
    std::vector<std::string> known;
    for (const std::string& name : topics)
      if (const auto t = view.metadata.topics.find(name); t != view.metadata.topics.end() && t->second.error == 0)
        known.push_back(name);
    for (const auto& [tp, row] : view.after)
      if (!topics.contains(tp.topic)) known.push_back(tp.topic);
    if (!known.empty()) {
      auto read = c.kafka.topic_configs(known, {"min.insync.replicas"}, c.clock.in(kKafkaReadTimeout, c.stop));
      if (!read) return pass_on(read.error(), "DescribeConfigs");
      view.configs = std::move(*read);
    }
  }
  const auto took = std::chrono::duration<double>(c.clock.now().mono - view.begun.mono).count();
  c.metrics.observe("kafka_reassignment_controller_poll_duration_seconds", {{"kafka_cluster", c.options.cluster_name}},
                    took);
  return view;
}

}  // namespace kro::execute
