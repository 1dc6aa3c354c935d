#include "execute/controller_loop.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "decide/acceptance_decider.h"
#include "execute/kafka_poller.h"
#include "execute/tree_loader.h"
#include "runtime/measured_zk.h"
#include "tree/paths.h"

namespace kro::execute {

namespace {

constexpr milliseconds kFirstBackOff = 100ms;
constexpr milliseconds kLastBackOff = 10s;
constexpr milliseconds kConnectTimeout = 5s;
constexpr milliseconds kStandbyLook = 30s;

// A /controller written by a ZooKeeper-mode broker has kraftControllerEpoch -1, or none; during and after a migration
// to KRaft it names a KRaft controller.
bool names_kraft_controller(const std::string& data) {
  const auto json = nlohmann::json::parse(data, nullptr, false);
  if (!json.is_object()) return false;
  const auto epoch = json.find("kraftControllerEpoch");
  return epoch != json.end() && epoch->is_number_integer() && epoch->get<std::int64_t>() >= 0;
}

std::string cluster_id_of(const std::string& data) {
  const auto json = nlohmann::json::parse(data, nullptr, false);
  if (!json.is_object() || !json.contains("id") || !json["id"].is_string()) return {};
  return json["id"].get<std::string>();
}

}  // namespace

struct ControllerLoop::Leader {
  Leader(ZkSession& session, KafkaAdmin& kafka, const Clock& clock, Metrics& metrics, const ControllerOptions& options)
      : leadership(session, clock), context{session, leadership, kafka, clock, metrics, options, {}, nullptr} {}

