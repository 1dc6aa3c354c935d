#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace kro::reconcile {

// Which listing last showed an object, so that the end of a listing tells what is gone. One listing for all
// namespaces, or one each for those that are watched.
class ListRounds {
 public:
  explicit ListRounds(std::size_t watched_namespaces) : wanted_(watched_namespaces == 0 ? 1 : watched_namespaces) {}

  void begin(const std::string& ns) { ++rounds_[ns]; }
  void end(const std::string& ns) { ended_.insert(ns); }
  // Every listing was shown to its end at least once.
  [[nodiscard]] bool synced() const { return ended_.size() >= wanted_; }
  // What an object of this namespace that is shown now is marked with.
  [[nodiscard]] std::uint32_t current(const std::string& ns) const {
    const auto own = rounds_.find(ns);
    if (own != rounds_.end()) return own->second;
    const auto all = rounds_.find("");
    return all == rounds_.end() ? 0 : all->second;
  }
  // Whether the listing of `listed` that has just ended would have shown an object of `ns`, and did not.
  [[nodiscard]] bool missed(const std::string& listed, const std::string& ns, std::uint32_t round) const {
    return (listed.empty() || listed == ns) && round != current(ns);
  }

 private:
  std::size_t wanted_;
  std::map<std::string, std::uint32_t> rounds_;
  std::set<std::string> ended_;
};

}  // namespace kro::reconcile
