#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "ports/zk_session.h"

namespace kro {

// What every ZkSession refuses before anything is sent: one copy, so that the fake refuses what the adapter refuses.

namespace zk_rules {

inline const std::string& path_of(const ZkOp& op) {
  return std::visit([](const auto& typed) -> const std::string& { return typed.path; }, op);
}

inline bool is_sequential(const ZkOp& op) {
  const auto* create = std::get_if<ZkCreate>(&op);
  return create != nullptr && create->mode == ZkMode::kPersistentSequential;
}

// ZooKeeper's own rules (PathUtils.validatePath): absolute, no empty, "." or ".." part, no control characters, no
// slash at the end. Of a sequential create the last part is only a prefix and may be anything, also empty.
inline bool valid_path(std::string_view path, bool sequential = false) {
  if (path.empty() || path.front() != '/') return false;
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(path.begin(), path.end(), control)) return false;
  if (path == "/") return true;
  std::size_t begin = 1;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    const bool only_prefix = sequential && end == path.size();
    if (!only_prefix && (part.empty() || part == "." || part == "..")) return false;
    begin = end + 1;
  }
  return true;
}

inline Status check_path(std::string_view path, bool sequential = false) {
  if (valid_path(path, sequential)) return {};
  return invalid("not a znode path: \"" + std::string(path) + "\"");
}

// What kMostMultiBytes bounds: paths and data, and 64 bytes of frame and ACL an operation.
inline std::size_t multi_bytes(const std::vector<ZkOp>& ops) {
  std::size_t bytes = 0;
  for (const ZkOp& op : ops) {
    bytes += 64 + path_of(op).size();
    if (const auto* create = std::get_if<ZkCreate>(&op)) bytes += create->data.size();
    if (const auto* set = std::get_if<ZkSet>(&op)) bytes += set->data.size();
  }
  return bytes;
}

// kInvalid with the index for a bad path, kTooLarge over kMostMultiOps or kMostMultiBytes.
inline Status check_multi(const std::vector<ZkOp>& ops) {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (Status path = check_path(path_of(ops[i]), is_sequential(ops[i])); !path) {
      path.error().op_index = static_cast<int>(i);
      return path;
    }
  }
  const std::size_t bytes = multi_bytes(ops);
  if (ops.size() <= kMostMultiOps && bytes <= kMostMultiBytes) return {};
  return fail(ErrorCode::kTooLarge, Retry::kPermanent,
              "multi of " + std::to_string(ops.size()) + " operations and " + std::to_string(bytes) +
                  " bytes is over the limit of " + std::to_string(kMostMultiOps) + " or " +
                  std::to_string(kMostMultiBytes));
}

inline bool valid_server(std::string_view server) {
  const std::size_t colon = server.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view port = server.substr(colon + 1);
  if (port.empty() || port.size() > 5) return false;
  if (!std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
  const int number = std::stoi(std::string(port));
  return number >= 1 && number <= 65535 && server.find_first_of("/ \t") == std::string_view::npos;
}

inline Status check_config(const ZkConfig& config) {
  std::size_t begin = 0;
  while (begin <= config.connect.size()) {
    const std::size_t end = std::min(config.connect.find(',', begin), config.connect.size());
    const std::string server = config.connect.substr(begin, end - begin);
    if (!valid_server(server)) return invalid("not a host:port of ZooKeeper: \"" + server + "\"");
    begin = end + 1;
  }
  if (!config.chroot.empty() && (config.chroot == "/" || !valid_path(config.chroot)))
    return invalid("not a chroot: \"" + config.chroot + "\" (empty, or a path such as /kafka)");
  if (config.session_timeout < 1ms || config.session_timeout > 24h) return invalid("session timeout out of range");
  if (config.auth && (config.auth->scheme != "digest" || config.auth->credential.find(':') == std::string::npos))
    return invalid("ZooKeeper credentials must be of scheme digest and of the form user:password");
  return {};
}

}  // namespace zk_rules
}  // namespace kro