  Leadership leadership;
  ControllerContext context;
  CallExecutor calls{context};
  AcceptanceExecutor acceptance{context};
  StartExecutor starts{context};
  FollowExecutor follows{context, calls};
  CancelExecutor cancels{context, calls};
  ReportExecutor reports{context};
  bool loaded = false;
  bool new_leader = true;
  bool roots = false;
  bool kafka_away = false;  // the last poll failed: nothing of the tree is in doubt
  MonoTime next_poll{};
  MonoTime next_glance{};
};

ControllerLoop::ControllerLoop(ZkConnector& connector, KafkaAdmin& kafka, const Clock& clock, Metrics& metrics,
                               ControllerOptions options)
    : connector_(connector),
      kafka_(kafka),
      clock_(clock),
      metrics_(metrics),
      options_(std::move(options)),
      wake_(std::make_shared<ControllerWake>()) {}

ControllerLoop::~ControllerLoop() { release(); }

bool ControllerLoop::leading() const { return leader_ && leader_->leadership.leading(); }

const decide::ControllerModel* ControllerLoop::model() const {
  return leading() && leader_->loaded ? &leader_->context.model : nullptr;
}

void ControllerLoop::release() {
  leader_.reset();
  if (session_) session_->close();
  session_.reset();
  metrics_.set("kafka_reassignment_controller_leader", cluster(), 0);
}

Status ControllerLoop::ensure_session(const std::stop_token& stop) {
  if (session_) {
    const ZkState state = session_->state();
    if (state == ZkState::kExpired || state == ZkState::kAuthFailed || state == ZkState::kClosed) {
      if (state == ZkState::kExpired) metrics_.add("kafka_reassignment_zk_session_expirations_total", cluster());
      if (leading()) log::warn("session to ZooKeeper lost: no longer leading");
      release();
    }
  }
  if (!session_) {
    const std::weak_ptr<ControllerWake> wake = wake_;
    auto opened = connector_.open(options_.zookeeper, [wake](const ZkEvent& event) {
      if (const auto w = wake.lock()) w->on_event(event);
    });
    if (!opened) return tl::unexpected(opened.error());
    session_ = measured(std::move(*opened), metrics_, clock_, options_.cluster_name);
    leader_ = std::make_unique<Leader>(*session_, kafka_, clock_, metrics_, options_);
    wake_->mark_all();
  }
  const auto connected = session_->wait_connected(clock_.in(kConnectTimeout, stop));
  metrics_.set("kafka_reassignment_zk_connected", cluster(), connected ? 1 : 0);
  if (!connected) return pass_on(connected.error(), "ZooKeeper " + options_.zookeeper.connect);
  return {};
}

Result<tree::ControllerNode> ControllerLoop::describe(const std::stop_token& stop) {
  const auto metadata = kafka_.metadata(std::vector<std::string>{}, clock_.in(kKafkaReadTimeout, stop));
  if (!metadata) return pass_on(metadata.error(), "Kafka");
  // Also the probe whether these brokers have API 46 at all.
  if (auto list = kafka_.list_reassignments(clock_.in(kKafkaReadTimeout, stop)); !list)
    return pass_on(list.error(), "Kafka");

  tree::ControllerNode node;
  node.id = options_.id;
  node.host = options_.host;
  node.driver = "admin-api";
  node.cluster_id = metadata->cluster_id;
  node.kafka_version = kafka_.kafka_version();
  node.features = decide::controller_features().published();
  node.tree = options_.tree;
  if (options_.tree == "auto") {
    const auto id = session_->get(std::string(tree::kClusterId), false, clock_.in(Leadership::kReadTimeout, stop));
    if (!id) return tl::unexpected(id.error());
    const auto controller =
        session_->get(std::string(tree::kKafkaController), false, clock_.in(Leadership::kReadTimeout, stop));
    if (!controller) return tl::unexpected(controller.error());
    const bool same = *id && cluster_id_of((*id)->data) == metadata->cluster_id;
    node.tree = same && !(*controller && names_kraft_controller((*controller)->data)) ? "shared" : "own";
  }
  return node;
}

Status ControllerLoop::standby(const std::stop_token& stop) {
  Leader& l = *leader_;
  // What was said until now is read below, or once we lead; left standing it would keep run() from resting.
  (void)wake_->take();
  if (auto made = ensure_roots(l, stop); !made) return made;
  auto node = describe(stop);
  if (!node) return tl::unexpected(node.error());
  const auto won = l.leadership.campaign(*node, stop);
  if (!won) return tl::unexpected(won.error());
  if (!*won) {
    next_try_ = clock_.now().mono + kStandbyLook;
    return {};
  }
  log::info("leading", {{"epoch", l.leadership.epoch()}, {"tree", node->tree}, {"kafka", node->kafka_version}});
  metrics_.set("kafka_reassignment_controller_leader", cluster(), 1);
  l.loaded = false;
  l.new_leader = true;
  wake_->mark_all();
  next_try_ = clock_.now().mono;
  return {};
}

Status ControllerLoop::ensure_roots(Leader& l, const std::stop_token& stop) {
  if (l.roots) return {};
  if (auto made = l.leadership.ensure_roots(options_.zookeeper.chroot, stop); !made) return made;
  l.roots = true;
  return {};
}

bool ControllerLoop::active(const Leader& l) const {
  const auto& model = l.context.model;
  return model.in_flight_count() > 0 || !model.uncertain.empty() || l.cancels.busy() ||
         std::any_of(model.requests.begin(), model.requests.end(),
                     [](const auto& r) { return !r.second.waiting.empty(); });
}

bool ControllerLoop::poll_due(const Leader& l) const {
  return l.acceptance.pending() || l.context.moved || clock_.now().mono >= l.next_poll;
}

// Every permit and every start creates and deletes the lock in one multi, which fires its watch: only a lock that is
// another than before asks for a poll.
Status ControllerLoop::read_lock(Leader& l) {
  const auto before = l.context.model.lock;
  if (auto read = l.cancels.read_lock(); !read) return read;
  const auto& now = l.context.model.lock;
  if (before.has_value() != now.has_value() || (now && before->czxid != now->czxid)) l.next_poll = {};
  return {};
}

// The tree and Kafka as they are now: context.model and context.view.
Result<bool> ControllerLoop::observe(Leader& l) {
  ControllerContext& c = l.context;
  const auto flags = wake_->take();
  if (flags.state)
    if (auto still = l.leadership.confirm(c.stop); !still) return tl::unexpected(still.error());
  if (flags.lock || c.lock_seen)
    if (auto read = read_lock(l); !read) return tl::unexpected(read.error());
  if (!l.loaded) {
    if (auto made = ensure_roots(l, c.stop); !made) return tl::unexpected(made.error());
    if (auto loaded = load_tree(c, l.new_leader); !loaded) return tl::unexpected(loaded.error());
    l.loaded = true;
    l.new_leader = false;
    if (auto finished = finish_orphans(c); !finished) return tl::unexpected(finished.error());
  }
  if (flags.inbox)
    if (auto scanned = l.acceptance.scan(); !scanned) return tl::unexpected(scanned.error());
  l.calls.settle_uncertain();
  if (!poll_due(l)) return false;

  c.moved = false;
  std::set<std::string> topics = topics_of_interest(c.model);
  topics.merge(l.acceptance.topics());
  const bool gate = l.acceptance.asks_for_health() ||
                    std::any_of(c.model.requests.begin(), c.model.requests.end(), [](const auto& r) {
                      return r.second.request.health_gate && !r.second.waiting.empty();
                    });
  const bool configs = l.acceptance.pending() || l.cancels.busy() || !c.model.in_flight.empty();
  auto view = poll_kafka(c, topics, gate, configs);
  l.kafka_away = !view;
  if (!view) return tl::unexpected(view.error());
  c.view = std::move(*view);
  l.next_glance = c.view->begun.mono + options_.glance_every;
  l.next_poll = c.view->begun.mono + (active(l) ? options_.poll_active : options_.poll_idle);
  if (auto followed = l.follows.follow(); !followed) return tl::unexpected(followed.error());
  return true;
}

Status ControllerLoop::act(Leader& l) {
  ControllerContext& c = l.context;
  if (l.acceptance.pending()) {
    if (auto accepted = l.acceptance.accept(); !accepted) return accepted;
    l.next_poll = std::min(l.next_poll, c.view->begun.mono + options_.poll_active);
  }
  if (c.model.lock || !c.model.cancels.empty())
    if (auto cancelled = l.cancels.step(); !cancelled) return cancelled;
  if (!c.model.lock) {
    if (auto started = l.starts.start(); !started) return started;
    if (auto told = l.follows.submit(); !told) return told;
  }
  if (auto told = l.follows.call_roll_backs(); !told) return told;
  if (auto published = l.reports.publish_foreign(); !published) return published;
  l.reports.read_sizes();
  if (auto reported = l.reports.report(); !reported) return reported;
  if (auto kept = l.reports.retain(); !kept) return kept;
  return l.calls.flush();
}

// Between the polls of an idle tree, whether Kafka's list of what runs is still the one that was published: a cancel
// trusts /admin/reassignment_foreign before it hits what nobody here asked for. A failure is the next poll's to tell.
void ControllerLoop::glance(Leader& l) {
  const MonoTime now = clock_.now().mono;
  if (now < l.next_glance || !l.context.view) return;
  l.next_glance = now + options_.glance_every;
  const auto list = kafka_.list_reassignments(clock_.in(kKafkaReadTimeout, l.context.stop));
  if (!list) return;
  const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
  const OngoingReassignments& known = l.context.view->after;
  if (!std::equal(list->begin(), list->end(), known.begin(), known.end(), same)) l.next_poll = {};
}

Status ControllerLoop::lead(const std::stop_token& stop) {
  Leader& l = *leader_;
  l.context.stop = stop;
  l.context.heartbeat = heartbeat_;
  const auto polled = observe(l);
  if (!polled) return tl::unexpected(polled.error());
  if (!*polled) {
    glance(l);
  } else if (auto acted = act(l); !acted) {
    return acted;
  }
  l.reports.gauges();
  metrics_.set("kafka_reassignment_zk_last_sync_timestamp_seconds", cluster(),
               static_cast<double>(epoch_ms(clock_.now().wall)) / 1000);
  const MonoTime now = clock_.now().mono;
  next_try_ = l.context.moved || l.context.lock_seen ? now : std::max(now, std::min(l.next_poll, l.next_glance));
  return {};
}

void ControllerLoop::on_error(const Error& error) {
  const bool fenced = error.code == ErrorCode::kFenced || error.code == ErrorCode::kGone;
  const bool kafka_away = leader_ && std::exchange(leader_->kafka_away, false);
  if (leader_ && !kafka_away) {
    // Whatever this step believed of the tree may be wrong: read it all again.
    leader_->loaded = false;
    leader_->roots = false;
    leader_->context.moved = false;
    leader_->next_poll = {};
  }
  if (!kafka_away) wake_->mark_all();
  const bool lock_in_the_way = leader_ && leader_->context.lock_seen && error.code == ErrorCode::kAlreadyExists;
  if (lock_in_the_way) {
    next_try_ = clock_.now().mono;
    return;
  }
  back_off_ = std::clamp(back_off_ * 2, kFirstBackOff, kLastBackOff);
  next_try_ = clock_.now().mono + back_off_;
  if (error.text() != last_error_) {
    last_error_ = error.text();
    log::warn(fenced ? "no longer leading" : "step failed, trying again",
              {{"error", last_error_}, {"class", to_string(error.retry)}});
  }
  if (fenced) metrics_.set("kafka_reassignment_controller_leader", cluster(), 0);
  if (error.code == ErrorCode::kFenced) metrics_.add("kafka_reassignment_zk_fenced_writes_total", cluster());
}

MonoTime ControllerLoop::step(const std::stop_token& stop) {
  Status done = ensure_session(stop);
  const bool led = done && leading();
  if (done) done = led ? lead(stop) : standby(stop);
  if (stop.stop_requested()) return clock_.now().mono;
  if (!done) {
    on_error(done.error());
    return next_try_;
  }
  back_off_ = milliseconds(0);
  last_error_.clear();
  return next_try_;
}

void ControllerLoop::run(const std::stop_token& stop, Heartbeat& heartbeat) {
  heartbeat_ = &heartbeat;
  while (!stop.stop_requested()) {
    heartbeat.beat(clock_.now().mono);
    const MonoTime next = step(stop);
    heartbeat.idle();
    if (back_off_ > milliseconds(0)) {
      // After a failure the flags are all set on purpose; wait for time alone, or for the stop.
      wake_->pause(next, stop);
    } else {
      wake_->wait(next, stop);
    }
  }
  release();
  heartbeat_ = nullptr;
}

}  // namespace kro::execute
