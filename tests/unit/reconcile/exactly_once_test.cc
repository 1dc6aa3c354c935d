#include "unit/reconcile/operator_rig.h"

namespace kro {
namespace {

// Every write of a run, lost in every way and survived by a restart or not: each (uid, generation, n) has one request.
class ExactlyOnce : public OperatorRig, public ::testing::WithParamInterface<std::tuple<ZkFault, bool>> {
 protected:
  void SetUp() override {
    controller_leads();
    zk_->on_commit([this](const std::vector<ZkOp>& ops) {
      std::string marker;
      bool request = false;
      for (const ZkOp& op : ops) {
        const auto* create = std::get_if<ZkCreate>(&op);
        if (create == nullptr) continue;
        if (create->path.starts_with("/admin/reassignment_ledger/op/") && create->path.ends_with("-1"))
          if (std::count(create->path.begin(), create->path.end(), '/') == 5) marker = create->path;
        if (create->path.starts_with("/admin/reassignment_requests/request_")) request = true;
      }
      if (request) ++requests_[marker];
    });
  }

  void run() {
    for (int i = 0; i < 3; ++i)
      apply(reassignment("r" + std::to_string(i), {{"t" + std::to_string(i), {{"0", {1, 2}}, {"1", {2, 3}}}}}));
    settle();
    if (std::get<1>(GetParam())) {
      operator_dies();
      operator_starts();
    }
    pass(12s);
  }

  void check(const std::string& what) {
    EXPECT_EQ(inbox().size(), 3U) << what;
    EXPECT_EQ(requests_.size(), 3U) << what;
    for (const auto& [marker, n] : requests_) EXPECT_EQ(n, 1) << marker << " " << what;
    for (int i = 0; i < 3; ++i) {
      const auto names = markers(uid("r" + std::to_string(i)));
      EXPECT_EQ(names, std::vector<std::string>{"1-1"}) << what;
    }
  }

  std::map<std::string, int> requests_;
};

TEST_P(ExactlyOnce, WhicheverWriteIsHit) {
  faults_->reset();
  faults_->only_writes();
  run();
  const std::uint64_t writes = faults_->operations();
  check("without faults");
  ASSERT_GE(writes, 3U);
  for (std::uint64_t nth = 1; nth <= writes; ++nth) {
    operator_dies();
    for (int i = 0; i < 3; ++i) {
      const std::string name = "r" + std::to_string(i);
      erase(reconcile::Kind::kReassignment, name);
    }
    zk_->remove("/admin/reassignment_ledger");
    zk_->remove("/admin/reassignment_requests");
    zk_->remove("/admin/reassignment_results");
    requests_.clear();
    faults_->reset();
    faults_->only_writes();
    faults_->at(nth, std::get<0>(GetParam()));
    operator_starts();
    pass(4s);
    run();
    EXPECT_EQ(faults_->injected(), 1U);
    check("fault at write " + std::to_string(nth));
  }
}

INSTANTIATE_TEST_SUITE_P(Faults, ExactlyOnce,
                         ::testing::Combine(::testing::Values(ZkFault::kBefore, ZkFault::kLost, ZkFault::kAfter,
                                                              ZkFault::kTimeoutAfter, ZkFault::kExpireBefore,
                                                              ZkFault::kExpireAfter),
                                            ::testing::Bool()));

class SingleLostAnswer : public OperatorRig {};

TEST_F(SingleLostAnswer, MarkerOfAnotherContentMakesTheNextNumber) {
  controller_leads();
  settle();
  apply(reassignment("move", {{"orders", {{"0", {1, 2}}}}}));
  const std::string id = uid("move");
  // Somebody with our epoch (an earlier life of ours) sent another content under the same number.
  zk_->put(
      "/admin/reassignment_ledger/op/" + id + "/1-1",
      R"({"version":1,"namespace":"kafka","name":"move","request":{"version":1,"assignments":{"orders":{"0":[9]}}}})");
  pass(2s);
  EXPECT_EQ(markers(id), (std::vector<std::string>{"1-1", "1-2"}));
  EXPECT_EQ(inbox().size(), 1U);
}

}  // namespace
}  // namespace kro
