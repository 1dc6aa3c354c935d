// How long from a create at the API server to the request znode, the operator against the bare path, in one run; and
// how long until a watcher sees the operator's first status.
//
// Bare path: create, the watch event as a line of a raw TLS socket, one ZooKeeper multi with the lock pair, a marker
// and a request, sent from the thread that reads the socket. Both paths have the same creator (another raw socket) and
// the same observer: a children watch on the request root, whose event is the end of a sample. Samples alternate, so
// that both see the same machine. Not a test: nothing fails on a slow machine.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "adapters/kube/kube_client.h"
#include "adapters/os/system_clock.h"
#include "adapters/zookeeper/zk_connector.h"
#include "raw_https.h"

namespace kro {
namespace {

[[noreturn]] void die(const std::string& what, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), error.text().c_str());
  std::exit(1);
}

std::string manifest(const std::string& ns, const std::string& name, const std::string& cluster) {
  std::string out =
      R"({"apiVersion":"kafka-reassignment.io/v1alpha1","kind":"KafkaReassignment","metadata":{"namespace":")" + ns +
      R"(","name":")" + name + R"("},"spec":{"clusterRef":{"name":")" + cluster + R"("},"assignments":{")" + name +
      R"(":{)";
  for (int p = 0; p < 20; ++p) {
    if (p > 0) out += ',';
    out += '"' + std::to_string(p) + "\":[" + std::to_string(1 + p % 3) + ',' + std::to_string(1 + (p + 1) % 3) + ']';
  }
  return out + "}}}}";
}

// Sees a new request in one tree, by the children watch alone.
class Observer {
 public:
  Observer(ZkConnector& connector, const std::string& connect, const std::string& chroot, const Clock& clock)
      : clock_(clock) {
    ZkConfig config;
    config.connect = connect;
    config.chroot = chroot;
    auto opened = connector.open(config, [this](const ZkEvent& event) {
      if (event.type != ZkEvent::Type::kChildren) return;
      const std::scoped_lock lock(mutex_);
      seen_ = clock_.now().mono;
      changed_.notify_all();
    });
    if (!opened) die("observer", opened.error());
    session_ = std::move(*opened);
    if (auto ok = session_->wait_connected(clock_.in(10s)); !ok) die("observer", ok.error());
  }
  void arm() {
    {
      const std::scoped_lock lock(mutex_);
      seen_.reset();
    }
    const auto children = session_->children("/admin/reassignment_requests", true, clock_.in(10s));
    if (!children) die("observer", children.error());
  }
  std::optional<MonoTime> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 10s, [this] { return seen_.has_value(); });
    return seen_;
  }
  ZkSession& session() { return *session_; }

 private:
  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<MonoTime> seen_;
  std::unique_ptr<ZkSession> session_;
};

double ms(MonoTime::duration span) { return std::chrono::duration<double, std::milli>(span).count(); }

double quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  const auto i = static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5);
  return values.at(i);
}

void make_tree(ZkSession& zk, const Clock& clock) {
  for (const char* path : {"/admin", "/admin/reassignment_requests", "/admin/bench_markers"})
    static_cast<void>(zk.multi({ZkCreate{path, "", ZkMode::kPersistent, ZkAcl::kLikeKafka}}, clock.in(10s)));
}

struct Settings {
  std::string kubeconfig, connect, bare_chroot, operator_chroot, bare_ns, operator_ns, cluster;
  int samples = 200;
};

std::string collection(const std::string& ns) {
  return "/apis/kafka-reassignment.io/v1alpha1/namespaces/" + ns + "/kafkareassignments";
}

// A watch of one namespace, from now on, on a raw socket and a thread of its own.
class RawWatch {
 public:
  using Line = std::function<void(const std::string&)>;

  RawWatch(const KubeConnection& to, const std::string& ns, Line on_line) : socket_(to) {
    const std::string list = socket_.call("GET", collection(ns) + "?limit=1");
    const std::string_view key = "\"resourceVersion\":\"";  // the last one is the list's own
    const std::size_t from = list.rfind(key) + key.size();
    socket_.open_stream(collection(ns) + "?watch=1&timeoutSeconds=7200&resourceVersion=" +
                        list.substr(from, list.find('"', from) - from));
    thread_ = std::jthread([this, on = std::move(on_line)] {
      std::string line;
      while (socket_.read_line(line)) on(line);
    });
  }
  ~RawWatch() { socket_.shut(); }
  RawWatch(const RawWatch&) = delete;
  RawWatch& operator=(const RawWatch&) = delete;

 private:
  RawHttps socket_;
  std::jthread thread_;
};

void bare_multi(ZkSession& zk, const Clock& clock, const std::string& line) {
  static std::atomic<int> next{0};
  const std::string data = line.substr(0, 800);
  const std::string marker = "/admin/bench_markers/" + std::to_string(++next);
  const auto done = zk.multi(
      {ZkCreate{"/admin/reassign_cancel", "", ZkMode::kPersistent, ZkAcl::kLikeKafka},
       ZkDelete{"/admin/reassign_cancel", kAnyVersion}, ZkCreate{marker, data, ZkMode::kPersistent, ZkAcl::kLikeKafka},
       ZkCreate{marker + "/1-1", data, ZkMode::kPersistent, ZkAcl::kLikeKafka},
       ZkCreate{"/admin/reassignment_requests/request_", data, ZkMode::kPersistentSequential, ZkAcl::kLikeKafka}},
      clock.in(10s));
  if (!done) die("bare multi", done.error());
}

