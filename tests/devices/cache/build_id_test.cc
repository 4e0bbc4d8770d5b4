#include "millrace/devices/cache/build_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <initializer_list>
#include <vector>

#include "tests/support/temp_folder.h"

namespace millrace::devices {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;
using testing::TempFolder;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> all;
  for (const int value : values) all.push_back(static_cast<std::byte>(value));
  return all;
}

TEST(BuildIdTest, NoteIsFoundBehindOthers) {
  const auto gnu = bytes({4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xAB, 0x01, 0xFF});
  EXPECT_EQ(build_id_of_notes(gnu, 4), "ab01ff");
  auto behind = bytes({3, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 0, 0, 1, 2, 3, 4, 5, 0, 0, 0});
  behind.insert(behind.end(), gnu.begin(), gnu.end());
  EXPECT_EQ(build_id_of_notes(behind, 4), "ab01ff");
  // Where words of eight bytes are kept together, the description of four letters' name is, too.
  auto property =
      bytes({4, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 'G', 'N', 'U', 0, 9, 9, 9, 9, 0, 0, 0, 0});
  property.insert(property.end(), gnu.begin(), gnu.end());
  EXPECT_EQ(build_id_of_notes(property, 8), "ab01ff");
}

TEST(BuildIdTest, NotesWithoutOneOrThatEndTooEarlyHaveNone) {
  EXPECT_EQ(build_id_of_notes({}, 4), "");
  const auto gnu = bytes({4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 1, 2, 3});
  for (std::size_t length = 0; length < gnu.size(); ++length)
    EXPECT_EQ(build_id_of_notes(std::span(gnu).first(length), 4), "") << length;
  EXPECT_EQ(build_id_of_notes(bytes({4, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0}), 4),
            "");
  const auto huge = bytes({255, 255, 255, 255, 255, 255, 255, 255, 3, 0, 0, 0, 'G', 'N', 'U', 0});
  EXPECT_EQ(build_id_of_notes(huge, 4), "");
  EXPECT_EQ(build_id_of_notes(huge, 8), "");
}

TEST(BuildIdTest, LibraryThatHasOneIsKnownByItWhereverItLies) {
  const auto* in_libc = reinterpret_cast<const void*>(&std::puts);
  EXPECT_THAT(build_of(in_libc, "/nowhere"), MatchesRegex("build ID [0-9a-f]+"));
  EXPECT_EQ(build_of(in_libc), build_of(in_libc, "/nowhere"));
}

TEST(BuildIdTest, LibraryWithoutIsKnownBySizeAndTimeOfItsFile) {
  const TempFolder folder;
  const std::string file = folder.write("a", bytes({1, 2, 3}));
  const int here = 0;  // in no library
  const std::string first = build_of(&here, file);
  EXPECT_THAT(first, StartsWith("3 bytes of "));
  EXPECT_EQ(build_of(&here, file), first);
  fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(1));
  EXPECT_NE(build_of(&here, file), first);
  EXPECT_EQ(build_of(&here), "");
}

TEST(BuildIdTest, ThisProgramIsKnownEitherWay) {
  const auto* here = reinterpret_cast<const void*>(&build_id_of_notes);
  EXPECT_THAT(build_of(here), AnyOf(StartsWith("build ID "), HasSubstr(" bytes of ")));
  EXPECT_FALSE(host_processor().empty());
}

}  // namespace
}  // namespace millrace::devices
