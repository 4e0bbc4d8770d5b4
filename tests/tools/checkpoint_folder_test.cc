// The folder of checkpoints on a real file system: that is what it is about.
#include "millrace/tools/train/checkpoint_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "millrace/core/base/fault_point.h"
#include "tests/support/logged_words.h"
#include "tests/support/temp_folder.h"

namespace millrace::train {
namespace {

namespace fs = std::filesystem;
using devices::DType;
using devices::Shape;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> names_in(const std::string& path) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  return names;
}

class CheckpointFolderTest : public ::testing::Test {
 protected:
  // Arrays whose content tells the step.
  Status write(const CheckpointFolder& folder, std::uint64_t step) {
    const std::vector<float> weight(100, static_cast<float>(step));
    const float bias = 1;
    CheckpointManifest manifest;
    manifest.step = step;
    const transfer::NamedArray arrays[] = {
        {"param/weight", Shape(DType::kF32, {10, 10}), std::as_bytes(std::span(weight))},
        {"param/bias", Shape(DType::kF32, {}), std::as_bytes(std::span(&bias, 1))}};
    return folder.write(manifest, arrays, {});
  }
  void publish(const CheckpointFolder& folder, std::uint64_t step, std::size_t keep = 2) {
    ASSERT_TRUE(write(folder, step));
    const Status published = folder.publish(step, keep);
    ASSERT_TRUE(published) << published.error().to_string();
  }
  CheckpointFolder open() { return CheckpointFolder::open(path_).value(); }
  // Changes a byte of a file.
  void damage(const std::string& file, std::streamoff at) {
    std::fstream stream(path_ + "/" + file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const int byte = stream.get();
    stream.seekp(at);
    stream.put(static_cast<char>(byte ^ 1));
    ASSERT_TRUE(stream.good()) << file;
  }

  const testing::TempFolder temp_;
  const std::string path_ = temp_.file("a/b");  // made by open()
};

TEST_F(CheckpointFolderTest, WhatIsPublishedIsLoaded) {
  CheckpointFolder folder = open();
  EXPECT_FALSE(folder.load_newest().value());
  publish(folder, 468);
  EXPECT_THAT(names_in(path_), ElementsAre("step-00000468"));
  const auto loaded = folder.load_newest();
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->manifest.step, 468U);
  EXPECT_EQ((*loaded)->path, path_ + "/step-00000468");
  const auto array = (*loaded)->arrays.array("param/weight");
  ASSERT_TRUE(array);
  EXPECT_EQ(array->as<float>()[99], 468.0F);
}

TEST_F(CheckpointFolderTest, NothingIsSeenBeforeItIsPublished) {  // CF-1
  CheckpointFolder folder = open();
  publish(folder, 1);
  ASSERT_TRUE(write(folder, 2));
  EXPECT_EQ((*folder.load_newest())->manifest.step, 1U);
  folder.remove_part(2);
  EXPECT_THAT(names_in(path_), ElementsAre("step-00000001"));
}

TEST_F(CheckpointFolderTest, TheNewestOfThemAreKept) {
  CheckpointFolder folder = open();
  for (const std::uint64_t step : {1, 20, 300, 100'000'000}) publish(folder, step);
  EXPECT_THAT(folder.steps().value(), ElementsAre(300, 100'000'000));
  EXPECT_THAT(names_in(path_), UnorderedElementsAre("step-00000300", "step-100000000"));
}

TEST_F(CheckpointFolderTest, WhatAKilledRunLeftIsRemovedAndTheRestIsLeftAlone) {
  {
    publish(open(), 5);
  }
  for (const char* name : {"step-00000006.part", "step-00000004.old", "notes", "step-7.part"}) {
    fs::create_directory(path_ + "/" + name);
    std::ofstream(path_ + "/" + name + "/file") << "x";
  }
  const CheckpointFolder folder = open();
  EXPECT_THAT(names_in(path_), UnorderedElementsAre("step-00000005", "notes", "step-7.part"));
}

TEST_F(CheckpointFolderTest, DamagedOnesAreSkippedWithAWarningAndPutAside) {
  CheckpointFolder folder = open();
  for (const std::uint64_t step : {1, 2, 3, 4}) publish(folder, step, 4);
  damage("step-00000004/arrays.safetensors", 300);
  fs::remove(path_ + "/step-00000003/checkpoint.json");
  fs::resize_file(path_ + "/step-00000002/arrays.safetensors", 40);
  testing::LoggedWords log;
  const auto loaded = folder.load_newest();
  ASSERT_TRUE(loaded && *loaded);
  EXPECT_EQ((*loaded)->manifest.step, 1U);
  EXPECT_THAT(log.text(), HasSubstr("step-00000004: "));
  EXPECT_THAT(log.text(), HasSubstr("step-00000004/arrays.safetensors does not have the checksum"));
  EXPECT_THAT(log.text(), HasSubstr("step-00000003/checkpoint.json: No such file"));
  EXPECT_THAT(log.text(), HasSubstr("step-00000002/arrays.safetensors has 40 bytes"));
  EXPECT_THAT(names_in(path_),
              UnorderedElementsAre("step-00000001", "step-00000002.damaged",
                                   "step-00000003.damaged", "step-00000004.damaged"));
  publish(folder, 4);
  EXPECT_EQ((*folder.load_newest())->manifest.step, 4U);
}

// Every byte of both files counts.
TEST_F(CheckpointFolderTest, AnyDamagedByteIsNoticed) {
  CheckpointFolder folder = open();
  publish(folder, 1);
  const std::string path = folder.path_of(1);
  for (const std::string file : {"arrays.safetensors", "checkpoint.json"}) {
    const auto size = static_cast<std::streamoff>(fs::file_size(path + "/" + file));
    for (std::streamoff at = 0; at < size; at += 7) {
      damage("step-00000001/" + file, at);
      const auto read = read_checkpoint(path);
      // A blank of the JSON may change; nothing that is read does.
      if (!read) {
        EXPECT_EQ(read.error().code(), ErrorCode::kDataLoss) << read.error().to_string();
      } else {
        EXPECT_EQ(file, "checkpoint.json") << at;
      }
      damage("step-00000001/" + file, at);
    }
  }
  EXPECT_TRUE(read_checkpoint(path));
}

TEST_F(CheckpointFolderTest, OnlyDamagedOnesAreAnErrorThatNamesThemAndStayWhereTheyAre) {
  CheckpointFolder folder = open();
  publish(folder, 1);
  publish(folder, 2);
  damage("step-00000001/arrays.safetensors", 400);
  damage("step-00000002/arrays.safetensors", 400);
  const auto loaded = folder.load_newest();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code(), ErrorCode::kDataLoss);
  EXPECT_THAT(loaded.error().message(), HasSubstr("step-00000001"));
  EXPECT_THAT(loaded.error().message(), HasSubstr("step-00000002"));
  EXPECT_THAT(names_in(path_), UnorderedElementsAre("step-00000001", "step-00000002"));
}

