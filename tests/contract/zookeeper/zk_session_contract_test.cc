// What ports/zk_session.h promises, asked of the fake, of the faulty wrapper without faults, and of a real server.

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "adapters/zookeeper/zk_connector.h"
#include "contract/zookeeper/zk_contract_fixture.h"
#include "fakes/fake_zk.h"
#include "fakes/faulty_zk.h"

namespace kro::test {
namespace {

struct Backend {
  std::string name;
  ZkConfig config;
  std::function<std::unique_ptr<ZkConnector>()> make;
  bool remove_chroot = false;  // ours
};

// gtest names a parameter by this.
void PrintTo(const Backend& backend, std::ostream* out) { *out << backend.name; }

std::vector<Backend> backends() {
  ZkConfig plain;
  plain.connect = "fake:2181";
  ZkConfig below = plain;
  below.chroot = "/some/kafka";
  const auto fake = [] { return std::make_unique<FakeZkConnector>(std::make_shared<FakeZk>()); };
  std::vector<Backend> all = {
      {"Fake", plain, fake, false},
      {"FakeWithChroot", below, fake, false},
      {"FaultyWithoutFaults", plain,
       [fake] { return std::make_unique<FaultyZkConnector>(fake(), std::make_shared<ZkFaults>()); }},
  };
  if (auto real = real_config()) {
    all.push_back({"Real", *real, make_zk_connector});
    real->chroot += random_name("/kro-contract-chroot-");
    all.push_back({"RealWithChroot", *real, make_zk_connector, true});
  }
  return all;
}

class ZkSessionContract : public testing::TestWithParam<Backend> {
 protected:
  void SetUp() override {
    config_ = GetParam().config;
    connector_ = GetParam().make();
    if (!config_.chroot.empty()) make_path(*connector_, config_, config_.chroot);
    session_ = open(log_);
    root_ = random_name("/kro-contract-");
    ASSERT_TRUE(create(root_));
  }

  void TearDown() override {
    if (!session_) return;
    EventLog unused;
    const auto cleaner = open(unused);
    remove_all(*cleaner, root_);
    session_->close();
    cleaner->close();
    if (!GetParam().remove_chroot) return;
    const std::string chroot = std::exchange(config_.chroot, "");
    remove_all(*open(unused), chroot);
  }

  std::unique_ptr<ZkSession> open(EventLog& log, std::optional<ZkAuth> auth = std::nullopt) {
    ZkConfig config = config_;
    config.auth = std::move(auth);
    auto session = connector_->open(config, log.sink());
    EXPECT_TRUE(session) << session.error().text();
    const Status connected = (*session)->wait_connected(soon());
    EXPECT_TRUE(connected) << connected.error().text();
    return std::move(*session);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }
  Result<std::vector<ZkOpResult>> create(const std::string& full, const std::string& data = "",
                                         ZkMode mode = ZkMode::kPersistent) {
    return session_->multi({ZkCreate{full, data, mode}}, soon());
  }
  std::optional<ZkNode> get(const std::string& full) {
    const auto node = session_->get(full, false, soon());
    EXPECT_TRUE(node) << node.error().text();
    return node.value_or(std::nullopt);
  }

  // Everything that had happened when this is called has reached the sink afterwards.
  void settle(const std::string& name = "settle") {
    ASSERT_TRUE(session_->get(path(name), true, soon()));
    ASSERT_TRUE(create(path(name)));
    ASSERT_TRUE(log_.wait_for(ZkEvent::Type::kCreated, path(name)));
  }

  void expect_failure(const std::vector<ZkOp>& ops, int index, ErrorCode code, Retry retry) {
    const auto answer = session_->multi(ops, soon());
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, code) << answer.error().text();
    EXPECT_EQ(answer.error().retry, retry) << answer.error().text();
    EXPECT_EQ(answer.error().op_index, index) << answer.error().text();
  }