// When a watcher first saw a status of the newest resource.
class FirstStatus {
 public:
  FirstStatus(const KubeConnection& to, const std::string& ns, const Clock& clock)
      : clock_(clock), watch_(to, ns, [this](const std::string& line) { look(line); }) {}
  void expect(const std::string& name) {
    const std::scoped_lock lock(mutex_);
    name_ = "\"name\":\"" + name + '"';
    seen_.reset();
  }
  std::optional<MonoTime> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 10s, [this] { return seen_.has_value(); });
    return seen_;
  }

 private:
  void look(const std::string& line) {
    const MonoTime now = clock_.now().mono;
    if (line.find("\"observedGeneration\":1") == std::string::npos) return;
    const std::scoped_lock lock(mutex_);
    if (seen_ || name_.empty() || line.find(name_) == std::string::npos) return;
    seen_ = now;
    changed_.notify_all();
  }

  const Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string name_;
  std::optional<MonoTime> seen_;
  RawWatch watch_;  // last: its thread uses the others
};

// Before each sample, so that what follows one (events, the end of a status write) does not run into the next.
constexpr auto kRest = 30ms;

struct Sample {
  MonoTime start;
  double ms = 0;
};

Sample sample(RawHttps& api, Observer& observer, const Clock& clock, const std::string& ns, const std::string& body) {
  std::this_thread::sleep_for(kRest);
  observer.arm();
  const std::string path = collection(ns);
  const MonoTime start = clock.now().mono;
  static_cast<void>(api.call("POST", path, body));
  const auto seen = observer.wait();
  if (!seen) {
    std::fprintf(stderr, "no request in %s within 10 s\n", ns.c_str());
    std::exit(1);
  }
  return {start, ms(*seen - start)};
}

void print(const char* what, const std::vector<double>& values) {
  std::printf("  %-22s p50 %7.2f   p99 %7.2f\n", what, quantile(values, 0.5), quantile(values, 0.99));
}

int run(const Settings& s) {
  std::signal(SIGPIPE, SIG_IGN);  // a watch is ended by shutting its socket
  const SystemClock clock;
  const auto connection = load_kubeconfig(s.kubeconfig);
  if (!connection) die("kubeconfig", connection.error());
  const auto connector = make_zk_connector();
  Observer bare(*connector, s.connect, s.bare_chroot, clock);
  Observer ours(*connector, s.connect, s.operator_chroot, clock);
  make_tree(bare.session(), clock);
  RawHttps api(*connection);
  FirstStatus status(*connection, s.operator_ns, clock);
  const RawWatch watch(*connection, s.bare_ns, [&](const std::string& line) {
    if (line.starts_with("{\"type\":\"ADDED\"")) bare_multi(bare.session(), clock, line);
  });

  const std::string run = std::to_string(clock.now().wall.time_since_epoch().count());
  std::vector<double> bare_ms, ours_ms, status_ms;
  for (int i = -20; i < s.samples; ++i) {
    const std::string name = "b" + run + "-" + std::to_string(i + 20);
    const Sample b = sample(api, bare, clock, s.bare_ns, manifest(s.bare_ns, name, s.cluster));
    status.expect(name);
    const Sample o = sample(api, ours, clock, s.operator_ns, manifest(s.operator_ns, name, s.cluster));
    const auto told = status.wait();
    if (!told) {
      std::fprintf(stderr, "no status of %s within 10 s\n", name.c_str());
      return 1;
    }
    if (i < 0) continue;  // warm-up
    bare_ms.push_back(b.ms);
    ours_ms.push_back(o.ms);
    status_ms.push_back(ms(*told - o.start));
  }
  std::printf("apply -> request znode, %d samples each, alternating, ms\n", s.samples);
  print("bare path", bare_ms);
  print("operator", ours_ms);
  std::printf("  %-22s p50 %7.2f   p99 %7.2f   (goal 1.5 and 3)\n", "ratio",
              quantile(ours_ms, 0.5) / quantile(bare_ms, 0.5), quantile(ours_ms, 0.99) / quantile(bare_ms, 0.99));
  std::printf("apply -> first status seen by a watcher, ms (goal 1000)\n");
  print("operator", status_ms);
  return 0;
}

}  // namespace
}  // namespace kro

// KUBECONFIG ZOOKEEPER BARE_CHROOT OPERATOR_CHROOT BARE_NS OPERATOR_NS CLUSTER [SAMPLES]
int main(int argc, char** argv) {
  if (argc < 8) {
    std::fprintf(stderr,
                 "usage: %s KUBECONFIG HOST:PORT BARE_CHROOT OPERATOR_CHROOT BARE_NS OPERATOR_NS CLUSTER [SAMPLES]\n",
                 argv[0]);
    return 2;
  }
  kro::Settings s{argv[1], argv[2], argv[3], argv[4], argv[5], argv[6], argv[7], argc > 8 ? std::atoi(argv[8]) : 200};
  return kro::run(s);
}
