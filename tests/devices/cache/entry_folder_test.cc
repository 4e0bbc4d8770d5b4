#include "millrace/devices/cache/entry_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "millrace/core/base/fault_point.h"
#include "tests/support/temp_folder.h"

namespace millrace::devices {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::TempFolder;

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 30;

Digest name(const std::string& text) { return sha256(text); }
std::optional<std::string> get(const EntryFolder& entries, const std::string& text) {
  return entries.get(name(text)).value();
}
std::size_t files(const std::string& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}
// The last use of an entry, this long ago.
void used_before(const EntryFolder& entries, const std::string& text, std::chrono::minutes ago) {
  fs::last_write_time(entries.path(name(text)), fs::file_time_type::clock::now() - ago);
}

TEST(EntryFolderTest, WhatWasPutIsGotAndNothingElse) {
  const TempFolder folder;
  const EntryFolder entries(folder.file("deep/cache"), kPlenty);
  EXPECT_EQ(get(entries, "a"), std::nullopt);
  const std::string payload("one\0two", 7);
  ASSERT_TRUE(entries.put(name("a"), payload));
  ASSERT_TRUE(entries.put(name("b"), ""));
  EXPECT_EQ(get(entries, "a"), payload);
  EXPECT_EQ(get(entries, "b"), "");
  EXPECT_EQ(get(entries, "c"), std::nullopt);
  ASSERT_TRUE(entries.put(name("a"), "new"));
  EXPECT_EQ(get(entries, "a"), "new");
  EXPECT_EQ(files(entries.folder()), 2u);
}

TEST(EntryFolderTest, EveryChangedByteAndEveryTruncationIsFound) {
  const TempFolder folder;
  const EntryFolder entries(folder.path(), kPlenty);
  ASSERT_TRUE(entries.put(name("a"), "payload"));
  const std::string path = entries.path(name("a"));
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  ASSERT_EQ(whole.size(), EntryFolder::kHeaderBytes + 7);
  const auto refused = [&](const std::string& bytes) {
    folder.write(fs::path(path).filename().string(), std::as_bytes(std::span(bytes)));
    const auto got = entries.get(name("a"));
    return !got && got.error().code() == ErrorCode::kDataLoss &&
           got.error().message().contains(path);
  };
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_TRUE(refused(changed)) << "byte " << i;
    EXPECT_TRUE(refused(whole.substr(0, i))) << "the first " << i << " bytes";
  }
  EXPECT_TRUE(refused(whole + "x"));
  // An entry in another's place is damaged, too.
  ASSERT_TRUE(entries.put(name("b"), "payload"));
  fs::copy_file(entries.path(name("b")), path, fs::copy_options::overwrite_existing);
  EXPECT_FALSE(entries.get(name("a")));
  ASSERT_TRUE(entries.put(name("a"), "payload"));
  EXPECT_EQ(get(entries, "a"), "payload");
}