  ZkConfig config_;
  EventLog log_;
  std::unique_ptr<ZkConnector> connector_;
  std::unique_ptr<ZkSession> session_;
  std::string root_;
};

TEST_P(ZkSessionContract, ConnectsAndTellsTheSink) {
  EXPECT_TRUE(log_.wait_for_state(ZkState::kConnected));
  EXPECT_EQ(session_->state(), ZkState::kConnected);
  EXPECT_NE(session_->session_id(), 0);
  EventLog other;
  EXPECT_NE(open(other)->session_id(), session_->session_id());
}

TEST_P(ZkSessionContract, RefusesABadConfiguration) {
  const auto refused = [this](const std::function<void(ZkConfig&)>& spoil) {
    ZkConfig config = config_;
    spoil(config);
    const auto session = connector_->open(config, [](const ZkEvent&) {});
    return !session && session.error().code == ErrorCode::kInvalid && session.error().retry == Retry::kPermanent;
  };
  EXPECT_TRUE(refused([](ZkConfig& c) { c.connect = ""; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.connect = "host"; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.connect = "host:0"; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.connect = "a:2181,,b:2181"; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.connect = "a:2181/kafka"; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.chroot = "kafka"; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.chroot = "/kafka/"; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.chroot = "/"; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.session_timeout = 0ms; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.auth = ZkAuth{"digest", "no-password"}; }));
  EXPECT_TRUE(refused([](ZkConfig& c) { c.auth = ZkAuth{"sasl", "a:b"}; }));
}

TEST_P(ZkSessionContract, AbsentNodeIsNullopt) {
  EXPECT_EQ(get(path("absent")), std::nullopt);
  const auto children = session_->children(path("absent"), false, soon());
  ASSERT_TRUE(children) << children.error().text();
  EXPECT_FALSE(children->has_value());
}

TEST_P(ZkSessionContract, ReadsBackDataAndStat) {
  const std::string binary = std::string("\0\x01\xff{\"a\":1}\n", 11);
  ASSERT_TRUE(create(path("n"), binary));
  ASSERT_TRUE(create(path("empty")));
  const auto node = get(path("n"));
  ASSERT_TRUE(node);
  EXPECT_EQ(node->data, binary);
  EXPECT_EQ(node->stat.data_length, 11);
  EXPECT_EQ(node->stat.version, 0);
  EXPECT_EQ(node->stat.cversion, 0);
  EXPECT_EQ(node->stat.num_children, 0);
  EXPECT_EQ(node->stat.ephemeral_owner, 0);
  EXPECT_GT(node->stat.czxid, 0);
  EXPECT_EQ(node->stat.czxid, node->stat.mzxid);
  EXPECT_EQ(node->stat.czxid, node->stat.pzxid);
  EXPECT_GT(node->stat.ctime_ms, 1'500'000'000'000);
  EXPECT_EQ(node->stat.ctime_ms, node->stat.mtime_ms);
  ASSERT_TRUE(get(path("empty")));
  EXPECT_EQ(get(path("empty"))->data, "");
  EXPECT_GT(get(path("empty"))->stat.czxid, node->stat.czxid);
}

TEST_P(ZkSessionContract, RefusesBadPathsLocally) {
  for (const std::string bad : {"", "a", "/a/", "//a", "/a//b", "/./a", "/a/..", "/a\nb"}) {
    const auto node = session_->get(bad, false, soon());
    ASSERT_FALSE(node) << bad;
    EXPECT_EQ(node.error().code, ErrorCode::kInvalid) << bad;
    const auto many = session_->get_many({root_, bad}, true, soon());
    ASSERT_FALSE(many) << bad;
    EXPECT_EQ(many.error().retry, Retry::kPermanent) << bad;
    EXPECT_FALSE(session_->children(bad, false, soon())) << bad;
    expect_failure({ZkCheck{root_}, ZkDelete{bad}}, 1, ErrorCode::kInvalid, Retry::kPermanent);
  }
  EXPECT_EQ(session_->state(), ZkState::kConnected);
}

TEST_P(ZkSessionContract, SetReturnsTheNewStat) {
  ASSERT_TRUE(create(path("n"), "one"));
  const auto before = get(path("n"));
  const auto results =
      session_->multi({ZkCheck{root_}, ZkSet{path("n"), "three", 0}, ZkSet{path("n"), "four!!"}}, soon());
  ASSERT_TRUE(results) << results.error().text();
  ASSERT_EQ(results->size(), 3U);
  EXPECT_FALSE((*results)[0].stat);
  ASSERT_TRUE((*results)[1].stat);
  ASSERT_TRUE((*results)[2].stat);
  EXPECT_EQ((*results)[1].stat->version, 1);
  EXPECT_EQ((*results)[1].stat->data_length, 5);
  const auto after = get(path("n"));
  EXPECT_EQ(after->data, "four!!");
  EXPECT_EQ(after->stat.version, 2);
  EXPECT_EQ((*results)[2].stat->version, after->stat.version);
  EXPECT_EQ((*results)[2].stat->mzxid, after->stat.mzxid);
  EXPECT_EQ((*results)[1].stat->mzxid, after->stat.mzxid);  // one transaction
  EXPECT_EQ((*results)[2].stat->czxid, before->stat.czxid);
  EXPECT_GT(after->stat.mzxid, before->stat.mzxid);
  EXPECT_EQ(after->stat.pzxid, before->stat.pzxid);
}

TEST_P(ZkSessionContract, ARecreatedNodeStartsAfresh) {
  ASSERT_TRUE(create(path("n"), "one"));
  ASSERT_TRUE(session_->multi({ZkSet{path("n"), "two"}}, soon()));
  const auto before = get(path("n"));
  ASSERT_TRUE(session_->multi({ZkDelete{path("n"), 1}, ZkCreate{path("n"), "new"}}, soon()));
  const auto after = get(path("n"));
  EXPECT_EQ(after->stat.version, 0);
  EXPECT_GT(after->stat.czxid, before->stat.mzxid);
}

TEST_P(ZkSessionContract, TheParentCountsCreationsAndDeletions) {
  const auto parent = [this] { return get(root_)->stat; };
  const std::int32_t begin = parent().cversion;
  ASSERT_TRUE(create(path("a")));
  ASSERT_TRUE(create(path("b")));
  EXPECT_EQ(parent().cversion, begin + 2);
  EXPECT_EQ(parent().num_children, 2);
  EXPECT_EQ(parent().pzxid, get(path("b"))->stat.czxid);
  ASSERT_TRUE(session_->multi({ZkDelete{path("a")}}, soon()));
  EXPECT_EQ(parent().cversion, begin + 3);
  EXPECT_EQ(parent().num_children, 1);
  EXPECT_GT(parent().pzxid, get(path("b"))->stat.czxid);
  EXPECT_EQ(parent().version, 0);
  EXPECT_EQ(parent().mzxid, parent().czxid);
}

TEST_P(ZkSessionContract, GetManyAnswersInOrderWithGaps) {
  ASSERT_TRUE(create(path("a"), "A"));
  ASSERT_TRUE(create(path("c"), "C"));
  const auto nodes = session_->get_many({path("c"), path("b"), path("a"), path("a"), path("no/parent")}, false, soon());
  ASSERT_TRUE(nodes) << nodes.error().text();
  ASSERT_EQ(nodes->size(), 5U);
  EXPECT_EQ((*nodes)[0]->data, "C");
  EXPECT_FALSE((*nodes)[1]);
  EXPECT_EQ((*nodes)[2]->data, "A");
  EXPECT_EQ((*nodes)[3]->data, "A");
  EXPECT_FALSE((*nodes)[4]);
  const auto none = session_->get_many({}, true, soon());
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST_P(ZkSessionContract, GetManyReadsTenThousand) {
  ASSERT_TRUE(create(path("n"), "data"));
  std::vector<std::string> paths(10'000, path("n"));
  paths[7777] = path("absent");
  const auto nodes = session_->get_many(paths, false, soon());
  ASSERT_TRUE(nodes) << nodes.error().text();
  ASSERT_EQ(nodes->size(), paths.size());
  for (std::size_t i = 0; i < nodes->size(); ++i) ASSERT_EQ((*nodes)[i].has_value(), i != 7777) << i;
}

TEST_P(ZkSessionContract, ChildrenAreBareNames) {
  for (const char* name : {"z", "a", "m"}) ASSERT_TRUE(create(path(name)));
  ASSERT_TRUE(create(path("a/below")));
  const auto children = session_->children(root_, false, soon());
  ASSERT_TRUE(children && *children);
  EXPECT_EQ(std::set<std::string>((*children)->names.begin(), (*children)->names.end()),
            (std::set<std::string>{"a", "m", "z"}));
  EXPECT_EQ((*children)->names.size(), 3U);
  EXPECT_EQ((*children)->stat.num_children, 3);
  const auto leaf = session_->children(path("z"), false, soon());
  ASSERT_TRUE(leaf && *leaf);
  EXPECT_TRUE((*leaf)->names.empty());
  const auto top = session_->children("/", false, soon());
  ASSERT_TRUE(top && *top);
  EXPECT_EQ(std::count((*top)->names.begin(), (*top)->names.end(), root_.substr(1)), 1);
}

// Watches

TEST_P(ZkSessionContract, ADataWatchFiresOnceForAChange) {
  ASSERT_TRUE(create(path("n"), "one"));
  ASSERT_TRUE(session_->get(path("n"), true, soon()));
  ASSERT_TRUE(session_->get(path("n"), true, soon()));  // armed twice is armed once
  ASSERT_TRUE(session_->multi({ZkSet{path("n"), "two"}}, soon()));
  ASSERT_TRUE(log_.wait_for(ZkEvent::Type::kChanged, path("n")));
  ASSERT_TRUE(session_->multi({ZkSet{path("n"), "three"}}, soon()));
  settle();
  EXPECT_EQ(log_.count(ZkEvent::Type::kChanged, path("n")), 1U);
  EXPECT_EQ(log_.watch_events(), 2U);  // that one and the one of settle()
}

TEST_P(ZkSessionContract, ADataWatchFiresForADeletion) {
  ASSERT_TRUE(create(path("n")));
  ASSERT_TRUE(session_->get(path("n"), true, soon()));
  ASSERT_TRUE(session_->multi({ZkDelete{path("n")}}, soon()));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kDeleted, path("n")));
  ASSERT_TRUE(create(path("n")));
  settle();
  EXPECT_EQ(log_.watch_events(), 2U);
}

TEST_P(ZkSessionContract, AWatchOnAnAbsentNodeFiresForItsCreation) {
  const auto node = session_->get(path("n"), true, soon());
  ASSERT_TRUE(node);
  EXPECT_FALSE(*node);
  ASSERT_TRUE(create(path("n")));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kCreated, path("n")));
  ASSERT_TRUE(session_->multi({ZkSet{path("n"), "x"}}, soon()));
  settle();
  EXPECT_EQ(log_.watch_events(), 2U);
}

