// What only a server of our own can show: it is away, frozen, killed, or answers too late. Needs KRO_KAFKA_LIB.

#include "contract/zookeeper/own_zookeeper.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "adapters/zookeeper/zk_connector.h"
#include "contract/zookeeper/zk_contract_fixture.h"

// What the library drops when it is closed with a silent server it also leaks; ours is not hidden by this.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libzookeeper_mt"; }

namespace kro::test {

bool OwnZooKeeper::available() { return std::getenv("KRO_KAFKA_LIB") != nullptr; }

OwnZooKeeper::OwnZooKeeper() {
  std::string pattern = (std::filesystem::temp_directory_path() / "kro-zk-XXXXXX").string();
  folder_ = ::mkdtemp(pattern.data());
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(probe, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
      ::getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    port_ = ntohs(address.sin_port);
  ::close(probe);
  std::ofstream(folder_ + "/zoo.cfg") << "tickTime=200\nminSessionTimeout=400\nmaxSessionTimeout=60000\ndataDir="
                                      << folder_ << "/data\nclientPort=" << port_
                                      << "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\nmaxClientCnxns=0\n"
                                         "4lw.commands.whitelist=*\n";
}

OwnZooKeeper::~OwnZooKeeper() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool OwnZooKeeper::start() {
  std::string classes = std::string(std::getenv("KRO_KAFKA_LIB")) + "/*";
  std::string config = folder_ + "/zoo.cfg";
  std::string output = folder_ + "/log";
  std::vector<std::string> words = {"java",
                                    "-Xmx64m",
                                    "-XX:+UseSerialGC",
                                    "-XX:TieredStopAtLevel=1",
                                    "-Dzookeeper.forceSync=no",
                                    "-cp",
                                    classes,
                                    "org.apache.zookeeper.server.ZooKeeperServerMain",
                                    config};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  const int failed = ::posix_spawnp(&pid_, "java", &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) {
    pid_ = 0;
    return false;
  }
  const auto limit = std::chrono::steady_clock::now() + 60s;
  while (std::chrono::steady_clock::now() < limit) {
    if (answers()) return true;
    std::this_thread::sleep_for(20ms);
  }
  return false;
}

bool OwnZooKeeper::answers() const {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{2, 0};
  ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  std::string answer;
  if (::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 &&
      ::send(client, "srvr", 4, MSG_NOSIGNAL) == 4) {
    std::array<char, 1024> part{};
    for (ssize_t got = 1; got > 0;) {
      got = ::recv(client, part.data(), part.size(), 0);
      if (got > 0) answer.append(part.data(), static_cast<std::size_t>(got));
    }
  }
  ::close(client);
  return answer.find("Mode: ") != std::string::npos;  // before that it listens and does not serve
}

void OwnZooKeeper::kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

void OwnZooKeeper::freeze() {
  ::kill(pid_, SIGSTOP);
  int status = 0;
  ::waitpid(pid_, &status, WUNTRACED);
}

void OwnZooKeeper::thaw() { ::kill(pid_, SIGCONT); }

void OwnZooKeeper::forget_data() { std::filesystem::remove_all(folder_ + "/data"); }

namespace {

// Outlives a restart of the server, and lets a lost first handshake be repeated (after two thirds) within kPatience.
constexpr seconds kLongSession = 20s;

class OwnZooKeeperTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!OwnZooKeeper::available()) GTEST_SKIP() << "KRO_KAFKA_LIB is not set: hack/test.sh sets it";
    server_ = std::make_unique<OwnZooKeeper>();
    config_.connect = server_->connect();
  }

  std::unique_ptr<ZkSession> open() {
    auto session = connector_->open(config_, log_.sink());
    EXPECT_TRUE(session) << session.error().text();
    return std::move(*session);
  }
  std::unique_ptr<ZkSession> open_connected() {
    EXPECT_TRUE(server_->start());
    auto session = open();
    EXPECT_TRUE(session->wait_connected(soon()));
    return session;
  }
  static Deadline in(milliseconds span) { return {std::chrono::steady_clock::now() + span, {}}; }

  std::unique_ptr<OwnZooKeeper> server_;
  std::unique_ptr<ZkConnector> connector_ = make_zk_connector();
  ZkConfig config_;
  EventLog log_;
};

TEST_F(OwnZooKeeperTest, AwayAtOpenThenThere) {
  const auto session = open();
  EXPECT_EQ(session->state(), ZkState::kConnecting);
  const Status early = session->wait_connected(in(300ms));
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(early.error().retry, Retry::kTransient);
  const auto unsent = session->multi({ZkCreate{"/n", ""}}, soon());
  ASSERT_FALSE(unsent);
  EXPECT_EQ(unsent.error().retry, Retry::kTransient);
  std::stop_source stop;
  std::jthread stopper([&stop] { stop.request_stop(); });
  const Status stopped = session->wait_connected(soon(stop.get_token()));
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);

  ASSERT_TRUE(server_->start());
  const Status late = session->wait_connected(soon());
  ASSERT_TRUE(late) << late.error().text();
  EXPECT_TRUE(log_.wait_for_state(ZkState::kConnected));
  EXPECT_TRUE(session->multi({ZkCreate{"/n", ""}}, soon()));
}

