#include "domain/drop_set.h"

#include <algorithm>

namespace kro {
namespace {

void append_if(ReplicaList& out, const ReplicaList& from, const auto& wanted) {
  for (const BrokerId id : from)
    if (wanted(id) && !contains(out, id)) out.push_back(id);
}

}  // namespace

ReplicaList drop_set(const ChangeInFlight& c) {
  const auto in_isr = [&](BrokerId id) { return contains(c.isr, id); };
  const auto all = [](BrokerId) { return true; };
  const auto assigned_now = [&](BrokerId id) { return contains(c.assigned, id); };

  ReplicaList existing;
  if (c.leader >= 0) existing.push_back(c.leader);
  append_if(existing, c.originals, [&](BrokerId id) { return in_isr(id) && assigned_now(id); });
  append_if(existing, c.assigned, in_isr);
  append_if(existing, c.originals, assigned_now);
  append_if(existing, c.assigned, all);
  existing.resize(std::min(existing.size(), c.top));
  return without(without(c.assigned, c.target), existing);
}

ReplicaList keep_set(const ChangeInFlight& c) {
  return without(without(without(c.assigned, c.target), c.originals), drop_set(c));
}

}  // namespace kro