TEST_P(ZkSessionContract, WithoutWatchNothingFires) {
  ASSERT_TRUE(create(path("n")));
  ASSERT_TRUE(session_->get_many({path("n"), path("later")}, false, soon()));
  ASSERT_TRUE(session_->children(root_, false, soon()));
  ASSERT_TRUE(session_->multi({ZkSet{path("n"), "x"}, ZkCreate{path("later"), ""}}, soon()));
  settle();
  EXPECT_EQ(log_.watch_events(), 1U);
}

TEST_P(ZkSessionContract, GetManyArmsEveryNode) {
  ASSERT_TRUE(create(path("a")));
  ASSERT_TRUE(create(path("b")));
  ASSERT_TRUE(session_->get_many({path("a"), path("absent"), path("b")}, true, soon()));
  ASSERT_TRUE(session_->multi({ZkSet{path("a"), "x"}, ZkCreate{path("absent"), ""}, ZkDelete{path("b")}}, soon()));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kChanged, path("a")));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kCreated, path("absent")));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kDeleted, path("b")));
}

TEST_P(ZkSessionContract, AChildrenWatchFiresOnceForTheNextChild) {
  ASSERT_TRUE(session_->children(root_, true, soon()));
  ASSERT_TRUE(create(path("a")));
  ASSERT_TRUE(log_.wait_for(ZkEvent::Type::kChildren, root_));
  ASSERT_TRUE(create(path("b")));
  settle();
  EXPECT_EQ(log_.count(ZkEvent::Type::kChildren, root_), 1U);
  ASSERT_TRUE(session_->children(root_, true, soon()));
  ASSERT_TRUE(session_->multi({ZkDelete{path("a")}}, soon()));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kChildren, root_, 2));
}