TEST(EntryFolderTest, UsedLongestAgoGoFirstWhenItIsFull) {
  const TempFolder folder;
  constexpr std::uint64_t kEach = EntryFolder::kHeaderBytes + 100;
  const EntryFolder entries(folder.path(), 3 * kEach);
  const std::string payload(100, 'x');
  int minutes = 60;
  for (const char* text : {"a", "b", "c"}) {
    ASSERT_TRUE(entries.put(name(text), payload));
    used_before(entries, text, std::chrono::minutes(minutes--));
  }
  entries.touch(name("a"));
  ASSERT_TRUE(entries.put(name("d"), payload));
  EXPECT_EQ(get(entries, "b"), std::nullopt);
  for (const char* text : {"a", "c", "d"}) EXPECT_EQ(get(entries, text), payload) << text;
  const Status too_large = entries.put(name("e"), std::string(3 * kEach, 'x'));
  EXPECT_EQ(too_large.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(files(folder.path()), 3u);
}

TEST(EntryFolderTest, WriterThatFailsLeavesTheOldEntryAndNoPart) {
  const TempFolder folder;
  const EntryFolder entries(folder.path(), kPlenty);
  ASSERT_TRUE(entries.put(name("a"), "old"));
  {
    const ArmedFault fault("cache.rename", 1, Error(ErrorCode::kUnavailable, "the disk is gone"));
    EXPECT_FALSE(entries.put(name("a"), "new"));
  }
  EXPECT_EQ(get(entries, "a"), "old");
  EXPECT_EQ(files(folder.path()), 1u);
}

// Another process of the same number, as every container has one.
TEST(EntryFolderTest, PartsOfOthersAreNeitherInTheWayNorRemoved) {
  const TempFolder folder;
  const EntryFolder entries(folder.path(), kPlenty);
  constexpr int kParts = 256;
  for (int i = 0; i < kParts; ++i) {
    folder.write(to_hex(name("a")) + ".entry." + std::to_string(::getpid()) + "-" +
                     std::to_string(i) + ".part",
                 {});
  }
  EXPECT_TRUE(entries.put(name("a"), "mine"));
  EXPECT_EQ(get(entries, "a"), "mine");
  EXPECT_EQ(files(folder.path()), std::size_t{kParts} + 1);
}

TEST(EntryFolderTest, SizeOfADamagedEntryIsNotBelieved) {
  const TempFolder folder;
  const EntryFolder entries(folder.path(), kPlenty);
  ASSERT_TRUE(entries.put(name("a"), "payload"));
  // All holes: it takes no room on the disk, and would take this much memory.
  fs::resize_file(entries.path(name("a")), kPlenty);
  const auto got = entries.get(name("a"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code(), ErrorCode::kDataLoss);
  EXPECT_THAT(got.error().message(), HasSubstr("its header states"));
  fs::resize_file(entries.path(name("a")), std::uint64_t{1} << 42);
  EXPECT_EQ(get(entries, "a"), std::nullopt);  // more than may be here
}

TEST(EntryFolderTest, LowerLimitRemovesWhatAHigherOneHasKept) {
  const TempFolder folder;
  const EntryFolder before(folder.path(), kPlenty);
  ASSERT_TRUE(before.put(name("large"), std::string(1000, 'x')));
  ASSERT_TRUE(before.put(name("small"), "x"));
  folder.write("foreign.entry", std::vector<std::byte>(5000));
  const EntryFolder entries(folder.path(), 200);
  EXPECT_EQ(get(entries, "large"), std::nullopt);
  // Nothing is written, and all that does not fit goes all the same.
  const Status put = entries.put(name("large"), std::string(1000, 'x'));
  EXPECT_EQ(put.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_EQ(get(before, "large"), std::nullopt);
  EXPECT_EQ(get(before, "small"), "x");
  EXPECT_TRUE(fs::exists(folder.file("foreign.entry")));
}

TEST(EntryFolderTest, PipeOrFolderInThePlaceOfAnEntryIsDamageAndDelaysNoRead) {
  const TempFolder folder;
  const EntryFolder entries(folder.path(), kPlenty);
  ASSERT_EQ(::mkfifo(entries.path(name("pipe")).c_str(), 0600), 0);
  ASSERT_TRUE(fs::create_directory(entries.path(name("folder"))));
  for (const char* text : {"pipe", "folder"}) {
    const auto got = entries.get(name(text));
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code(), ErrorCode::kDataLoss);
    EXPECT_THAT(got.error().message(), HasSubstr("it is no file"));
  }
  ASSERT_TRUE(entries.put(name("pipe"), "payload"));
  EXPECT_EQ(get(entries, "pipe"), "payload");
}

TEST(EntryFolderTest, PartOfAWriterThatWasKilledGoesWhenItIsOld) {
  const TempFolder folder;
  const EntryFolder entries(folder.path(), kPlenty);
  const std::string part = to_hex(name("a")) + ".entry.1-1.part";
  folder.write(part, {});
  folder.write("keep.me", {});
  ASSERT_TRUE(entries.put(name("b"), "b"));
  EXPECT_EQ(files(folder.path()), 3u);  // another process may be writing it
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(2);
  fs::last_write_time(folder.file(part), long_ago);
  fs::last_write_time(folder.file("keep.me"), long_ago);
  ASSERT_TRUE(entries.put(name("c"), "c"));
  EXPECT_FALSE(fs::exists(folder.file(part)));
  EXPECT_TRUE(fs::exists(folder.file("keep.me")));
}

TEST(EntryFolderTest, PartOfAWriterThatWasKilledCostsNoEntry) {
  const TempFolder folder;
  const EntryFolder entries(folder.path(), 500);
  ASSERT_TRUE(entries.put(name("a"), "a"));
  folder.write(to_hex(name("b")) + ".entry.1-1.part", std::vector<std::byte>(5000));
  ASSERT_TRUE(entries.put(name("c"), "c"));
  EXPECT_EQ(get(entries, "a"), "a");
  EXPECT_EQ(get(entries, "c"), "c");
}

TEST(EntryFolderTest, FolderThatCannotBeMadeIsAnErrorOfPutAndAMissOfGet) {
  const TempFolder folder;
  folder.write("file", {});
  const EntryFolder entries(folder.file("file/cache"), kPlenty);
  EXPECT_EQ(get(entries, "a"), std::nullopt);
  const Status put = entries.put(name("a"), "a");
  ASSERT_FALSE(put);
  EXPECT_THAT(put.error().message(), HasSubstr("file/cache"));
}

// Processes, since that is what shares a folder: each writes and reads the same few names, in a
// folder that is always too small, and fails if it ever reads bytes that no process has put.
TEST(EntryFolderStressTest, ProcessesShareOneFolder) {
  const TempFolder folder;
  constexpr int kProcesses = 4;
  constexpr int kRounds = 150;
  const auto payload = [](int i) {
    return std::string(static_cast<std::size_t>(1000 + i), 'a' + i);
  };
  const auto work = [&](int process) {
    const EntryFolder entries(folder.path(), 5000);
    for (int round = 0; round < kRounds; ++round) {
      const int i = (round * 7 + process) % 8;
      if (!entries.put(name(std::to_string(i)), payload(i))) return 1;
      const int j = (round + process) % 8;
      const auto got = entries.get(name(std::to_string(j)));
      if (!got) return 2;
      if (*got && **got != payload(j)) return 3;
    }
    return 0;
  };
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    if (child == 0) std::_Exit(work(process));
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  std::uint64_t total = 0;
  for (const auto& entry : fs::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path().extension(), ".entry");
    total += entry.file_size();
  }
  EXPECT_LE(total, 5000u);
}

}  // namespace
}  // namespace millrace::devices
