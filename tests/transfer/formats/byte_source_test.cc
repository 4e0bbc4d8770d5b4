#include "millrace/transfer/formats/byte_source.h"

#include <gtest/gtest.h>

#include "tests/transfer/formats/bytes.h"

namespace millrace::transfer {
namespace {

TEST(MemorySourceTest, ReadsFrontToBackThenNothing) {
  const Bytes content = counting(5);
  MemorySource source("mem", content);
  Bytes out(3);

  EXPECT_EQ(source.read(out).value(), 3u);
  EXPECT_EQ(out, first(content, 3));
  EXPECT_EQ(source.read(out).value(), 2u);
  EXPECT_EQ(out[1], content[4]);
  EXPECT_EQ(source.read(out).value(), 0u);
}

TEST(FileErrorTest, NamesFileAndOffsetInWordsAndAsDetail) {
  const Error error = file_error(ErrorCode::kDataLoss, {"a.gz", 17, true}, "why");

  EXPECT_EQ(error.message(), "reading a.gz at byte 17 of its decompressed content: why");
  ASSERT_NE(error.detail<FilePosition>(), nullptr);
  EXPECT_EQ(error.detail<FilePosition>()->offset, 17u);
}

}  // namespace
}  // namespace millrace::transfer