TEST_P(ZkSessionContract, AChildrenWatchIsBlindToData) {
  ASSERT_TRUE(create(path("a")));
  ASSERT_TRUE(create(path("a/b")));
  ASSERT_TRUE(session_->children(path("a"), true, soon()));
  ASSERT_TRUE(session_->multi({ZkSet{path("a"), "x"}, ZkSet{path("a/b"), "x"}, ZkCreate{path("a/b/c"), ""}}, soon()));
  settle();
  EXPECT_EQ(log_.watch_events(), 1U);
}

TEST_P(ZkSessionContract, AChildrenWatchOnAnAbsentNodeFiresForItsCreation) {
  const auto children = session_->children(path("queue"), true, soon());
  ASSERT_TRUE(children);
  EXPECT_FALSE(*children);
  ASSERT_TRUE(create(path("queue")));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kCreated, path("queue")));
}

TEST_P(ZkSessionContract, AChildrenWatchFiresForTheDeletionOfItsNode) {
  ASSERT_TRUE(create(path("n")));
  ASSERT_TRUE(session_->children(path("n"), true, soon()));
  ASSERT_TRUE(session_->multi({ZkDelete{path("n")}}, soon()));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kDeleted, path("n")));
}

TEST_P(ZkSessionContract, DeletionIsOneEventForDataAndChildrenWatch) {
  ASSERT_TRUE(create(path("n")));
  ASSERT_TRUE(session_->get(path("n"), true, soon()));
  ASSERT_TRUE(session_->children(path("n"), true, soon()));
  ASSERT_TRUE(session_->multi({ZkDelete{path("n")}}, soon()));
  ASSERT_TRUE(log_.wait_for(ZkEvent::Type::kDeleted, path("n")));
  settle();
  EXPECT_EQ(log_.watch_events(), 2U);
}

