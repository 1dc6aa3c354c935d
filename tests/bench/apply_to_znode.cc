// How long from a create at the API server to the request znode: the operator against the bare path, in one run.
//
// Bare path: create, the watch event as it is read from the stream, one ZooKeeper multi with the lock pair, a marker
// and a request, sent from the watching thread itself. Both paths use the same clients and the same observer: a
// children watch on the request root, whose event is the end of a sample. Samples alternate, so that both see the same
// machine. Prints p50 and p99 of both and the ratios. Not a test: nothing fails on a slow machine.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "adapters/kube/kube_client.h"
#include "adapters/os/system_clock.h"
#include "adapters/zookeeper/zk_connector.h"

namespace kro {
namespace {

const KubeResource kResource{"kafka-reassignment.io", "v1alpha1", "kafkareassignments"};

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

double sample(KubeApi& kube, Observer& observer, const Clock& clock, const std::string& ns, const std::string& name,
              const std::string& cluster) {
  observer.arm();
  const MonoTime start = clock.now().mono;
  const auto made = kube.create(kResource, ns, manifest(ns, name, cluster), clock.in(10s));
  if (!made) die("create", made.error());
  const auto seen = observer.wait();
  if (!seen) {
    std::fprintf(stderr, "no request for %s/%s within 10 s\n", ns.c_str(), name.c_str());
    std::exit(1);
  }
  return ms(*seen - start);
}

int run(const Settings& s) {
  const SystemClock clock;
  auto connection = load_kubeconfig(s.kubeconfig);
  if (!connection) die("kubeconfig", connection.error());
  init_kube_threads(2);
  const auto kube = make_kube_client(*connection, [](auto, auto, auto) {});
  const auto connector = make_zk_connector();
  Observer bare(*connector, s.connect, s.bare_chroot, clock);
  Observer ours(*connector, s.connect, s.operator_chroot, clock);
  make_tree(bare.session(), clock);

  std::atomic<bool> live{false};
  std::jthread watcher([&](const std::stop_token& stop) {
    KubeWatchOptions options;
    options.ns = s.bare_ns;
    while (!stop.stop_requested())
      static_cast<void>(kube->watch(
          kResource, options,
          [&](const KubeWatchEvent& event) {
            if (event.type == KubeWatchEvent::Type::kInitialListEnd) live = true;
            if (!live || event.type != KubeWatchEvent::Type::kAdded) return true;
            const std::string data(event.object.substr(0, 800));
            const std::string marker =
                "/admin/bench_markers/" + std::to_string(clock.now().mono.time_since_epoch().count());
            const auto done =
                bare.session().multi({ZkCreate{"/admin/reassign_cancel", "", ZkMode::kPersistent, ZkAcl::kLikeKafka},
                                      ZkDelete{"/admin/reassign_cancel", kAnyVersion},
                                      ZkCreate{marker, data, ZkMode::kPersistent, ZkAcl::kLikeKafka},
                                      ZkCreate{marker + "/1-1", data, ZkMode::kPersistent, ZkAcl::kLikeKafka},
                                      ZkCreate{"/admin/reassignment_requests/request_", data,
                                               ZkMode::kPersistentSequential, ZkAcl::kLikeKafka}},
                                     clock.in(10s));
            if (!done) die("bare multi", done.error());
            return true;
          },
          stop));
  });
  while (!live) std::this_thread::sleep_for(10ms);

  const std::string run = std::to_string(clock.now().wall.time_since_epoch().count());
  std::vector<double> bare_ms, ours_ms;
  for (int i = -20; i < s.samples; ++i) {
    const std::string name = "b" + run + "-" + std::to_string(i + 20);
    const double b = sample(*kube, bare, clock, s.bare_ns, name, s.cluster);
    const double o = sample(*kube, ours, clock, s.operator_ns, name, s.cluster);
    if (i < 0) continue;  // warm-up
    bare_ms.push_back(b);
    ours_ms.push_back(o);
  }
  const double b50 = quantile(bare_ms, 0.5), b99 = quantile(bare_ms, 0.99);
  const double o50 = quantile(ours_ms, 0.5), o99 = quantile(ours_ms, 0.99);
  std::printf("apply -> request znode, %d samples each, ms\n", s.samples);
  std::printf("  bare path   p50 %7.2f   p99 %7.2f\n", b50, b99);
  std::printf("  operator    p50 %7.2f   p99 %7.2f\n", o50, o99);
  std::printf("  ratio       p50 %7.2f   p99 %7.2f   (goal 1.5 and 3)\n", o50 / b50, o99 / b99);
  watcher.request_stop();
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
