
#include <gtest/gtest.h>

#include <string>

#include "millrace/transfer/formats/byte_source.h"
#include "millrace/transfer/formats/file.h"
#include "tests/support/temp_folder.h"
#include "tests/transfer/formats/bytes.h"

namespace millrace::transfer {
namespace {

using millrace::testing::TempFolder;

TEST(FileWriterTest, WhatIsWrittenInPiecesIsThereWithItsChecksum) {
  const TempFolder folder;
  const Bytes content = counting(100'000);
  {
    auto writer = FileWriter::create(folder.file("a"));
    ASSERT_TRUE(writer) << writer.error().to_string();
    const std::span<const std::byte> bytes(content);
    ASSERT_TRUE(writer->write(bytes.first(1)));
    ASSERT_TRUE(writer->write({}));
    ASSERT_TRUE(writer->write(bytes.subspan(1)));
    ASSERT_TRUE(writer->sync());
    EXPECT_EQ(writer->bytes(), content.size());
    EXPECT_EQ(writer->crc32(), crc32_of(content));
  }
  EXPECT_TRUE(sync_folder(folder.path()));
  const File file = File::open(folder.file("a")).value();
  Bytes read(content.size() + 1);
  EXPECT_EQ(file.read_at(0, read).value(), content.size());
  EXPECT_EQ(first(read, content.size()), content);
}

TEST(FileWriterTest, ChecksumIsTheOneOfZlib) {
  const std::string check = "123456789";  // the check value of every catalogue of CRCs
  EXPECT_EQ(crc32_of(std::as_bytes(std::span(check))), 0xcbf43926U);
  EXPECT_EQ(crc32_of({}), 0U);
}

TEST(FileWriterTest, AFileThatIsThereIsNotWrittenOver) {
  const TempFolder folder;
  folder.write("a", counting(3));
  const auto writer = FileWriter::create(folder.file("a"));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code(), ErrorCode::kAlreadyExists);
  EXPECT_NE(writer.error().message().find(folder.file("a")), std::string::npos);
  EXPECT_EQ(File::open(folder.file("a")).value().size(), 3U);
}

TEST(FileWriterTest, AFolderThatIsNotThereIsNamed) {
  const TempFolder folder;
  const auto writer = FileWriter::create(folder.file("none/a"));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().code(), ErrorCode::kNotFound);
  const Status synced = sync_folder(folder.file("none"));
  ASSERT_FALSE(synced);
  EXPECT_NE(synced.error().message().find(folder.file("none")), std::string::npos);
}

}  // namespace
}  // namespace millrace::transfer