TEST_P(ZkSessionContract, WatchesSeeOtherSessions) {
  EventLog other_log;
  const auto other = open(other_log);
  ASSERT_TRUE(session_->get(path("n"), true, soon()));
  ASSERT_TRUE(other->multi({ZkCreate{path("n"), ""}}, soon()));
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kCreated, path("n")));
  EXPECT_EQ(other_log.watch_events(), 0U);
}

// Multi

TEST_P(ZkSessionContract, AnEmptyMultiDoesNothing) {
  const auto results = session_->multi({}, soon());
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_TRUE(results->empty());
}

TEST_P(ZkSessionContract, EachFailureHasItsCodeAndIndexAndNothingIsApplied) {
  ASSERT_TRUE(create(path("n"), "one"));
  ASSERT_TRUE(create(path("dir")));
  ASSERT_TRUE(create(path("dir/child")));
  const ZkOp first = ZkCreate{path("first"), ""};
  const ZkOp second = ZkSet{path("n"), "changed"};
  const ZkOp last = ZkDelete{path("dir/child")};
  const auto fails = [&](const ZkOp& op, ErrorCode code, Retry retry = Retry::kConflict) {
    SCOPED_TRACE(op.index());
    expect_failure({first, second, op, last}, 2, code, retry);
    EXPECT_EQ(get(path("first")), std::nullopt);
    EXPECT_EQ(get(path("n"))->data, "one");
    EXPECT_EQ(get(path("n"))->stat.version, 0);
    EXPECT_TRUE(get(path("dir/child")));
  };
  fails(ZkCheck{path("absent")}, ErrorCode::kNotFound);
  fails(ZkCheck{path("absent"), 3}, ErrorCode::kNotFound);
  fails(ZkCheck{path("dir"), 3}, ErrorCode::kVersion);
  fails(ZkCheck{path("n"), 0}, ErrorCode::kVersion);  // the set before it counts
  fails(ZkCreate{path("dir"), ""}, ErrorCode::kAlreadyExists);
  fails(ZkCreate{path("first"), ""}, ErrorCode::kAlreadyExists);
  fails(ZkCreate{path("absent/child"), ""}, ErrorCode::kNotFound);
  fails(ZkSet{path("absent"), ""}, ErrorCode::kNotFound);
  fails(ZkSet{path("dir"), "", 1}, ErrorCode::kVersion);
  fails(ZkDelete{path("absent")}, ErrorCode::kNotFound);
  fails(ZkDelete{path("dir/child"), 9}, ErrorCode::kVersion);
  fails(ZkDelete{path("dir")}, ErrorCode::kNotEmpty);
  fails(ZkDelete{path("dir"), 9}, ErrorCode::kVersion);  // looked at before the children
}

TEST_P(ZkSessionContract, TheFirstFailureOfTwoIsNamed) {
  expect_failure({ZkDelete{path("absent")}, ZkCreate{root_, ""}}, 0, ErrorCode::kNotFound, Retry::kConflict);
  EXPECT_EQ(get(root_)->stat.num_children, 0);
}

TEST_P(ZkSessionContract, AnEphemeralNodeHasNoChildren) {
  ASSERT_TRUE(create(path("e"), "", ZkMode::kEphemeral));
  expect_failure({ZkCheck{root_}, ZkCreate{path("e/child"), ""}}, 1, ErrorCode::kInvalid, Retry::kPermanent);
}

TEST_P(ZkSessionContract, AFailedMultiFiresNoWatch) {
  ASSERT_TRUE(create(path("n")));
  ASSERT_TRUE(session_->get_many({path("n"), path("absent")}, true, soon()));
  expect_failure({ZkSet{path("n"), "x"}, ZkCreate{path("absent"), ""}, ZkDelete{root_}}, 2, ErrorCode::kNotEmpty,
                 Retry::kConflict);
  settle();
  EXPECT_EQ(log_.watch_events(), 1U);
}

