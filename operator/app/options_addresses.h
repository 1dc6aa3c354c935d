#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace kro {

// Refuses what is no "host:port,host:port" list (IPv6 in brackets, ports 1 to 65535, no blanks). `what` names it in
// the error.
Status check_host_ports(std::string_view text, std::string_view what);

// Refuses a chroot that is no plain absolute path: "/kafka", "/a/b"; "" is none. Never "/" or a trailing slash.
Status check_chroot(std::string_view text);

struct ZooKeeperAddress {
  std::string connect;  // hosts and ports
  std::string chroot;   // "" or "/kafka"
};

// "zk-0:2181,zk-1:2181/kafka", as every ZooKeeper client takes it.
Result<ZooKeeperAddress> parse_zookeeper_address(std::string_view text);

}  // namespace kro
