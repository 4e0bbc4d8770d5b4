#include "millrace/transfer/batch_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "millrace/transfer/queue_limit.h"

namespace millrace::transfer {
namespace {

using devices::DType;
using devices::kUnknownDimension;
using devices::Shape;

std::string assemble(const Shape& row, std::int64_t length, const std::vector<RowBytes>& rows,
                     std::size_t bytes) {
  std::string batch(bytes, '?');
  assemble_rows(row, length, rows, std::as_writable_bytes(std::span(batch)));
  for (char& c : batch) c = c == '\0' ? '.' : c;
  return batch;
}

RowBytes part(std::string_view text, std::int64_t rows, std::int64_t length = 0) {
  return {std::as_bytes(std::span(text)), rows, length};
}

TEST(BatchModelTest, RowsLieOneBehindTheOtherAndZerosFillTheRest) {
  struct Row {
    Shape row;
    std::int64_t length;
    std::vector<RowBytes> parts;
    std::size_t bytes;
    const char* batch;
  };
  const Shape two(DType::kU8, {2});
  const Shape line(DType::kU8, {kUnknownDimension});
  const Shape pairs(DType::kU8, {kUnknownDimension, 2});
  const Shape inner(DType::kU8, {2, kUnknownDimension});
  for (const Row& row :
       std::vector<Row>{{two, 0, {part("aa", 1), part("bbcc", 2)}, 8, "aabbcc.."},
                        {two, 0, {part("aa", 1)}, 2, "aa"},
                        {two, 0, {}, 4, "...."},
                        {line,
                         4,
                         {part("a", 1, 1), part("bbbb", 1, 4), part("ccdd", 2, 2)},
                         20,
                         "a...bbbbcc..dd......"},
                        {pairs, 2, {part("ab", 1, 1)}, 8, "ab......"},
                        {inner, 3, {part("abcd", 1, 2), part("ef", 1, 1)}, 12, "ab.cd.e..f.."},
                        {Shape(DType::kU8, {}), 0, {part("abc", 3)}, 4, "abc."}}) {
    EXPECT_EQ(assemble(row.row, row.length, row.parts, row.bytes), row.batch);
  }
}

TEST(BatchModelTest, TheShapeOfABatchHasItsRowsFirstAndTheLengthOfItsBucket) {
  EXPECT_EQ(batch_shape(Shape(DType::kF32, {3}), 4, 0), Shape(DType::kF32, {4, 3}));
  EXPECT_EQ(batch_shape(Shape(DType::kF32, {}), 4, 0), Shape(DType::kF32, {4}));
  EXPECT_EQ(batch_shape(Shape(DType::kF32, {2, kUnknownDimension}), 4, 7),
            Shape(DType::kF32, {4, 2, 7}));
}

TEST(QueueLimitTest, RequestsAndBytesAreAdmittedUpToTheLimits) {  // QL-1
  QueueLimit limit({.requests = 2, .bytes = 10});
  EXPECT_FALSE(limit.try_admit(11));
  EXPECT_TRUE(limit.try_admit(10));
  EXPECT_FALSE(limit.try_admit(1));
  EXPECT_TRUE(limit.try_admit(0));
  EXPECT_FALSE(limit.try_admit(0));
  limit.release(10);
  EXPECT_TRUE(limit.try_admit(4));
  limit.readmit(10);
  EXPECT_EQ(limit.used().requests, 3U);
  EXPECT_EQ(limit.used().bytes, 14U);
}

// Real threads: the burst that it is about comes from several at once.
TEST(QueueLimitStressTest, ABurstFromManyThreadsNeverExceedsTheLimit) {  // QL-1
  QueueLimit limit({.requests = 7, .bytes = 1000});
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20000; ++i) {
        if (!limit.try_admit(1)) continue;
        const int now = ++inside;
        for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        --inside;
        limit.release(1);
      }
    });
  }
  threads.clear();
  EXPECT_LE(most.load(), 7);
  EXPECT_EQ(limit.used().requests, 0U);
}

}  // namespace
}  // namespace millrace::transfer