TEST_P(ZkSessionContract, CreateThenDeleteAssertsThatAPathIsFree) {
  ASSERT_TRUE(create(path("queue")));
  ASSERT_TRUE(create(path("fence"), "epoch"));
  const std::string lock = path("lock");
  const std::vector<ZkOp> request = {ZkCheck{path("fence"), 0}, ZkCreate{lock, ""}, ZkDelete{lock},
                                     ZkCreate{path("queue/request_"), "r", ZkMode::kPersistentSequential}};
  ASSERT_TRUE(session_->get(lock, true, soon()));
  const auto results = session_->multi(request, soon());
  ASSERT_TRUE(results) << results.error().text();
  ASSERT_EQ(results->size(), 4U);
  EXPECT_EQ((*results)[1].path, lock);
  EXPECT_EQ((*results)[2].path, "");
  EXPECT_EQ((*results)[3].path, path("queue/request_0000000000"));
  EXPECT_EQ(get(lock), std::nullopt);
  EXPECT_EQ(get(path("queue/request_0000000000"))->data, "r");
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kCreated, lock));  // the trick shows: who watches the lock must read again

  ASSERT_TRUE(create(lock));
  expect_failure(request, 1, ErrorCode::kAlreadyExists, Retry::kConflict);
  EXPECT_EQ(get(path("queue"))->stat.num_children, 1);
  ASSERT_TRUE(session_->multi({ZkDelete{lock}}, soon()));
  ASSERT_TRUE(session_->multi({ZkSet{path("fence"), "another leader"}}, soon()));
  expect_failure(request, 0, ErrorCode::kVersion, Retry::kConflict);
}

TEST_P(ZkSessionContract, MarkerAndSequentialNodeShareTheirCzxid) {
  ASSERT_TRUE(create(path("queue")));
  const std::vector<ZkOp> once = {ZkCreate{path("marker"), "uid"},
                                  ZkCreate{path("queue/request_"), "", ZkMode::kPersistentSequential}};
  const auto results = session_->multi(once, soon());
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_EQ((*results)[0].path, path("marker"));
  EXPECT_EQ(get((*results)[0].path)->stat.czxid, get((*results)[1].path)->stat.czxid);
  expect_failure(once, 0, ErrorCode::kAlreadyExists, Retry::kConflict);  // the blind retry adds nothing
  EXPECT_EQ(get(path("queue"))->stat.num_children, 1);
}

TEST_P(ZkSessionContract, SequenceNumbersCountCreationsOfTheParent) {
  const auto next = [this] {
    const auto results = session_->multi({ZkCreate{path("s_"), "", ZkMode::kPersistentSequential}}, soon());
    return results ? results->front().path : results.error().text();
  };
  EXPECT_EQ(next(), path("s_0000000000"));
  ASSERT_TRUE(create(path("other")));  // counts as well
  EXPECT_EQ(next(), path("s_0000000002"));
  ASSERT_TRUE(session_->multi({ZkDelete{path("s_0000000002")}}, soon()));  // does not
  EXPECT_EQ(next(), path("s_0000000003"));
  expect_failure({ZkCreate{path("s_"), "", ZkMode::kPersistentSequential}, ZkCheck{path("absent")}}, 1,
                 ErrorCode::kNotFound, Retry::kConflict);  // a failed one does not
  EXPECT_EQ(next(), path("s_0000000004"));
  const auto two = session_->multi({ZkCreate{path("a-"), "", ZkMode::kPersistentSequential},
                                    ZkCreate{path("b-"), "", ZkMode::kPersistentSequential}},
                                   soon());
  ASSERT_TRUE(two) << two.error().text();
  EXPECT_EQ((*two)[0].path, path("a-0000000005"));
  EXPECT_EQ((*two)[1].path, path("b-0000000006"));
}

TEST_P(ZkSessionContract, ASequentialNameMayBeOnlyTheNumber) {
  ASSERT_TRUE(create(path("queue")));
  const auto results = session_->multi({ZkCreate{path("queue/"), "", ZkMode::kPersistentSequential}}, soon());
  ASSERT_TRUE(results) << results.error().text();
  EXPECT_EQ(results->front().path, path("queue/0000000000"));
}

