// `--trace` and `millrace trace`, by running them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/tools/trace/timeline.h"
#include "millrace/transfer/formats/npy.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using testing::millrace_command;
using testing::mnist_model;
using testing::Outcome;
using testing::Process;
using testing::run_millrace;
using testing::TempFolder;
using Json = nlohmann::json;

std::vector<std::string> train(std::vector<std::string> more) {
  more.insert(more.begin(), {"train", "--model", mnist_model(), "--fake-data", "--devices", "2",
                             "--threads", "2", "--batch-size", "128"});
  return more;
}

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// One training for all tests that only look at its file.
const std::string& trained() {
  static const TempFolder folder;
  static const std::string file = [] {
    const Outcome o = run_millrace(
        train({"--max-steps", "30", "--quiet", "--trace", folder.file("train.pftrace")}));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_THAT(o.err, IsEmpty());
    return folder.file("train.pftrace");
  }();
  return file;
}

TEST(TraceCommandTest, ATrainingHasALaneForEverythingAndAWayForEveryBatch) {
  const auto timeline = trace::read_timeline(trained());
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_THAT(timeline->lanes,
              IsSupersetOf({"steps", "loader read", "loader decode", "loader transfer", "device 0",
                            "device 1", "group train all_reduce"}));
  EXPECT_EQ(timeline->lost, 0u);
  EXPECT_EQ(timeline->unended, 0u);
  EXPECT_FALSE(timeline->cut_short);
  std::map<std::uint64_t, std::set<std::string>> ways;
  for (const trace::Slice& slice : timeline->slices) {
    for (const std::uint64_t flow : slice.flows)
      ways[flow].insert(trace::short_name(timeline->names[slice.name]));
  }
  for (std::uint64_t flow = 1; flow <= 60; ++flow)
    EXPECT_THAT(ways[flow], IsSupersetOf({"batch", "grad_64", "all_reduce", "update"})) << flow;
}

TEST(TraceCommandTest, ReportsLanesEventsAndWaits) {
  const Outcome text = run_millrace({"trace", trained()});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("device 1"));
  EXPECT_THAT(text.out, HasSubstr("grad_64"));
  EXPECT_THAT(text.out, HasSubstr("a batch waits from"));
  const Outcome o = run_millrace({"trace", trained(), "--json"});
  ASSERT_EQ(o.code, 0) << o.err;
  const Json json = Json::parse(o.out);
  std::uint64_t grads = 0;
  for (const Json& lane : json["lanes"]) {
    EXPECT_EQ(lane["busy_ns"].get<std::int64_t>() + lane["idle_ns"].get<std::int64_t>(),
              json["length_ns"].get<std::int64_t>());
    for (const Json& event : lane["events"])
      grads += event["name"] == "grad_64" ? event["count"].get<std::uint64_t>() : 0;
  }
  EXPECT_EQ(grads, 60u);
  bool loaded = false;
  for (const Json& wait : json["waits"])
    loaded = loaded ||
             (wait["from"] == "loader transfer" && wait["to"] == "device 0" && wait["count"] == 30);
  EXPECT_TRUE(loaded) << o.out;
}

TEST(TraceCommandTest, DrawsAPictureOfTheWindowThatIsAsked) {
  const TempFolder folder;
  const Outcome o = run_millrace({"trace", trained(), "--svg", folder.file("a.svg")});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string svg = read(folder.file("a.svg"));
  EXPECT_THAT(svg, ::testing::StartsWith("<svg "));
  EXPECT_THAT(svg, HasSubstr(">device 0</text>"));
  EXPECT_THAT(svg, HasSubstr("url(#tip)"));
  const Outcome part = run_millrace(
      {"trace", trained(), "--from", "0.001", "--to", "0.003", "--svg", folder.file("b.svg")});
  ASSERT_EQ(part.code, 0) << part.err;
  EXPECT_THAT(part.out, HasSubstr("2.00 ms on"));
  EXPECT_THAT(read(folder.file("b.svg")), HasSubstr(">2.00 ms of "));
}

TEST(TraceCommandTest, WindowsBeyondAllNanosecondsAreEmptyOrWhole) {
  for (const char* late : {"1e10", "1e300", "nan"}) {
    EXPECT_EQ(run_millrace({"trace", trained(), "--from", late}).code, 2) << late;
    EXPECT_EQ(run_millrace({"trace", trained(), "--to", late}).code, 0) << late;
  }
}