TEST_F(OwnZooKeeperTest, KilledAndBackIsTheSameSessionWithItsWatches) {
  config_.session_timeout = kLongSession;
  const auto session = open_connected();
  const std::int64_t id = session->session_id();
  ASSERT_TRUE(session->multi({ZkCreate{"/n", "one"}, ZkCreate{"/mine", "", ZkMode::kEphemeral}}, soon()));
  ASSERT_TRUE(session->get_many({"/n", "/absent"}, true, soon()));
  ASSERT_TRUE(session->children("/n", true, soon()));
  server_->kill();
  ASSERT_TRUE(log_.wait_for_state(ZkState::kSuspended));
  EXPECT_EQ(session->state(), ZkState::kSuspended);
  const auto read = session->get("/n", false, soon());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(read.error().retry, Retry::kTransient);
  const auto write = session->multi({ZkDelete{"/n"}}, soon());
  ASSERT_FALSE(write);
  EXPECT_EQ(write.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(write.error().retry, Retry::kTransient);  // surely not sent
  EXPECT_FALSE(session->sync(soon()));

  log_.clear();
  ASSERT_TRUE(server_->start());
  ASSERT_TRUE(session->wait_connected(soon()));
  EXPECT_TRUE(log_.wait_for_state(ZkState::kConnected));
  EXPECT_EQ(session->session_id(), id);
  EXPECT_TRUE(*session->get("/mine", false, soon()));
  ASSERT_TRUE(session->multi({ZkSet{"/n", "two"}, ZkCreate{"/n/c", ""}, ZkCreate{"/absent", ""}}, soon()));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kChanged, "/n"));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kChildren, "/n"));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kCreated, "/absent"));
}

TEST_F(OwnZooKeeperTest, AwayForLongerThanFourThirdsOfTheTimeoutIsExpired) {
  config_.session_timeout = 1200ms;
  const auto session = open_connected();
  ASSERT_TRUE(session->multi({ZkCreate{"/mine", "", ZkMode::kEphemeral}}, soon()));
  const auto begin = std::chrono::steady_clock::now();
  server_->kill();
  ASSERT_TRUE(log_.wait_for_state(ZkState::kExpired));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 1600ms);
  EXPECT_EQ(session->state(), ZkState::kExpired);
  const auto read = session->get("/mine", false, soon());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kGone);
  EXPECT_EQ(session->wait_connected(soon()).error().code, ErrorCode::kGone);

  ASSERT_TRUE(server_->start());
  EventLog other_log;
  const auto other = connector_->open(config_, other_log.sink());
  ASSERT_TRUE((*other)->wait_connected(soon()));
  EXPECT_EQ(session->state(), ZkState::kExpired);  // never back
  EXPECT_FALSE(session->multi({ZkCheck{"/mine"}}, soon()));
}

TEST_F(OwnZooKeeperTest, ExpiryByTheServerIsToldOnReconnect) {
  config_.session_timeout = 2s;
  auto session = open_connected();
  ASSERT_TRUE(session->multi({ZkCreate{"/mine", "", ZkMode::kEphemeral}}, soon()));
  // The data is gone, and with it the session. (A server that has not seen the client's last transaction refuses the
  // client without a word, so here the suspension timer may be the one that tells.)
  server_->kill();
  server_->forget_data();
  ASSERT_TRUE(server_->start());
  EXPECT_TRUE(log_.wait_for_state(ZkState::kExpired));
  EXPECT_EQ(session->state(), ZkState::kExpired);
}

TEST_F(OwnZooKeeperTest, AWriteWithoutAnAnswerIsAmbiguousAndAReadIsNot) {
  config_.session_timeout = kLongSession;
  const auto session = open_connected();
  ASSERT_TRUE(session->multi({ZkCreate{"/n", ""}}, soon()));
  server_->freeze();
  const auto write = session->multi({ZkCreate{"/late", ""}}, in(300ms));
  ASSERT_FALSE(write);
  EXPECT_EQ(write.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(write.error().retry, Retry::kAmbiguous);
  const auto read = session->get("/n", true, in(300ms));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(read.error().retry, Retry::kTransient);
  EXPECT_EQ(session->sync(in(100ms)).error().code, ErrorCode::kTimeout);

  std::stop_source stop;
  std::jthread stopper([&] {
    EXPECT_FALSE(session->sync(in(100ms)));  // meanwhile the other call waits
    stop.request_stop();
  });
  const auto stopped = session->multi({ZkSet{"/n", "x"}}, soon(stop.get_token()));
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kCancelled);

  server_->thaw();
  ASSERT_TRUE(session->sync(soon()));
  EXPECT_TRUE(*session->get("/late", false, soon()));  // it was applied
}