TEST_P(ZkSessionContract, AThousandOperationsAreOneTransaction) {
  std::vector<ZkOp> ops;
  for (std::size_t i = 0; i < kMostMultiOps; ++i) ops.emplace_back(ZkCreate{path("n" + std::to_string(i)), "data"});
  const auto results = session_->multi(ops, soon());
  ASSERT_TRUE(results) << results.error().text();
  ASSERT_EQ(results->size(), kMostMultiOps);
  EXPECT_EQ(results->back().path, path("n999"));
  EXPECT_EQ(get(path("n0"))->stat.czxid, get(path("n999"))->stat.czxid);
  ops.emplace_back(ZkCheck{root_});
  const auto refused = session_->multi(ops, soon());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  ASSERT_TRUE(session_->multi({ZkCheck{root_}}, soon()));
  std::vector<ZkOp> clean;
  for (std::size_t i = 0; i < kMostMultiOps; ++i) clean.emplace_back(ZkDelete{path("n" + std::to_string(i))});
  EXPECT_TRUE(session_->multi(clean, soon()));
}

TEST_P(ZkSessionContract, ATooLargeMultiIsRefusedHereAndTheSessionLives) {
  const std::int64_t id = session_->session_id();
  const std::size_t before = log_.size();
  const std::string half(kMostMultiBytes / 2, 'x');
  const auto refused = session_->multi({ZkCreate{path("a"), half}, ZkCreate{path("b"), half}}, soon());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(refused.error().retry, Retry::kPermanent);
  EXPECT_EQ(get(path("a")), std::nullopt);
  EXPECT_EQ(session_->state(), ZkState::kConnected);
  EXPECT_EQ(session_->session_id(), id);
  EXPECT_EQ(log_.size(), before);
  const std::string fits(kMostMultiBytes - 1024, 'x');
  const auto accepted = create(path("a"), fits);
  ASSERT_TRUE(accepted) << accepted.error().text();
  EXPECT_EQ(get(path("a"))->data, fits);
}

// Access control

TEST_P(ZkSessionContract, WithCredentialsOnlyTheCreatorWrites) {
  EventLog owner_log;
  const auto owner = open(owner_log, ZkAuth{"digest", "operator:secret"});
  for (const ZkAcl acl : {ZkAcl::kLikeKafka, ZkAcl::kCreatorAllWorldRead}) {
    const std::string ours = path(acl == ZkAcl::kLikeKafka ? "kafka" : "ours");
    ASSERT_TRUE(owner->multi({ZkCreate{ours, "mine", ZkMode::kPersistent, acl}}, soon()));
    EXPECT_EQ(get(ours)->data, "mine");
    expect_failure({ZkCheck{ours}, ZkSet{ours, "stolen"}}, 1, ErrorCode::kUnauthorized, Retry::kPermanent);
    expect_failure({ZkCreate{ours + "/child", ""}}, 0, ErrorCode::kUnauthorized, Retry::kPermanent);
    ASSERT_TRUE(owner->multi({ZkCreate{ours + "/child", ""}, ZkSet{ours, "still mine"}}, soon()));
    expect_failure({ZkDelete{ours + "/child"}}, 0, ErrorCode::kUnauthorized, Retry::kPermanent);
    EventLog thief_log;
    const auto thief = open(thief_log, ZkAuth{"digest", "operator:wrong"});
    const auto stolen = thief->multi({ZkSet{ours, "stolen"}}, soon());
    ASSERT_FALSE(stolen);
    EXPECT_EQ(stolen.error().code, ErrorCode::kUnauthorized);
    ASSERT_TRUE(owner->multi({ZkDelete{ours + "/child"}, ZkDelete{ours}}, soon()));
  }
}

TEST_P(ZkSessionContract, WithoutCredentialsNodesAreOpen) {
  EventLog other_log;
  const auto other = open(other_log, ZkAuth{"digest", "somebody:else"});
  for (const ZkAcl acl : {ZkAcl::kLikeKafka, ZkAcl::kCreatorAllWorldRead}) {
    ASSERT_TRUE(session_->multi({ZkCreate{path("open"), "", ZkMode::kPersistent, acl}}, soon()));
    EXPECT_TRUE(other->multi({ZkSet{path("open"), "theirs"}, ZkDelete{path("open")}}, soon()));
  }
}

// Sessions

TEST_P(ZkSessionContract, EphemeralNodesGoWithTheClose) {
  EventLog other_log;
  const auto other = open(other_log);
  const std::int64_t id = other->session_id();
  ASSERT_TRUE(other->multi({ZkCreate{path("leader"), "me", ZkMode::kEphemeral}}, soon()));
  const auto node = session_->get(path("leader"), true, soon());
  ASSERT_TRUE(node && *node);
  EXPECT_EQ((*node)->stat.ephemeral_owner, id);
  other->close();
  EXPECT_TRUE(log_.wait_for(ZkEvent::Type::kDeleted, path("leader")));
  ASSERT_TRUE(session_->sync(soon()));
  EXPECT_EQ(get(path("leader")), std::nullopt);
}

