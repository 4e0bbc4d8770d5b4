#include "millrace/transfer/formats/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

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

TEST(WriteFileTest, FolderThatIsNotThereGivesNotFound) {
  TempFolder folder;
  const Status written = write_file(folder.file("no/f"), {});
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace millrace::transfer
