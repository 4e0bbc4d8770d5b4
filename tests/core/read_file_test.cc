#include "millrace/core/base/read_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>

#include "millrace/core/base/memory_left.h"
#include "tests/support/memory_limit.h"
#include "tests/support/temp_folder.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

TEST(ReadFileTest, AFileIsReadWholeWhateverItsSize) {
  const TempFolder folder;
  for (const std::size_t size : {0, 1, 1024, 1025, 200'000}) {
    const std::string text(size, 'x');
    const std::string path = folder.write("f", std::as_bytes(std::span(text)));
    EXPECT_EQ(read_file(path).value(), text) << size;
  }
  EXPECT_THAT(read_file("/proc/self/status").value(), HasSubstr("Pid:"));  // it tells no size
}

TEST(ReadFileTest, WhatIsNoRegularFileFailsAtOnce) {
  const TempFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("pipe", folder.file("link").c_str()), 0);
  struct Row {
    std::string path;
    ErrorCode code;
    std::string words;
  };
  for (const Row& row :
       {Row{folder.file("pipe"), ErrorCode::kInvalidArgument, "it is a pipe"},
        Row{folder.file("link"), ErrorCode::kInvalidArgument, "it is a pipe"},
        Row{folder.path(), ErrorCode::kInvalidArgument, "it is a folder"},
        Row{"/dev/zero", ErrorCode::kInvalidArgument, "it is a device"},
        Row{folder.file("none"), ErrorCode::kNotFound, "No such file"},
        Row{folder.file("pipe") + "/f", ErrorCode::kNotFound, "Not a directory"}}) {
    const auto read = read_file(row.path);
    ASSERT_FALSE(read) << row.path;
    EXPECT_EQ(read.error().code(), row.code) << row.path;
    EXPECT_THAT(read.error().message(), HasSubstr(row.path));
    EXPECT_THAT(read.error().message(), HasSubstr(row.words));
  }
}

std::ptrdiff_t descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(ReadFileTest, AFileThatHasNoRoomInMemoryIsReportedAndItsDescriptorIsClosed) {
  if (!testing::kMemoryCanBeLimited) GTEST_SKIP() << "a sanitizer takes the addresses for itself";
  const TempFolder folder;
  const std::string path = folder.write("f", {});
  std::filesystem::resize_file(path, std::uintmax_t{1} << 30);  // of holes
  const std::ptrdiff_t before = descriptors();
  {
    const testing::MemoryLimit limit(std::size_t{32} << 20);
    const auto read = read_file(path);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::kResourceExhausted);
    EXPECT_THAT(read.error().message(), HasSubstr("no memory for reading " + path));
    EXPECT_NE(read.error().detail<MemoryShortage>(), nullptr);
  }
  EXPECT_EQ(descriptors(), before);
}

}  // namespace
}  // namespace millrace