TEST_F(OwnZooKeeperTest, ASilentServerLosesTheAnswer) {
  config_.session_timeout = 3s;  // the library drops the connection after two thirds of it
  const auto session = open_connected();
  server_->freeze();
  const auto write = session->multi({ZkCreate{"/n", ""}}, soon());
  ASSERT_FALSE(write);
  EXPECT_EQ(write.error().code, ErrorCode::kUnavailable) << write.error().text();
  EXPECT_EQ(write.error().retry, Retry::kAmbiguous) << write.error().text();
  EXPECT_FALSE(write.error().op_index);
}

// "Ambiguous" must be said whenever the write may be there, "Transient" only if it is not.
TEST_F(OwnZooKeeperTest, KilledUnderWritesTheVersionTellsTheTruth) {
  config_.session_timeout = kLongSession;
  const auto session = open_connected();
  ASSERT_TRUE(session->multi({ZkCreate{"/n", ""}}, soon()));
  std::int32_t sure = 0;
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> done{0};
    std::jthread killer([&] {
      while (done < 50) std::this_thread::yield();
      server_->kill();
    });
    std::optional<Error> failure;
    while (!failure) {
      const auto set = session->multi({ZkSet{"/n", "x"}}, soon());
      if (set) {
        ++done;
        ++sure;
      } else {
        failure = set.error();
      }
    }
    killer.join();
    EXPECT_EQ(failure->code, ErrorCode::kUnavailable) << failure->text();
    ASSERT_TRUE(server_->start());
    ASSERT_TRUE(session->wait_connected(soon()));
    const auto node = session->get("/n", false, soon());
    ASSERT_TRUE(node && *node);
    const std::int32_t version = (*node)->stat.version;
    if (failure->retry == Retry::kAmbiguous) {
      EXPECT_TRUE(version == sure || version == sure + 1) << version << " after " << sure;
    } else {
      EXPECT_EQ(failure->retry, Retry::kTransient);
      EXPECT_EQ(version, sure);
    }
    sure = version;
  }
}

TEST_F(OwnZooKeeperTest, CloseCompletesAllPendingCallsInTime) {
  config_.session_timeout = kLongSession;
  const auto session = open_connected();
  server_->freeze();
  std::atomic<int> cancelled{0};
  std::atomic<int> started{0};
  std::vector<std::jthread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&, i] {
      ++started;
      if (i % 2 == 0) {
        const auto write = session->multi({ZkCreate{"/n" + std::to_string(i), ""}}, soon());
        if (!write && write.error().code == ErrorCode::kCancelled) ++cancelled;
      } else {
        const auto reads = session->get_many(std::vector<std::string>(2000, "/n"), true, soon());
        if (!reads && reads.error().code == ErrorCode::kCancelled) ++cancelled;
      }
    });
  }
  while (started < 4) std::this_thread::yield();
  EXPECT_EQ(session->sync(in(200ms)).error().code, ErrorCode::kTimeout);  // by now the others wait
  const auto begin = std::chrono::steady_clock::now();
  session->close();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);  // 5 s, and a slow machine
  callers.clear();
  EXPECT_EQ(cancelled, 4);
  server_->thaw();
}

TEST_F(OwnZooKeeperTest, ClosingUnderLoadLosesNoCall) {
  ASSERT_TRUE(server_->start());
  // zookeeper_close() drops completions in about every fourth of such closes.
  for (int round = 0; round < 20; ++round) {
    const auto session = open();
    ASSERT_TRUE(session->wait_connected(soon()));
    std::atomic<int> begun{0};
    std::vector<std::jthread> callers;
    for (int i = 0; i < 3; ++i) {
      callers.emplace_back([&] {
        const std::vector<std::string> paths(500, "/zookeeper");
        for (;;) {
          ++begun;
          const auto reads = session->get_many(paths, false, soon());
          if (reads) continue;
          EXPECT_EQ(reads.error().code, ErrorCode::kCancelled) << reads.error().text();
          return;
        }
      });
    }
    while (begun < 6) std::this_thread::yield();
    session->close();
  }
}

TEST_F(OwnZooKeeperTest, TooManyWatchedPathsAreRefused) {
  const auto session = open_connected();
  std::vector<std::string> paths;
  for (int i = 0; i < 6000; ++i) paths.push_back("/" + std::string(96, 'p') + std::to_string(10000 + i));
  const auto refused = session->get_many(paths, true, soon());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(refused.error().retry, Retry::kPermanent);
  EXPECT_TRUE(session->get_many(paths, false, soon()));
}

TEST_F(OwnZooKeeperTest, AFrozenServerSuspendsTheSession) {
  config_.session_timeout = 1500ms;
  const auto session = open_connected();
  server_->freeze();
  EXPECT_TRUE(log_.wait_for_state(ZkState::kSuspended));
  EXPECT_TRUE(log_.wait_for_state(ZkState::kExpired));
  server_->thaw();
}

}  // namespace
}  // namespace kro::test
