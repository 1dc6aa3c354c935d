#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace kro {

// The part of a Lease (coordination.k8s.io/v1) that leader election reads and writes. Times stay text: nobody
// compares clocks of two machines.
struct LeaseRecord {
  std::string holder;  // empty: nobody
  std::int64_t duration_s = 0;
  std::int64_t transitions = 0;
  std::string acquire_time;
  std::string renew_time;
  std::string resource_version;  // empty in a Lease that is to be created

  bool operator==(const LeaseRecord&) const = default;
};

// kProtocol/Transient: not a Lease.
Result<LeaseRecord> decode_lease(std::string_view json);
std::string encode_lease(const std::string& ns, const std::string& name, const LeaseRecord& record);

}  // namespace kro
