#include "domain/topic_partition.h"

#include <gtest/gtest.h>

namespace kro {
namespace {

TEST(TopicName, KafkasRule) {
  for (const std::string& good : {std::string("a"), std::string("orders.v1_x-Y"), std::string("..."), std::string(".a"),
                                  std::string("__consumer_offsets"), std::string(249, 'x')})
    EXPECT_TRUE(valid_topic_name(good)) << good;
  for (const std::string& bad : {std::string(), std::string("."), std::string(".."), std::string(250, 'x'),
                                 std::string("a/b"), std::string("a b"), std::string("a\n"), std::string("a\0b", 3),
                                 std::string("é"), std::string("../brokers/ids"), std::string("a:b")})
    EXPECT_FALSE(valid_topic_name(bad)) << bad;
}

TEST(TopicName, InternalOnes) {
  EXPECT_TRUE(internal_topic("__consumer_offsets"));
  EXPECT_TRUE(internal_topic("__transaction_state"));
  EXPECT_FALSE(internal_topic("__my_topic"));
  EXPECT_FALSE(internal_topic("consumer_offsets"));
}

TEST(ReplicaListProblem, EmptyNegativeAndTwice) {
  EXPECT_FALSE(replica_list_problem({0}));
  EXPECT_FALSE(replica_list_problem({3, 1, 2}));
  EXPECT_EQ(replica_list_problem({}), "the replica list is empty");
  EXPECT_EQ(replica_list_problem({1, -2}), "broker id -2 is negative");
  EXPECT_EQ(replica_list_problem({1, 2, 1}), "broker 1 stands twice in the replica list");
}

TEST(ReplicaLists, SetsInOrder) {
  EXPECT_EQ(to_text({7, 3, 5}), "7,3,5");
  EXPECT_EQ(to_text({}), "");
  EXPECT_EQ(without({1, 2, 3, 4}, {4, 2}), (ReplicaList{1, 3}));
  EXPECT_TRUE(subset({}, {1}));
  EXPECT_TRUE(subset({2, 1}, {1, 2, 3}));
  EXPECT_FALSE(subset({1, 4}, {1, 2, 3}));
  EXPECT_TRUE(permutation({1, 2, 3}, {3, 1, 2}));
  EXPECT_FALSE(permutation({1, 2}, {1, 2, 3}));
  EXPECT_FALSE(permutation({1, 2}, {1, 3}));
}

TEST(TopicPartitionText, AsKafkasToolsPrintIt) { EXPECT_EQ((TopicPartition{"a-b", 12}.text()), "a-b-12"); }

TEST(PartitionSetsTest, InsertKeepsOrderAndTellsWhatIsNew) {
  PartitionSets sets;
  for (const PartitionId p : {5, 1, 3}) EXPECT_TRUE(insert(sets, {"t", p}));
  EXPECT_FALSE(insert(sets, {"t", 3}));
  EXPECT_TRUE(insert(sets, {"s", 0}));
  EXPECT_EQ(sets.at("t"), (std::vector<PartitionId>{1, 3, 5}));
  EXPECT_EQ(count(sets), 4U);
  EXPECT_TRUE(contains(sets, {"t", 5}));
  EXPECT_FALSE(contains(sets, {"t", 4}));
  EXPECT_FALSE(contains(sets, {"u", 1}));
  EXPECT_EQ(flatten(sets), (std::vector<TopicPartition>{{"s", 0}, {"t", 1}, {"t", 3}, {"t", 5}}));
}

TEST(PartitionSetsTest, EraseTakesTheEmptyTopicToo) {
  PartitionSets sets{{"t", {1, 2}}};
  EXPECT_FALSE(erase(sets, {"t", 3}));
  EXPECT_FALSE(erase(sets, {"u", 1}));
  EXPECT_TRUE(erase(sets, {"t", 1}));
  EXPECT_FALSE(erase(sets, {"t", 1}));
  EXPECT_TRUE(erase(sets, {"t", 2}));
  EXPECT_TRUE(sets.empty());
}

TEST(AssignmentsTest, FindCountErase) {
  Assignments plan{{"t", {{0, {1}}, {1, {2}}}}};
  ASSERT_NE(find(plan, {"t", 1}), nullptr);
  EXPECT_EQ(*find(plan, {"t", 1}), (ReplicaList{2}));
  EXPECT_EQ(find(plan, {"t", 2}), nullptr);
  EXPECT_EQ(find(plan, {"u", 0}), nullptr);
  EXPECT_EQ(count(plan), 2U);
  EXPECT_FALSE(erase(plan, {"t", 7}));
  EXPECT_TRUE(erase(plan, {"t", 0}));
  EXPECT_TRUE(erase(plan, {"t", 1}));
  EXPECT_TRUE(plan.empty());
}

TEST(Cut, PiecesAreSortedFullAndComplete) {
  Assignments plan;
  for (const PartitionId p : {10, 9, 2, 0, 1}) plan["b"][p] = {p};
  plan["a"] = {{0, {1}}, {1, {2}}};
  const auto pieces = cut(plan, 3);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0], (Assignments{{"a", {{0, {1}}, {1, {2}}}}, {"b", {{0, {0}}}}}));
  EXPECT_EQ(pieces[1], (Assignments{{"b", {{1, {1}}, {2, {2}}, {9, {9}}}}}));  // numeric, not "10" < "9"
  EXPECT_EQ(pieces[2], (Assignments{{"b", {{10, {10}}}}}));
}

TEST(Cut, EdgesOfThePiece) {
  EXPECT_TRUE(cut({}, 3).empty());
  const Assignments two{{"t", {{0, {1}}, {1, {1}}}}};
  EXPECT_EQ(cut(two, 2).size(), 1U);
  EXPECT_EQ(cut(two, 1).size(), 2U);
}

}  // namespace
}  // namespace kro
