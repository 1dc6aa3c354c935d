#pragma once

#include <set>
#include <string>

#include "execute/controller_context.h"

namespace kro::execute {

// The inbox: every request is accepted once, in sequence order, and all that are present before anything of theirs is
// started (znodes.md 4.2). Rubbish never blocks it.
class AcceptanceExecutor {
 public:
  explicit AcceptanceExecutor(ControllerContext& context) : c_(context) {}

  // Reads the inbox (arming its watch) and remembers the requests that have no result yet.
  Status scan();
  [[nodiscard]] bool pending() const { return !fresh_.empty(); }
  [[nodiscard]] std::set<std::string> topics() const;  // of the requests to be accepted
  // One of them starts only while the whole cluster is healthy.
  [[nodiscard]] bool asks_for_health() const;
  // Decides them all with context.view, which was read after scan().
  Status accept();

 private:
  struct Fresh {
    std::string name;
    std::int32_t sequence = 0;
    ZkStat stat;
    std::variant<tree::Request, tree::RequestRefusal> content;
  };
  Status accept_one(const Fresh& fresh);
  // Its result is done, and only the request could not be deleted with it.
  Status remove_leftover(const Fresh& fresh);
  Status pass_over(const Fresh& fresh, const Error& error);
  Status read_topics_being_deleted();

  ControllerContext& c_;
  std::vector<Fresh> fresh_;
  std::set<std::int64_t> skipped_;  // czxids of requests that cannot be read or deleted
};

}  // namespace kro::execute
