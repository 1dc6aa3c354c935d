#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

namespace kro::test {

// A ZooKeeper server of the test's own, from the jars in KRO_KAFKA_LIB, which may be stopped and killed at will. Port
// and data folder stay the same over stop() and start(); the destructor ends it and removes the data.
class OwnZooKeeper {
 public:
  // False without KRO_KAFKA_LIB.
  static bool available();

  OwnZooKeeper();
  ~OwnZooKeeper();
  OwnZooKeeper(const OwnZooKeeper&) = delete;
  OwnZooKeeper& operator=(const OwnZooKeeper&) = delete;

  // Waits until the server answers; false after a minute.
  bool start();
  void kill();    // SIGKILL, and waits for its end
  void freeze();  // SIGSTOP: connections stay, nothing answers
  void thaw();    // SIGCONT
  // All state is lost, as when a volume is wiped. Only while it is not running.
  void forget_data();

  [[nodiscard]] std::string connect() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  [[nodiscard]] bool answers() const;

  std::string folder_;
  int port_ = 0;
  pid_t pid_ = 0;
};

}  // namespace kro::test
