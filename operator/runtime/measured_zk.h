#pragma once

#include <memory>
#include <string>

#include "ports/clock.h"
#include "ports/metrics.h"
#include "ports/zk_session.h"

namespace kro {

// A session that counts its failures and times its calls.
std::unique_ptr<ZkSession> measured(std::unique_ptr<ZkSession> inner, Metrics& metrics, const Clock& clock,
                                    std::string cluster);

}  // namespace kro
