#pragma once

#include <array>
#include <cstddef>

#include "ports/zk_session.h"

namespace kro::zk {

// What happens to a session.
enum class Signal {
  kUp,       // connected, or connected again with the same session
  kDown,     // the connection is lost
  kExpired,  // the server said that the session is gone
  kRefused,  // credentials refused
  kOverdue,  // suspended for longer than 4/3 of the negotiated time-out
  kClose,    // we end it
};

//                  kUp               kDown
//   Connecting ──────────▶ Connected ─────▶ Suspended ── kOverdue ─▶ Expired
//        │                     ▲                │
//        │                     └────── kUp ─────┘
//   every state above: kExpired ─▶ Expired, kRefused ─▶ AuthFailed; every state: kClose ─▶ Closed
//
// Races: kUp after kOverdue is ignored (whoever was told "expired" has already acted on it); kDown while connecting
// is nothing new; after Expired, AuthFailed and Closed nothing the library says counts any more.
inline constexpr std::array<std::array<ZkState, 6>, 6> kTransitions = {{
    // kUp, kDown, kExpired, kRefused, kOverdue, kClose
    {ZkState::kConnected, ZkState::kConnecting, ZkState::kExpired, ZkState::kAuthFailed, ZkState::kConnecting,
     ZkState::kClosed},  // kConnecting
    {ZkState::kConnected, ZkState::kSuspended, ZkState::kExpired, ZkState::kAuthFailed, ZkState::kConnected,
     ZkState::kClosed},  // kConnected
    {ZkState::kConnected, ZkState::kSuspended, ZkState::kExpired, ZkState::kAuthFailed, ZkState::kExpired,
     ZkState::kClosed},  // kSuspended
    {ZkState::kExpired, ZkState::kExpired, ZkState::kExpired, ZkState::kExpired, ZkState::kExpired,
     ZkState::kClosed},  // kExpired
    {ZkState::kAuthFailed, ZkState::kAuthFailed, ZkState::kAuthFailed, ZkState::kAuthFailed, ZkState::kAuthFailed,
     ZkState::kClosed},  // kAuthFailed
    {ZkState::kClosed, ZkState::kClosed, ZkState::kClosed, ZkState::kClosed, ZkState::kClosed,
     ZkState::kClosed},  // kClosed
}};

constexpr ZkState next_state(ZkState state, Signal signal) {
  return kTransitions[static_cast<std::size_t>(state)][static_cast<std::size_t>(signal)];
}

// No way back from the ends.
static_assert(next_state(ZkState::kExpired, Signal::kUp) == ZkState::kExpired);
static_assert(next_state(ZkState::kAuthFailed, Signal::kUp) == ZkState::kAuthFailed);
static_assert(next_state(ZkState::kClosed, Signal::kExpired) == ZkState::kClosed);
static_assert(next_state(ZkState::kSuspended, Signal::kOverdue) == ZkState::kExpired);
static_assert(next_state(ZkState::kConnecting, Signal::kOverdue) == ZkState::kConnecting);

}  // namespace kro::zk