TEST_P(ZkSessionContract, AClosedSessionRefusesEverything) {
  const std::int64_t id = session_->session_id();
  ASSERT_TRUE(session_->get(path("n"), true, soon()));
  const std::size_t events = log_.size();
  session_->close();
  session_->close();
  EXPECT_EQ(session_->state(), ZkState::kClosed);
  EXPECT_EQ(session_->session_id(), id);
  const auto cancelled = [](const Error& error) {
    return error.code == ErrorCode::kCancelled && error.retry == Retry::kTransient;
  };
  EXPECT_TRUE(cancelled(session_->get(root_, false, soon()).error()));
  EXPECT_TRUE(cancelled(session_->get_many({root_}, true, soon()).error()));
  EXPECT_TRUE(cancelled(session_->children(root_, false, soon()).error()));
  EXPECT_TRUE(cancelled(session_->multi({ZkCheck{root_}}, soon()).error()));
  EXPECT_TRUE(cancelled(session_->sync(soon()).error()));
  EXPECT_TRUE(cancelled(session_->wait_connected(soon()).error()));
  EventLog other_log;
  ASSERT_TRUE(open(other_log)->multi({ZkCreate{path("n"), ""}}, soon()));
  EXPECT_EQ(log_.size(), events);  // neither the close nor what comes after it is told
}

TEST_P(ZkSessionContract, NothingIsSentAfterTheDeadline) {
  const Deadline past{};
  const auto late = [](const Error& error) {
    return error.code == ErrorCode::kTimeout && error.retry == Retry::kTransient;
  };
  EXPECT_TRUE(late(session_->multi({ZkCreate{path("n"), ""}}, past).error()));
  EXPECT_TRUE(late(session_->get(root_, true, past).error()));
  EXPECT_TRUE(late(session_->get_many({root_}, true, past).error()));
  EXPECT_TRUE(late(session_->children(root_, true, past).error()));
  EXPECT_TRUE(late(session_->sync(past).error()));
  EXPECT_TRUE(session_->wait_connected(past));  // it is
  EXPECT_EQ(get(path("n")), std::nullopt);
}

TEST_P(ZkSessionContract, NothingIsSentAfterAStop) {
  std::stop_source source;
  source.request_stop();
  const auto stopped = [](const Error& error) {
    return error.code == ErrorCode::kCancelled && error.retry == Retry::kTransient;
  };
  const Deadline deadline = soon(source.get_token());
  EXPECT_TRUE(stopped(session_->multi({ZkCreate{path("n"), ""}}, deadline).error()));
  EXPECT_TRUE(stopped(session_->get(root_, true, deadline).error()));
  EXPECT_TRUE(stopped(session_->get_many({root_}, true, deadline).error()));
  EXPECT_TRUE(stopped(session_->children(root_, true, deadline).error()));
  EXPECT_TRUE(stopped(session_->sync(deadline).error()));
  EXPECT_EQ(get(path("n")), std::nullopt);
}

TEST_P(ZkSessionContract, AfterASyncOtherSessionsWritesAreSeen) {
  EventLog other_log;
  const auto other = open(other_log);
  for (int i = 0; i < 20; ++i) {
    const std::string name = path("n" + std::to_string(i));
    ASSERT_TRUE(other->multi({ZkCreate{name, ""}}, soon()));
    const Status synced = session_->sync(soon());
    ASSERT_TRUE(synced) << synced.error().text();
    ASSERT_TRUE(get(name)) << i;
  }
}

TEST_P(ZkSessionContract, SeveralThreadsMayCall) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 50; ++i) {
        const std::string name = path("t" + std::to_string(t) + "-" + std::to_string(i));
        EXPECT_TRUE(session_->multi({ZkCreate{name, name}}, soon()));
        const auto node = session_->get(name, true, soon());
        EXPECT_TRUE(node && *node && (*node)->data == name);
      }
    });
  }
  threads.clear();
  EXPECT_EQ(get(root_)->stat.num_children, 200);
}

INSTANTIATE_TEST_SUITE_P(Zk, ZkSessionContract, testing::ValuesIn(backends()),
                         [](const testing::TestParamInfo<Backend>& each) { return each.param.name; });

}  // namespace
}  // namespace kro::test