TEST_F(CheckpointFolderTest, AFailureAtAnyPointLeavesACompleteOne) {  // CF-2
  for (const std::string_view point : kCheckpointFaultPoints) {
    if (point == "checkpoint.removing") continue;  // no failure: the next test
    SCOPED_TRACE(point);
    fs::remove_all(path_);
    CheckpointFolder folder = open();
    publish(folder, 1);
    publish(folder, 2);
    const ArmedFault fault(std::string(point), 1,
                           Error(ErrorCode::kResourceExhausted, "scripted: the disk is full"));
    Status status = write(folder, 3);
    const bool written = status.has_value();
    if (status) status = folder.publish(3, 2);
    EXPECT_EQ(fault.arrivals(), 1U);
    ASSERT_FALSE(status);
    EXPECT_THAT(status.error().message(), HasSubstr("the disk is full"));
    const auto steps = folder.steps().value();
    EXPECT_GE(steps.size(), 2U);
    for (const std::uint64_t step : steps) EXPECT_TRUE(read_checkpoint(folder.path_of(step)));
    const bool renamed = point == "checkpoint.renamed" || point == "checkpoint.published";
    EXPECT_EQ(steps.back(), renamed ? 3U : 2U);
    EXPECT_EQ(fs::exists(folder.path_of(3) + ".part"), written && !renamed);
  }
}

TEST_F(CheckpointFolderTest, AnOlderOneThatCannotBeRemovedIsAWarningAndLeftToTheNextOpen) {
  {
    CheckpointFolder folder = open();
    publish(folder, 1);
    publish(folder, 2);
    const ArmedFault fault("checkpoint.removing", 1,
                           Error(ErrorCode::kPermissionDenied, "scripted: it is not ours"));
    const testing::LoggedWords log;
    publish(folder, 3);
    EXPECT_EQ(fault.arrivals(), 1U);
    EXPECT_THAT(log.text(), HasSubstr("older checkpoint could not be removed: scripted"));
    EXPECT_EQ((*folder.load_newest())->manifest.step, 3U);
    publish(folder, 4);
    EXPECT_THAT(names_in(path_),
                UnorderedElementsAre("step-00000001.old", "step-00000003", "step-00000004"));
  }
  const CheckpointFolder folder = open();
  EXPECT_THAT(names_in(path_), UnorderedElementsAre("step-00000003", "step-00000004"));
}

TEST_F(CheckpointFolderTest, AStopIsHeardBetweenPiecesAndLeavesNothing) {
  CheckpointFolder folder = open();
  std::stop_source stop;
  stop.request_stop();
  const std::vector<float> weight(4, 1);
  const transfer::NamedArray array = {"w", Shape(DType::kF32, {4}),
                                      std::as_bytes(std::span(weight))};
  CheckpointManifest manifest;
  EXPECT_EQ(folder.write(manifest, {&array, 1}, stop.get_token()).error().code(),
            ErrorCode::kCancelled);
  EXPECT_THAT(names_in(path_), IsEmpty());
}

TEST_F(CheckpointFolderTest, TwoTrainingsCannotShareAFolder) {
  const CheckpointFolder folder = open();
  const auto second = CheckpointFolder::open(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(second.error().message(), HasSubstr(path_));
}

TEST_F(CheckpointFolderTest, AFolderThatCannotBeIsNamed) {
  std::ofstream(temp_.file("file")) << "x";
  const auto in_file = CheckpointFolder::open(temp_.file("file"));
  ASSERT_FALSE(in_file);
  EXPECT_THAT(in_file.error().message(), HasSubstr(temp_.file("file")));
  const auto in_proc = CheckpointFolder::open("/proc/1/none");
  ASSERT_FALSE(in_proc);
  EXPECT_THAT(in_proc.error().message(), HasSubstr("/proc/1/none"));
  const auto read_only = CheckpointFolder::open("/proc/self/fd");
  ASSERT_FALSE(read_only);
  EXPECT_THAT(read_only.error().message(), HasSubstr("cannot be written to /proc/self/fd"));
}

}  // namespace
}  // namespace millrace::train
