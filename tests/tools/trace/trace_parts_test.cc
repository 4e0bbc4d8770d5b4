// The timelines of several ranks as one file.
#include "millrace/tools/trace/trace_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/tools/trace/timeline.h"
#include "millrace/tools/trace/trace_encoder.h"
#include "millrace/tools/trace/trace_file.h"
#include "tests/support/simulation.h"
#include "tests/support/temp_folder.h"

namespace millrace::trace {
namespace {

using millrace::testing::Simulation;
using millrace::testing::TempFolder;
using std::chrono::microseconds;
using ::testing::ElementsAre;

TimePoint at(int us) { return TimePoint(microseconds(us)); }

// The part of a rank: an event on "device 0", and one on "loader".
std::string part_of(int rank, std::uint32_t pid) {
  ManualClock clock;
  TraceRecorder recorder(clock);
  TraceEncoder encoder(recorder);
  const TraceLane device = recorder.lane("device 0");
  const TraceLane loader = recorder.lane("loader");
  std::string bytes;
  encoder.begin("rank " + std::to_string(rank), static_cast<int>(pid), bytes, pid);
  encoder.add({.events = {{.lane = device,
                           .name = recorder.name("grad " + std::to_string(rank)),
                           .begin = at(10 + rank),
                           .end = at(20 + rank)},
                          {.lane = loader,
                           .name = recorder.name("batch"),
                           .begin = at(12),
                           .end = at(14),
                           .flow = 7}}},
              bytes);
  return bytes;
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> names_in(const TempFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

TEST(TracePartsTest, PartsOneAfterTheOtherAreOneTimelineWithTheLanesOfAll) {
  const auto timeline = parse_timeline(part_of(0, 5000) + part_of(1, 4000) + part_of(2, 4001));
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_THAT(timeline->lanes, ElementsAre("rank 0: device 0", "rank 0: loader", "rank 1: device 0",
                                           "rank 1: loader", "rank 2: device 0", "rank 2: loader"));
  ASSERT_EQ(timeline->slices.size(), 6U);
  for (const Slice& slice : timeline->slices) {
    const std::string& name = timeline->names[slice.name];
    const std::string& lane = timeline->lanes[slice.lane];
    EXPECT_EQ(lane.ends_with("device 0"), name != "batch") << lane << " " << name;
    if (name != "batch") {
      EXPECT_EQ(name.back(), lane[5]) << "names of a rank are its own";
    }
  }
}

TEST(TracePartsTest, APartIsATimelineOfItsOwn) {
  const auto timeline = parse_timeline(part_of(3, 4000));
  ASSERT_TRUE(timeline);
  EXPECT_THAT(timeline->lanes, ElementsAre("device 0", "loader"));
}

TEST(TracePartsTest, WholePacketsEndWhereOneIsCutOff) {
  const std::string bytes = part_of(0, 4000);
  EXPECT_EQ(whole_packets(bytes), bytes.size());
  EXPECT_EQ(whole_packets(""), 0U);
  std::size_t steps = 0;
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const std::size_t whole = whole_packets(bytes.substr(0, size));
    ASSERT_LE(whole, size);
    EXPECT_EQ(whole_packets(bytes.substr(0, whole)), whole);
    steps += whole == size ? 1 : 0;
  }
  EXPECT_GT(steps, 4U);
  for (const std::string& garbage : {std::string("GET / HTTP/1.1"), std::string("\x0A"),
                                     std::string("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 10),
                                     std::string("\x0A\xFF\xFF\xFF\xFF\x0F", 6)}) {
    EXPECT_EQ(whole_packets(garbage), 0U);
    EXPECT_EQ(whole_packets(bytes + garbage), bytes.size());
  }
}

// TP-1, TP-2, TP-3: writers of one process stand for those of several.
class TraceJobTest : public ::testing::Test {
 protected:
  struct Writer {
    Writer(Simulation& sim, const std::string& path, int rank)
        : recorder(*sim.environment().clock), sim_(sim) {
      auto opened = TraceFile::open(sim.environment(), recorder,
                                    {.path = path,
                                     .process = "rank " + std::to_string(rank),
                                     .part = TracePart{.job = "a/job", .rank = rank}});
      EXPECT_TRUE(opened) << opened.error().to_string();
      file = *std::move(opened);
      file->begin();
      recorder.record({.lane = recorder.lane("device 0"),
                       .name = recorder.name("grad"),
                       .begin = sim.now(),
                       .end = sim.now() + microseconds(5)});
    }
    Status close() { return sim_.run(file->close()); }
    TraceRecorder recorder;
    std::unique_ptr<TraceFile> file;
    Simulation& sim_;
  };

  Simulation sim{1};
  const TempFolder folder;
  const std::string path = folder.file("run.pftrace");
};

TEST_F(TraceJobTest, TheLastToEndMakesTheFileOfAll) {
  std::ofstream(path) << "an earlier run";
  Writer second(sim, path, 1);
  Writer first(sim, path, 0);
  EXPECT_TRUE(second.close());
  EXPECT_EQ(content(path), "an earlier run");
  EXPECT_EQ(names_in(folder).size(), 3U);
  EXPECT_TRUE(first.close());
  EXPECT_THAT(names_in(folder), ElementsAre("run.pftrace"));
  const auto timeline = read_timeline(path);
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  // Both have this process's number: only their order tells that both are there.
  EXPECT_EQ(timeline->slices.size(), 2U);
  sim.finish();
}

TEST_F(TraceJobTest, WhatAKilledRankHasWrittenIsInIt) {
  const std::string killed = path + ".a_job.rank3.4711";
  const std::string whole = part_of(3, 4711);
  std::ofstream(killed, std::ios::binary) << whole << part_of(3, 4711).substr(0, 20);
  std::ofstream(path + ".another_job.rank0.4712", std::ios::binary) << part_of(0, 4712);
  std::ofstream(path + ".a_job.rank3.copy", std::ios::binary) << "no part";
  Writer writer(sim, path, 0);
  EXPECT_TRUE(writer.close());
  EXPECT_FALSE(std::filesystem::exists(killed));
  EXPECT_THAT(names_in(folder), ElementsAre("run.pftrace", "run.pftrace.a_job.rank3.copy",
                                            "run.pftrace.another_job.rank0.4712"));
  const auto timeline = read_timeline(path);
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_THAT(timeline->lanes,
              ElementsAre("rank 0: device 0", "rank 3: device 0", "rank 3: loader"));
  EXPECT_FALSE(timeline->cut_short);
  sim.finish();
}

TEST_F(TraceJobTest, ARankThatNeverBeginsLeavesNothingAndJoinsTheOthers) {
  const std::string ended = path + ".a_job.rank1.4711";
  std::ofstream(ended, std::ios::binary) << part_of(1, 4711);
  TraceRecorder recorder(*sim.environment().clock);
  auto file = TraceFile::open(sim.environment(), recorder,
                              {.path = path, .part = TracePart{.job = "a/job", .rank = 0}});
  ASSERT_TRUE(file);
  EXPECT_TRUE(sim.run((*file)->close()));
  EXPECT_THAT(names_in(folder), ElementsAre("run.pftrace"));
  EXPECT_EQ(content(path), part_of(1, 4711));
  sim.finish();
}

TEST_F(TraceJobTest, PartsStayWhereTheFileCannotBeWritten) {
  const std::string part = path + ".a_job.rank1.4711";
  std::ofstream(part, std::ios::binary) << part_of(1, 4711);
  std::ofstream(path) << "kept";
  const Descriptor read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(join_parts(path, "a/job", read_only));
  EXPECT_EQ(content(part), part_of(1, 4711));
  EXPECT_EQ(content(path), "kept");
}

TEST_F(TraceJobTest, PipesAndDevicesHaveNoParts) {
  EXPECT_TRUE(may_have_parts(path));
  std::ofstream(path) << "a regular file";
  EXPECT_TRUE(may_have_parts(path));
  EXPECT_FALSE(may_have_parts("/dev/null"));
}

}  // namespace
}  // namespace millrace::trace
