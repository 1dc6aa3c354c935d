#include "runtime/status_writer_queue.h"

#include <gtest/gtest.h>

namespace kro {
namespace {

StatusWrite write_of(const std::string& version, const std::string& status) {
  StatusWrite out;
  out.resource_version = version;
  out.status_json = status;
  return out;
}

TEST(StatusWriterQueueTest, GivesKeysInTheirOrder) {
  StatusWriterQueue queue;
  EXPECT_FALSE(queue.submit("a", write_of("1", "a1")).has_value());
  EXPECT_FALSE(queue.submit("b", write_of("1", "b1")).has_value());
  EXPECT_EQ(queue.take()->key, "a");
  EXPECT_EQ(queue.take()->key, "b");
  EXPECT_FALSE(queue.take().has_value());
  EXPECT_FALSE(queue.idle());
  queue.finish("a", "1", KubeMeta{"u", "2"});
  queue.finish("b", "1", KubeMeta{"u", "2"});
  EXPECT_TRUE(queue.idle());
}

TEST(StatusWriterQueueTest, TheNewestWinsAndKeepsThePlaceInTheQueue) {
  StatusWriterQueue queue;
  queue.submit("a", write_of("1", "old"));
  queue.submit("b", write_of("1", "b"));
  const auto replaced = queue.submit("a", write_of("1", "new"));
  ASSERT_TRUE(replaced.has_value());
  EXPECT_EQ(replaced->status_json, "old");
  EXPECT_EQ(queue.waiting(), 2U);
  const auto work = queue.take();
  EXPECT_EQ(work->key, "a");
  EXPECT_EQ(work->write.status_json, "new");
}

TEST(StatusWriterQueueTest, NeverTwoInFlightForOneKey) {
  StatusWriterQueue queue;
  queue.submit("a", write_of("1", "first"));
  (void)queue.take();
  EXPECT_FALSE(queue.submit("a", write_of("1", "second")).has_value());
  EXPECT_FALSE(queue.has_work());
  EXPECT_FALSE(queue.take().has_value());
  queue.finish("a", "1", KubeMeta{"u", "2"});
  ASSERT_TRUE(queue.has_work());
  EXPECT_EQ(queue.take()->write.status_json, "second");
}

TEST(StatusWriterQueueTest, AWaitingWriteFollowsOurOwnVersion) {
  StatusWriterQueue queue;
  queue.submit("a", write_of("1", "first"));
  (void)queue.take();
  queue.submit("a", write_of("1", "second"));
  queue.finish("a", "1", KubeMeta{"u", "2"});
  EXPECT_EQ(queue.take()->write.resource_version, "2") << "nobody else wrote between 1 and 2";
}

TEST(StatusWriterQueueTest, AWaitingWriteOfAnotherVersionKeepsIt) {
  StatusWriterQueue queue;
  queue.submit("a", write_of("1", "first"));
  (void)queue.take();
  queue.submit("a", write_of("5", "second"));
  queue.finish("a", "1", KubeMeta{"u", "2"});
  EXPECT_EQ(queue.take()->write.resource_version, "5");
}

TEST(StatusWriterQueueTest, AFailedWriteMovesNoVersion) {
  StatusWriterQueue queue;
  queue.submit("a", write_of("1", "first"));
  (void)queue.take();
  queue.submit("a", write_of("1", "second"));
  queue.finish("a", "1", fail(ErrorCode::kTimeout, Retry::kAmbiguous, "lost"));
  EXPECT_EQ(queue.take()->write.resource_version, "1");
}

TEST(StatusWriterQueueTest, ClearTakesOutWhatWaits) {
  StatusWriterQueue queue;
  queue.submit("a", write_of("1", "flying"));
  (void)queue.take();
  queue.submit("a", write_of("1", "waiting"));
  queue.submit("b", write_of("1", "waiting"));
  EXPECT_EQ(queue.clear().size(), 2U);
  EXPECT_FALSE(queue.has_work());
  EXPECT_FALSE(queue.idle());
  queue.finish("a", "1", KubeMeta{"u", "2"});
  EXPECT_TRUE(queue.idle());
}

}  // namespace
}  // namespace kro
