#include "domain/drop_set.h"

#include <gtest/gtest.h>

namespace kro {
namespace {

// Every row of the KIP's table, with the form that keeps the target.
TEST(DropSet, TableOfTheKip) {
  struct Row {
    const char* what;
    ChangeInFlight change;
    ReplicaList drop;
  };
  const Row rows[] = {
      {"[1,2] → [2,3] → [2,4], 3 lags", {{2, 4, 1, 3}, {1, 2}, 1, {1, 2}, 2, {2, 4}}, {3}},
      {"the same, 3 in the ISR", {{2, 4, 1, 3}, {1, 2, 3}, 1, {1, 2}, 2, {2, 4}}, {3}},
      {"the same, 1 dead, 3 leads", {{2, 4, 1, 3}, {3, 2}, 3, {1, 2}, 2, {2, 4}}, {1}},
      {"[0] → [1] → [2], top 1", {{2, 0, 1}, {0}, 0, {0}, 1, {2}}, {1}},
      {"[1,2] → [3,4] → [3,5], 3 in the ISR", {{3, 5, 1, 2, 4}, {1, 2, 3}, 1, {1, 2}, 2, {3, 5}}, {4}},
      {"no leader", {{2, 4, 1, 3}, {1, 2}, -1, {1, 2}, 2, {2, 4}}, {3}},
  };
  for (const Row& row : rows) EXPECT_EQ(drop_set(row.change), row.drop) << row.what;
}

TEST(DropSet, BeforeTheMergeTheNewTargetIsNoPartOfIt) {
  // Evaluated on what is assigned now, before the new target is merged in.
  EXPECT_EQ(drop_set({{2, 3, 1}, {1, 2}, 1, {1, 2}, 2, {2, 4}}), (ReplicaList{3}));
  EXPECT_EQ(drop_set({{3, 4, 1, 2}, {1, 2, 3}, 1, {1, 2}, 2, {3, 5}}), (ReplicaList{4})) << "the still wanted 3 stays";
}

TEST(DropSet, FirstRunDropsNothing) {
  EXPECT_EQ(drop_set({{1, 2, 3}, {1, 2, 3}, 1, {1, 2, 3}, 3, {4, 5, 6}}), ReplicaList{});
}

TEST(DropSet, TheLeaderIsNeverDropped) {
  // 5 leads and is neither target nor original: it must be kept, in a step of its own.
  const ChangeInFlight change{{5, 6, 1, 2}, {5}, 5, {1, 2}, 2, {3, 4}};
  EXPECT_FALSE(contains(drop_set(change), 5));
  EXPECT_EQ(keep_set(change), (ReplicaList{5}));
}

TEST(KeepSet, EmptyWhereKafkaKeepsWhatIsNeeded) {
  EXPECT_EQ(keep_set({{2, 3, 1}, {1, 2}, 1, {1, 2}, 2, {2, 4}}), ReplicaList{});
  EXPECT_EQ(keep_set({{1, 2}, {1, 2}, 1, {1, 2}, 2, {3, 4}}), ReplicaList{});
  EXPECT_EQ(keep_set({{2, 4, 1, 3}, {3, 2}, 3, {1, 2}, 2, {2, 4}}), (ReplicaList{3})) << "3 leads, and 1 is dead";
}

}  // namespace
}  // namespace kro