TEST(TraceCommandTest, RunAndTheVariableWriteOneToo) {
  const TempFolder folder;
  const std::uint32_t seed = 1;
  ASSERT_TRUE(transfer::write_npy_file(folder.file("seed.npy"),
                                       devices::Shape(devices::DType::kU32, {}),
                                       std::as_bytes(std::span(&seed, 1))));
  std::vector<std::string> words = {"run", mnist_model() + "/init.mlir", "--input",
                                    folder.file("seed.npy"), "--json"};
  EXPECT_EQ(run_millrace(words, {{"MILLRACE_TRACE", folder.file("%p.pftrace")}}).code, 0);
  words.insert(words.end(), {"--trace", folder.file("option.pftrace")});
  EXPECT_EQ(run_millrace(words).code, 0);
  std::size_t traces = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    if (entry.path().extension() != ".pftrace") continue;
    ++traces;
    EXPECT_THAT(entry.path().filename(), ::testing::Not(HasSubstr("%")));
    const auto timeline = trace::read_timeline(entry.path());
    ASSERT_TRUE(timeline) << timeline.error().to_string();
    EXPECT_THAT(timeline->lanes, Contains("device 0"));
  }
  EXPECT_EQ(traces, 2u);
}

TEST(TraceCommandTest, AStartThatFailsLeavesAnOldTraceAsItWas) {
  const TempFolder folder;
  const std::string old = "an old trace";
  const std::string file = folder.write("t.pftrace", std::as_bytes(std::span(old)));
  const std::vector<std::string> words = {"run", mnist_model() + "/init.mlir"};
  EXPECT_NE(run_millrace(words, {{"PJRT_DEVICE", "nope"}, {"MILLRACE_TRACE", file}}).code, 0);
  EXPECT_EQ(read(file), old);
  std::vector<std::string> named = words;
  named.insert(named.end(), {"--trace", file});
  EXPECT_NE(run_millrace(named, {{"PJRT_DEVICE", "nope"}}).code, 0);
  EXPECT_EQ(read(file), old);
}

TEST(TraceCommandTest, AStoppedTrainingLeavesItsTrace) {
  const TempFolder folder;
  Process process(millrace_command(
      train({"--epochs", "100000", "--json", "--trace", folder.file("t.pftrace")})));
  ASSERT_TRUE(process.wait_for(
      [](const Outcome& o) { return o.out.find("\"event\":\"step\"") != std::string::npos; }));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().code, 130);
  const auto timeline = trace::read_timeline(folder.file("t.pftrace"));
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_FALSE(timeline->cut_short);
  EXPECT_THAT(timeline->lanes, Contains("steps"));
}

TEST(TraceCommandTest, AKilledTrainingLeavesWhatWasWritten) {
  const TempFolder folder;
  Process process(millrace_command(
      train({"--epochs", "100000", "--json", "--trace", folder.file("t.pftrace")})));
  ASSERT_TRUE(process.wait_for([&](const Outcome&) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(folder.file("t.pftrace"), error);
    return !error && size > 20'000;
  }));
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().code, 137);
  const Outcome o = run_millrace({"trace", folder.file("t.pftrace")});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("device 0"));
}

TEST(TraceCommandTest, WhatCannotBeReadOrWrittenIsReportedInWords) {
  const TempFolder folder;
  const Outcome none = run_millrace({"trace", folder.file("none")});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, HasSubstr("none: No such file"));
  const std::string words = "no trace at all\n";
  folder.write("words", std::as_bytes(std::span(words)));
  const Outcome other = run_millrace({"trace", folder.file("words")});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("no Perfetto trace"));
  const Outcome full = run_millrace(train({"--max-steps", "2", "--quiet", "--trace", "/dev/full"}));
  EXPECT_EQ(full.code, 1);
  EXPECT_THAT(full.err, HasSubstr("/dev/full"));
  EXPECT_THAT(full.out, HasSubstr("steps"));  // the training itself was fine
  const Outcome nowhere =
      run_millrace(train({"--max-steps", "2", "--quiet", "--trace", folder.file("no/t")}));
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("no/t: No such file"));
  const Outcome window = run_millrace({"trace", trained(), "--from", "1000000"});
  EXPECT_EQ(window.code, 2);
  EXPECT_THAT(window.err, HasSubstr("--from"));
}

}  // namespace
}  // namespace millrace
