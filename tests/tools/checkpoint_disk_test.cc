// What a checkpoint asks of the disk, and in which order: what a crash of the machine would tell
// only by chance.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "millrace/tools/train/checkpoint_folder.h"
#include "tests/support/file_calls.h"
#include "tests/support/logged_words.h"
#include "tests/support/temp_folder.h"

namespace millrace::train {
namespace {

namespace fs = std::filesystem;
using devices::DType;
using devices::Shape;
using millrace::testing::FileCalls;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class CheckpointDiskTest : public ::testing::Test {
 protected:
  // Checkpoints of one array of so many bytes, whose manifest holds the step.
  Status write(const CheckpointFolder& folder, std::uint64_t step, std::size_t bytes = 400) {
    const std::vector<std::byte> content(bytes, static_cast<std::byte>(step));
    CheckpointManifest manifest;
    manifest.step = step;
    const auto elements = static_cast<std::int64_t>(bytes);
    const transfer::NamedArray array = {"param/w", Shape(DType::kU8, {elements}), content};
    return folder.write(manifest, {&array, 1}, {});
  }
  void publish(const CheckpointFolder& folder, std::uint64_t step, std::size_t bytes = 400) {
    ASSERT_TRUE(write(folder, step, bytes));
    ASSERT_TRUE(folder.publish(step, 2));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_)) names.push_back(entry.path().filename());
    return names;
  }

  const testing::TempFolder temp_;
  const std::string top_ = fs::canonical(temp_.path()).string();
  const std::string dir_ = top_ + "/a/b";
};

// CF-1, CF-2
TEST_F(CheckpointDiskTest, FilesAreOnTheDiskBeforeTheNameAndTheNameBeforeAnOlderOneGoes) {
  const CheckpointFolder folder = CheckpointFolder::open(dir_).value();
  publish(folder, 1);
  publish(folder, 2);
  const FileCalls calls;
  publish(folder, 3);
  const std::string part = dir_ + "/step-00000003.part";
  const std::string named = dir_ + "/step-00000003";
  const std::string oldest = dir_ + "/step-00000001";
  EXPECT_THAT(calls.texts(), ElementsAre("sync " + part + "/arrays.safetensors",
                                         "sync " + part + "/checkpoint.json", "sync " + part,
                                         "rename " + part + " to " + named, "sync " + dir_,
                                         "rename " + oldest + " to " + oldest + ".old"));
  // The files had all of their bytes by then.
  EXPECT_EQ(calls.all().at(0).bytes, fs::file_size(named + "/arrays.safetensors"));
  EXPECT_EQ(calls.all().at(1).bytes, fs::file_size(named + "/checkpoint.json"));
}

TEST_F(CheckpointDiskTest, FoldersThatAreMadeHaveTheirNamesOnTheDisk) {
  {
    const FileCalls calls;
    ASSERT_TRUE(CheckpointFolder::open(dir_));
    EXPECT_THAT(calls.texts(), UnorderedElementsAre("sync " + top_ + "/a", "sync " + top_));
  }
  {
    const FileCalls calls;
    ASSERT_TRUE(CheckpointFolder::open(dir_ + "/c/"));
    EXPECT_THAT(calls.texts(), ElementsAre("sync " + dir_));
  }
  const FileCalls calls;
  ASSERT_TRUE(CheckpointFolder::open(dir_));
  EXPECT_THAT(calls.texts(), IsEmpty());
}

TEST_F(CheckpointDiskTest, AFolderWhoseNameDoesNotReachTheDiskIsAnError) {
  FileCalls calls;
  calls.fail("sync", top_, EIO);
  const auto folder = CheckpointFolder::open(dir_);
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message(), HasSubstr("bringing the names in " + top_));
}

// Whatever the disk refuses, those before stay, and what was not on the disk has no name.
TEST_F(CheckpointDiskTest, ASyncThatFailsLeavesThoseBefore) {
  for (const std::string what : {"arrays.safetensors", "checkpoint.json", ".part", "/b"}) {
    SCOPED_TRACE(what);
    fs::remove_all(dir_);
    const CheckpointFolder folder = CheckpointFolder::open(dir_).value();
    publish(folder, 1);
    publish(folder, 2);
    FileCalls calls;
    calls.fail("sync", what, EIO);
    Status status = write(folder, 3);
    EXPECT_EQ(status.has_value(), what == "/b");
    if (what == "/b") status = folder.publish(3, 2);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code(), ErrorCode::kDataLoss);
    EXPECT_TRUE(read_checkpoint(folder.path_of(1)));
    EXPECT_TRUE(read_checkpoint(folder.path_of(2)));
    EXPECT_EQ(fs::exists(folder.path_of(3)), what == "/b");
  }
}

TEST_F(CheckpointDiskTest, ASectorThatCannotBeReadCountsAsDamage) {
  constexpr std::size_t kBytes = std::size_t{5} << 19;  // three pieces of 1 MiB
  CheckpointFolder folder = CheckpointFolder::open(dir_).value();
  publish(folder, 1, kBytes);
  publish(folder, 2, kBytes);
  EXPECT_EQ((*folder.load_newest())->manifest.step, 2U);
  FileCalls calls;
  calls.fail("read", "step-00000002/arrays.safetensors", EIO, kBytes - 1);
  testing::LoggedWords log;
  const auto loaded = folder.load_newest();
  ASSERT_TRUE(loaded && *loaded) << loaded.error().to_string();
  EXPECT_EQ((*loaded)->manifest.step, 1U);
  EXPECT_THAT(log.text(), HasSubstr("step-00000002/arrays.safetensors at byte 2097152"));
  EXPECT_THAT(log.text(), HasSubstr("Input/output error"));
  EXPECT_THAT(names(), UnorderedElementsAre("step-00000001", "step-00000002.damaged"));
}

// Not readable now is not damaged: nothing is put aside.
TEST_F(CheckpointDiskTest, AReadThatMayGoWellLaterIsAnError) {
  CheckpointFolder folder = CheckpointFolder::open(dir_).value();
  publish(folder, 1);
  publish(folder, 2);
  FileCalls calls;
  calls.fail("read", "step-00000002/arrays.safetensors", ESTALE);
  const auto loaded = folder.load_newest();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(names(), UnorderedElementsAre("step-00000001", "step-00000002"));
}

}  // namespace
}  // namespace millrace::train
