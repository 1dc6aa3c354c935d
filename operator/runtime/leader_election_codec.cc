#include "runtime/leader_election_codec.h"

#include <nlohmann/json.hpp>

namespace kro {
namespace {

using nlohmann::json;

std::string text(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

std::int64_t number(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_number_integer() ? it->get<std::int64_t>() : 0;
}

}  // namespace

Result<LeaseRecord> decode_lease(std::string_view lease_json) {
  const auto lease = json::parse(lease_json, nullptr, false);
  if (!lease.is_object() || !lease.contains("metadata") || !lease["metadata"].is_object()) {
    return fail(ErrorCode::kProtocol, Retry::kTransient, "not a Lease");
  }
  LeaseRecord out;
  out.resource_version = text(lease["metadata"], "resourceVersion");
  if (const auto spec = lease.find("spec"); spec != lease.end() && spec->is_object()) {
    out.holder = text(*spec, "holderIdentity");
    out.duration_s = number(*spec, "leaseDurationSeconds");
    out.transitions = number(*spec, "leaseTransitions");
    out.acquire_time = text(*spec, "acquireTime");
    out.renew_time = text(*spec, "renewTime");
  }
  return out;
}

std::string encode_lease(const std::string& ns, const std::string& name, const LeaseRecord& record) {
  json metadata = {{"name", name}, {"namespace", ns}};
  if (!record.resource_version.empty()) metadata["resourceVersion"] = record.resource_version;
  const json lease = {{"apiVersion", "coordination.k8s.io/v1"},
                      {"kind", "Lease"},
                      {"metadata", metadata},
                      {"spec",
                       {{"holderIdentity", record.holder},
                        {"leaseDurationSeconds", record.duration_s},
                        {"leaseTransitions", record.transitions},
                        {"acquireTime", record.acquire_time},
                        {"renewTime", record.renew_time}}}};
  return lease.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace kro
