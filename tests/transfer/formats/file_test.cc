#include "millrace/transfer/formats/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "tests/support/file_calls.h"
#include "tests/support/temp_folder.h"
#include "tests/transfer/formats/bytes.h"

namespace millrace::transfer {
namespace {

using millrace::testing::TempFolder;

TEST(FileTest, ReadsAtAnyOffsetAndStopsAtTheEnd) {
  TempFolder folder;
  const File file = File::open(folder.write("f", counting(10))).value();
  Bytes out(4);

  EXPECT_EQ(file.size(), 10u);
  EXPECT_EQ(file.read_at(3, out).value(), 4u);
  EXPECT_EQ(out, bytes_of({3, 4, 5, 6}));
  EXPECT_EQ(file.read_at(8, out).value(), 2u);
  EXPECT_EQ(file.read_at(100, out).value(), 0u);
}

TEST(FileTest, WhatCannotBeOpenedIsNamedWithItsReason) {
  TempFolder folder;
  ::mkfifo(folder.file("pipe").c_str(), 0600);
  struct Row {
    std::string path;
    ErrorCode code;
    std::string words;
  };
  for (const Row& row :
       {Row{folder.file("absent"), ErrorCode::kNotFound, "No such file"},
        Row{folder.path(), ErrorCode::kInvalidArgument, "a folder"},
        Row{folder.file("pipe"), ErrorCode::kInvalidArgument, "no regular file"}}) {
    const Result<File> file = File::open(row.path);
    ASSERT_FALSE(file.has_value()) << row.path;
    EXPECT_EQ(file.error().code(), row.code) << row.path;
    EXPECT_NE(file.error().message().find(row.path), std::string::npos);
    EXPECT_NE(file.error().message().find(row.words), std::string::npos) << file.error().message();
  }
}

TEST(MappedFileTest, ShowsTheBytesOfTheFile) {
  TempFolder folder;
  const Bytes content = counting(10000);
  const File file = File::open(folder.write("f", content)).value();
  MappedFile mapped = MappedFile::map(file).value();
  MappedFile moved = std::move(mapped);

  EXPECT_EQ(Bytes(moved.bytes().begin(), moved.bytes().end()), content);
}

TEST(MappedFileTest, EmptyFileMapsToNoBytes) {
  TempFolder folder;
  const File file = File::open(folder.write("f", {})).value();
  EXPECT_TRUE(MappedFile::map(file).value().bytes().empty());
}

TEST(WriteFileTest, ReplacesTheFileAndLeavesNoNeighbour) {
  TempFolder folder;
  const std::string path = folder.write("f", counting(100));
  const Bytes a = bytes_of({1, 2}), b = bytes_of({3});
  const std::array<std::span<const std::byte>, 2> pieces = {a, b};

  ASSERT_TRUE(write_file(path, pieces).has_value());

  Bytes out(10);
  out.resize(File::open(path).value().read_at(0, out).value());
  EXPECT_EQ(out, bytes_of({1, 2, 3}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileTest, TheContentReachesTheDiskBeforeItGetsTheName) {
  const TempFolder folder;
  const std::string path = std::filesystem::canonical(folder.path()).string() + "/f";
  const Bytes content = counting(1000);
  const std::array<std::span<const std::byte>, 1> pieces = {content};
  const millrace::testing::FileCalls calls;

  ASSERT_TRUE(write_file(path, pieces).has_value());

  const auto all = calls.all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].what, "sync");
  EXPECT_EQ(all[0].path.substr(0, path.size() + 1), path + ".");
  EXPECT_EQ(all[0].bytes, content.size());
  EXPECT_EQ(all[1].what, "rename");
  EXPECT_EQ(all[1].path, all[0].path);
  EXPECT_EQ(all[1].to, path);
}

TEST(WriteFileTest, ContentThatDoesNotReachTheDiskLeavesTheOldOne) {
  const TempFolder folder;
  const std::string path = folder.write("f", counting(100));
  const std::array<std::span<const std::byte>, 1> pieces = {};
  for (const auto& [number, code] :
       {std::pair(ENOSPC, ErrorCode::kResourceExhausted),
        std::pair(EDQUOT, ErrorCode::kResourceExhausted),
        std::pair(EFBIG, ErrorCode::kResourceExhausted), std::pair(EIO, ErrorCode::kDataLoss)}) {
    millrace::testing::FileCalls calls;
    calls.fail("sync", "", number);
    const Status written = write_file(path, pieces);
    ASSERT_FALSE(written.has_value());
    EXPECT_EQ(written.error().code(), code) << number;
    EXPECT_EQ(File::open(path).value().size(), 100u);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  }
}

TEST(FileTest, AReadThatTheDiskRefusesIsAnErrorWithItsPosition) {
  const TempFolder folder;
  const File file = File::open(folder.write("f", counting(100))).value();
  millrace::testing::FileCalls calls;
  calls.fail("read", "/f", EIO, 50);
  Bytes out(10);
  EXPECT_TRUE(file.read_at(40, out).has_value());
  const auto read = file.read_at(45, out);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().code(), ErrorCode::kDataLoss);
  EXPECT_EQ(read.error().detail<FilePosition>()->offset, 45u);
}

TEST(WriteFileTest, FolderThatIsNotThereGivesNotFound) {
  TempFolder folder;
  const Status written = write_file(folder.file("no/f"), {});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace millrace::transfer
