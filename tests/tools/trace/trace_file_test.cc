// What is recorded, written and read again; in simulation, so that the times are exact.
#include "millrace/tools/trace/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>

#include "millrace/core/async/coroutine.h"
#include "millrace/tools/trace/timeline.h"
#include "millrace/tools/trace/trace_encoder.h"
#include "tests/support/simulation.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/train_fixture.h"

namespace millrace::trace {
namespace {

using millrace::testing::Outcome;
using millrace::testing::Process;
using millrace::testing::Simulation;
using millrace::testing::TempFolder;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

TimePoint at(int us) { return TimePoint(microseconds(us)); }

// The bytes of a trace of these events.
std::string encoded(const TraceRecorder& recorder, const std::vector<TraceEvent>& events,
                    std::uint64_t lost = 0) {
  TraceEncoder encoder(recorder);
  std::string bytes;
  encoder.begin("millrace", 7, bytes);
  encoder.add({.events = events, .lost = lost}, bytes);
  return bytes;
}

class TraceEncoderTest : public ::testing::Test {
 protected:
  ManualClock clock_;
  TraceRecorder recorder_{clock_};
  const TraceLane read_ = recorder_.lane("loader read");
  const TraceLane device_ = recorder_.lane("device 0");
  const TraceName batch_ = recorder_.name("batch");
  const TraceName grad_ = recorder_.name("grad");
};

TEST_F(TraceEncoderTest, EventsComeBackWithLaneNameTimesValueAndFlows) {
  const auto timeline = parse_timeline(encoded(
      recorder_,
      {{.lane = read_, .name = batch_, .begin = at(10), .end = at(20), .flow = 5, .value = 640},
       {.lane = device_, .name = grad_, .begin = at(30), .end = at(90), .flow = 5, .flows = 2},
       {.lane = device_, .name = grad_, .begin = at(90), .end = at(90), .value = -1}}));
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_THAT(timeline->lanes, ElementsAre("loader read", "device 0"));
  EXPECT_THAT(timeline->names, ElementsAre("batch", "grad"));
  EXPECT_EQ(timeline->end, 80'000);
  EXPECT_FALSE(timeline->cut_short);
  ASSERT_EQ(timeline->slices.size(), 3u);
  const Slice& first = timeline->slices[0];
  EXPECT_EQ(first.lane, 0u);
  EXPECT_EQ(first.begin, 0);
  EXPECT_EQ(first.end, 10'000);
  EXPECT_EQ(first.value, 640);
  EXPECT_THAT(first.flows, ElementsAre(5u));
  EXPECT_THAT(timeline->slices[1].flows, ElementsAre(5u, 6u));
  EXPECT_EQ(timeline->slices[2].begin, timeline->slices[2].end);
  EXPECT_EQ(timeline->slices[2].value, -1);
  EXPECT_TRUE(timeline->slices[2].flows.empty());
}

TEST_F(TraceEncoderTest, EventsThatOverlapLieInRowsOfOneLane) {
  const auto timeline = parse_timeline(
      encoded(recorder_, {{.lane = read_, .name = batch_, .begin = at(0), .end = at(10)},
                          {.lane = read_, .name = batch_, .begin = at(5), .end = at(15)},
                          {.lane = read_, .name = batch_, .begin = at(10), .end = at(12)},
                          {.lane = read_, .name = batch_, .begin = at(11), .end = at(13)}}));
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_THAT(timeline->lanes, ElementsAre("loader read"));
  std::vector<std::uint32_t> rows;
  for (const Slice& slice : timeline->slices) rows.push_back(slice.row);
  EXPECT_THAT(rows, ElementsAre(0u, 1u, 0u, 2u));
}

TEST_F(TraceEncoderTest, LostEventsAreCounted) {
  const auto timeline =
      parse_timeline(encoded(recorder_, {{.lane = read_, .begin = at(0), .end = at(1)}}, 17));
  ASSERT_TRUE(timeline);
  EXPECT_EQ(timeline->lost, 17u);
}

TEST_F(TraceEncoderTest, AnyBeginOfTheFileIsATraceUpToThere) {
  std::vector<TraceEvent> events;
  for (int i = 0; i < 20; ++i)
    events.push_back({.lane = read_, .name = batch_, .begin = at(10 * i), .end = at(10 * i + 5)});
  const std::string bytes = encoded(recorder_, events);
  std::size_t slices = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    const auto timeline = parse_timeline(std::string_view(bytes).substr(0, size));
    if (!timeline) {
      EXPECT_EQ(slices, 0u) << size;  // nothing has happened yet
      continue;
    }
    EXPECT_GE(timeline->slices.size(), slices);
    slices = timeline->slices.size();
    EXPECT_LE(timeline->unended, 1u);
  }
  EXPECT_EQ(slices, 20u);
}

// By protoc, without perfetto.proto: what a viewer finds under the numbers that
// https://perfetto.dev/docs/reference/synthetic-track-event has.
TEST_F(TraceEncoderTest, FieldsHaveTheNumbersAndTypesThatPerfettoPublishes) {
  const TempFolder folder;
  const std::string bytes = encoded(
      recorder_,
      {{.lane = device_, .name = grad_, .begin = at(1), .end = at(3), .flow = 5, .value = 640}}, 9);
  const std::string file = folder.write("t.pftrace", std::as_bytes(std::span(bytes)));
  Process protoc({"/bin/sh", "-c", "exec protoc --decode_raw < " + file});
  const Outcome& o = protoc.wait();
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.out, R"(1 {
  10: 1
  13: 1
  60 {
    1: 1
    3 {
      1: 7
      6: "millrace"
    }
    11: 3
  }
}
1 {
  10: 1
  12 {
    3 {
      1: 1
      2: "value"
    }
  }
  13: 2
}
1 {
  8: 1000
  10: 1
  11 {
    4 {
      3: 9
      10: "count"
    }
    9: 3
    11: 1
    23: "events lost"
  }
  13: 2
}
1 {
  10: 1
  12 {
    2 {
      1: 2
      2: "grad"
    }
  }
  13: 2
}
1 {
  10: 1
  60 {
    1: 513
    2: "device 0"
    5: 1
    12: 1
  }
}
1 {
  8: 1000
  10: 1
  11 {
    4 {
      1: 1
      4: 640
    }
    9: 1
    10: 2
    11: 513
    47: 0x0000000000000005
  }
  13: 2
}
1 {
  8: 3000
  10: 1
  11 {
    9: 2
    11: 513
  }
  13: 2
}
)");
}

TEST_F(TraceEncoderTest, AnEventTakesAtMostEightyBytes) {
  std::vector<TraceEvent> events;
  for (int i = 0; i < 1000; ++i) {
    events.push_back({.lane = read_,
                      .name = batch_,
                      .begin = TimePoint(std::chrono::hours(1000) + milliseconds(2 * i)),
                      .end = TimePoint(std::chrono::hours(1000) + milliseconds(2 * i + 1)),
                      .flow = 1000,
                      .value = 50'000});
  }
  EXPECT_LE(encoded(recorder_, events).size(), 80'000u);
}

TEST(TimelineTest, OtherFilesAreRefusedInWords) {
  for (const std::string& bytes : {std::string("{\"traceEvents\":[]}"), std::string(100, '\0'),
                                   std::string("\x0a\x04\xff\xff\xff\xff", 6)}) {
    const auto timeline = parse_timeline(bytes);
    ASSERT_FALSE(timeline);
    EXPECT_EQ(timeline.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(timeline.error().to_string(), HasSubstr("no Perfetto trace"));
  }
  EXPECT_THAT(parse_timeline("").error().to_string(), HasSubstr("no track events"));
}

Result<std::unique_ptr<TraceFile>> begun(const Environment& environment,
                                         const TraceRecorder& recorder,
                                         const TraceFileOptions& options) {
  MILLRACE_TRY(std::unique_ptr<TraceFile> file, TraceFile::open(environment, recorder, options));
  file->begin();
  return file;
}

TEST(TraceFileTest, WhatIsRecordedBeforeCloseIsInTheFile) {
  Simulation sim(1);
  const TempFolder folder;
  TraceRecorder recorder(*sim.environment().clock);
  auto file = begun(sim.environment(), recorder, {.path = folder.file("t.pftrace")});
  ASSERT_TRUE(file) << file.error().to_string();
  const TraceLane lane = recorder.lane("lane");
  const TraceName name = recorder.name("name");
  const auto record = [&] {
    recorder.record(
        {.lane = lane, .name = name, .begin = sim.now(), .end = sim.now() + milliseconds(1)});
  };
  record();
  sim.run_for(milliseconds(350));
  const auto before = read_timeline(folder.file("t.pftrace"));
  ASSERT_TRUE(before) << before.error().to_string();
  EXPECT_EQ(before->slices.size(), 1u);
  record();
  ASSERT_TRUE(sim.run((*file)->close()));
  EXPECT_TRUE((*file)->close().ready());  // the same future
  const auto after = read_timeline(folder.file("t.pftrace"));
  ASSERT_TRUE(after);
  ASSERT_EQ(after->slices.size(), 2u);
  EXPECT_EQ(after->slices[1].begin, 350'000'000);
  file->reset();
  sim.finish();
}

TEST(TraceFileTest, RingsThatOverflowBetweenTwoWritesAreCounted) {
  Simulation sim(1);
  const TempFolder folder;
  TraceRecorder recorder(*sim.environment().clock, 8);
  auto file = begun(sim.environment(), recorder, {.path = folder.file("t")});
  ASSERT_TRUE(file);
  for (int i = 0; i < 20; ++i) recorder.record({.begin = sim.now(), .end = sim.now()});
  static_cast<void>(recorder.lane("lane"));
  static_cast<void>(recorder.name("name"));
  ASSERT_TRUE(sim.run((*file)->close()));
  EXPECT_EQ((*file)->lost(), 12u);
  EXPECT_EQ(read_timeline(folder.file("t"))->lost, 12u);
  file->reset();
  sim.finish();
}

TEST(TraceFileTest, DroppedWithoutCloseItLeavesNothingBehind) {
  Simulation sim(1);
  const TempFolder folder;
  TraceRecorder recorder(*sim.environment().clock);
  {
    auto file = begun(sim.environment(), recorder, {.path = folder.file("t")});
    ASSERT_TRUE(file);
  }
  sim.finish();  // checks that no timer is left
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(TraceFileTest, AnOldFileStaysUntilTheNewOneBegins) {
  Simulation sim(1);
  const TempFolder folder;
  TraceRecorder recorder(*sim.environment().clock);
  const TraceLane lane = recorder.lane("lane");
  const TraceName name = recorder.name("name");
  const std::string old(10'000, 'x');
  const std::string path = folder.write("t", std::as_bytes(std::span(old)));
  for (const bool begins : {false, true}) {
    auto file = TraceFile::open(sim.environment(), recorder, {.path = path});
    ASSERT_TRUE(file) << file.error().to_string();
    recorder.record({.lane = lane, .name = name, .begin = sim.now(), .end = sim.now()});
    sim.run_for(milliseconds(350));
    EXPECT_EQ(text_of(path), old);
    if (begins) (*file)->begin();
    ASSERT_TRUE(sim.run((*file)->close()));
  }
  const auto timeline = read_timeline(path);
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_EQ(timeline->slices.size(), 2u);  // also what came before it had begun
  sim.finish();
}

TEST(TraceFileTest, APipeWithoutAReaderIsRefusedAndNotWaitedFor) {
  Simulation sim(1);
  const TempFolder folder;
  TraceRecorder recorder(*sim.environment().clock);
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const auto file = begun(sim.environment(), recorder, {.path = folder.file("pipe")});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code(), ErrorCode::kFailedPrecondition);
  EXPECT_THAT(file.error().to_string(), HasSubstr("it has no reader"));
  EXPECT_NE(file.error().detail<TraceNotWritten>(), nullptr);
  sim.finish();
}

TEST(TraceFileTest, FileThatCannotBeMadeOrWrittenIsNamed) {
  Simulation sim(1);
  TraceRecorder recorder(*sim.environment().clock);
  const auto none = begun(sim.environment(), recorder, {.path = "/no/such/folder/t"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(none.error().to_string(), HasSubstr("/no/such/folder/t"));
  EXPECT_NE(none.error().detail<TraceNotWritten>(), nullptr);
  auto full = begun(sim.environment(), recorder, {.path = "/dev/full"});
  ASSERT_TRUE(full);
  const Status closed = sim.run((*full)->close());
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code(), ErrorCode::kResourceExhausted);
  EXPECT_THAT(closed.error().to_string(), HasSubstr("/dev/full"));
  full->reset();
  sim.finish();
}

// The whole: a training on two devices, its file, and the way of every batch in it.
TEST(TraceFileTest, EveryBatchOfATrainingHasAWayFromReadToUpdate) {
  Simulation sim(3);
  const TempFolder folder;
  constexpr std::uint64_t kSteps = 10;
  train::testing::SimulatedTraining training(sim, 2, 8);
  training.source_ = std::make_shared<train::testing::ClockSource>(
      sim.timers(), kSteps * 16, milliseconds(4), milliseconds(3));
  auto file = begun(sim.environment(), training.trace_, {.path = folder.file("t")});
  ASSERT_TRUE(file);
  const auto report = sim.run(spawn(
      sim.executor(), train::train(training.parts(), training.options(kSteps * 16, 1), nullptr)));
  ASSERT_TRUE(report) << report.error().to_string();
  ASSERT_TRUE(sim.run((*file)->close()));
  file->reset();

  const auto timeline = read_timeline(folder.file("t"));
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_THAT(timeline->lanes,
              IsSupersetOf({"steps", "loader read", "loader decode", "loader transfer", "device 0",
                            "device 1", "group train all_reduce", "group train broadcast"}));
  std::map<std::uint64_t, std::vector<const Slice*>> ways;
  for (const Slice& slice : timeline->slices) {
    for (const std::uint64_t flow : slice.flows) ways[flow].push_back(&slice);
  }
  EXPECT_EQ(ways.size(), 2 * kSteps);
  for (const auto& [flow, way] : ways) {
    const std::string device = "device " + std::to_string((flow - 1) % 2);
    std::vector<std::string> stops;
    for (const Slice* slice : way) {
      const std::string stop = timeline->lanes[slice->lane] + ": " + timeline->names[slice->name];
      // One of two reductions may begin with the update, and lanes have no order of their own.
      if (std::ranges::find(stops, stop) == stops.end()) stops.push_back(stop);
    }
    // The reduction of a gradient begins when it is written, before the program has ended.
    EXPECT_THAT(stops, ElementsAre("loader read: batch", "loader decode: batch",
                                   "loader transfer: batch", device + ": grad",
                                   "group train all_reduce: all_reduce", device + ": update"))
        << "batch " << flow;
    EXPECT_EQ(way[0]->end - way[0]->begin, 4'000'000);
    EXPECT_EQ(way[1]->end - way[1]->begin, 3'000'000);
  }
  sim.finish();
}

}  // namespace
}  // namespace millrace::trace
