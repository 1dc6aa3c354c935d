#pragma once

#include <memory>

#include "ports/zk_session.h"

namespace kro {

// Sessions on the ZooKeeper C client (plain TCP; TLS is a matter of what stands between, docs/adr).
//
// open() resolves the host names, so it may block for a DNS time-out; kUnavailable/Transient when none resolves.
// Each session has three threads (two of the library, one that times suspensions). close() takes at most 5 s. A
// session must not be closed from its own event sink.
std::unique_ptr<ZkConnector> make_zk_connector();

}  // namespace kro
