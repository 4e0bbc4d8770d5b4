// `millrace train`, by running it: what it refuses, what it tells, how it stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"
#include "tests/tools/commands/until_limit.h"

namespace millrace {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::mnist_model;
using testing::Outcome;
using testing::Process;
using testing::run_millrace;
using Json = nlohmann::json;

std::vector<std::string> train(std::vector<std::string> more) {
  more.insert(more.begin(), {"train", "--model", mnist_model()});
  return more;
}

std::vector<Json> lines(const std::string& text) {
  std::vector<Json> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(Json::parse(line));
  return all;
}

void put_idx(std::string& bytes, std::initializer_list<unsigned> words) {
  for (const unsigned word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
  }
}

// A data folder of 256 images in each split; `images_short` bytes of the training images are
// missing.
void write_data(const testing::TempFolder& folder, std::size_t images_short, char label) {
  for (const std::string split : {"train", "t10k"}) {
    std::string images;
    put_idx(images, {0x803, 256, 28, 28});
    images.append(256 * 28 * 28 - (split == "train" ? images_short : 0), '\x40');
    folder.write(split + "-images-idx3-ubyte", std::as_bytes(std::span(images)));
    std::string labels;
    put_idx(labels, {0x801, 256});
    labels.append(256, label);
    folder.write(split + "-labels-idx1-ubyte", std::as_bytes(std::span(labels)));
  }
}

TEST(TrainCommandTest, TwoDevicesTrainAndTheLastLineIsTheReport) {
  const Outcome o = run_millrace(train(
      {"--fake-data", "--devices", "2", "--batch-size", "128", "--max-steps", "30", "--json"}));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, IsEmpty());
  const std::vector<Json> events = lines(o.out);
  ASSERT_GE(events.size(), 3U);
  EXPECT_EQ(events[0]["event"], "start");
  EXPECT_EQ(events[0]["devices"], 2);
  EXPECT_EQ(events[0]["steps"], 30);
  EXPECT_EQ(events[1]["event"], "step");
  EXPECT_EQ(events[1]["steps"], 30);
  const Json& done = events.back();
  EXPECT_EQ(done["event"], "done");
  EXPECT_EQ(done["steps"], 30);
  EXPECT_EQ(done["device_idle"].size(), 2U);
  EXPECT_GT(done["test_accuracy"].get<double>(), 0.2);  // one in ten by chance
  EXPECT_GT(done["images_per_second"].get<double>(), 0);
  EXPECT_GE(done["step_ms_p99"].get<double>(), done["step_ms_median"].get<double>());
  for (const char* stage :
       {"read", "decode", "host_to_device", "execute", "all_reduce", "update"}) {
    EXPECT_TRUE(done["stage_ms"].contains(stage)) << stage;
  }
  EXPECT_FALSE(done["bottleneck"].get<std::string>().empty());
}

TEST(TrainCommandTest, WithoutATerminalPlainLinesGoToStderrAndTheReportToStdout) {
  const Outcome o = run_millrace(train({"--fake-data", "--max-steps", "2"}), {{"TERM", "xterm"}});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, HasSubstr("training "));
  EXPECT_THAT(o.err, Not(HasSubstr("\x1b")));
  EXPECT_THAT(o.err, Not(HasSubstr("\r")));
  EXPECT_THAT(o.out, HasSubstr("accuracy"));
  const Outcome quiet = run_millrace(train({"--fake-data", "--max-steps", "2", "--quiet"}));
  EXPECT_EQ(quiet.code, 0);
  EXPECT_THAT(quiet.err, IsEmpty());
}

TEST(TrainCommandTest, FakeDataForAModelThatTheyCannotFitAreRefused) {
  struct Row {
    const char* fact;
    Json value;
    const char* says;
  };
  for (const Row& row : {Row{"classes", 1000, "labels of 1 to 256 classes; model 'mnist' has 1000"},
                         Row{"classes", 0, "model 'mnist' has 0"},
                         Row{"image_shape", {0, 28}, "those of model 'mnist' are 0x28"},
                         Row{"image_shape", {28, -1}, "those of model 'mnist' are 28x-1"}}) {
    std::ifstream in(mnist_model() + "/manifest.json");
    Json manifest = Json::parse(in);
    manifest["model"][row.fact] = row.value;
    const std::string text = manifest.dump();
    const testing::TempFolder model;
    model.write("manifest.json", std::as_bytes(std::span(text)));
    const Outcome o = run_millrace({"train", "--model", model.path(), "--fake-data"});
    EXPECT_EQ(o.code, 1) << row.value;
    EXPECT_THAT(o.err, HasSubstr(row.says));
  }
}

// The signal comes in the middle of a training that would take hours.
void expect_clean_stop(int signal, const std::string& name) {
  Process process(testing::millrace_command(
      train({"--fake-data", "--devices", "2", "--epochs", "1000", "--json"})));
  ASSERT_TRUE(process.wait_for(
      [](const Outcome& o) { return o.out.find("\"step\"") != std::string::npos; }));
  process.send(signal);
  const Outcome& o = process.wait();
  EXPECT_EQ(o.code, 128 + signal) << o.err;
  EXPECT_THAT(o.err, ::testing::MatchesRegex("stopped after step [0-9]+ on " + name + "\n"));
  EXPECT_EQ(lines(o.out).back()["event"], "stopped");
}

// On a busy machine the signal may come after the start-up: then once more.
TEST(TrainCommandTest, CtrlCDuringStartUpStopsCleanlyAndSaysSo) {
  bool during = false;
  for (int i = 0; i < 20 && !during; ++i) {
    Process process(testing::millrace_command(train({"--fake-data", "--epochs", "1000"})));
    ASSERT_TRUE(process.wait_until_caught(SIGINT));
    process.send(SIGINT);
    const Outcome& o = process.wait();
    EXPECT_EQ(o.code, 130) << o.err;
    EXPECT_THAT(o.err, ContainsRegex("stopped after step [0-9]+ on SIGINT\n"));
    during = o.err.find("stopped after step 0 on SIGINT\n") != std::string::npos;
  }
  EXPECT_TRUE(during);
}

TEST(TrainCommandTest, CtrlCStopsCleanlyAndSaysSo) { expect_clean_stop(SIGINT, "SIGINT"); }
TEST(TrainCommandTest, SigtermStopsCleanlyAndSaysSo) { expect_clean_stop(SIGTERM, "SIGTERM"); }

TEST(TrainCommandTest, TerminalGetsABarAndItsCursorBack) {
  if (!Process::has_terminals()) GTEST_SKIP() << "no pseudo-terminal can be made here";
  Process process(testing::millrace_command(train({"--fake-data", "--epochs", "1000"})),
                  {{"TERM", "xterm"}}, Process::Words::kTerminal);
  ASSERT_TRUE(process.wait_for(
      [](const Outcome& o) { return o.err.find("images/s") != std::string::npos; }));
  process.send(SIGINT);
  const Outcome& o = process.wait();
  EXPECT_EQ(o.code, 130);
  EXPECT_THAT(o.err, HasSubstr("\x1b[?25l\r\x1b[2Kepoch 1/1000 "));
  EXPECT_GT(o.err.rfind("\x1b[?25h"), o.err.rfind("\x1b[?25l"));
  EXPECT_GT(o.err.rfind("stopped after step"), o.err.rfind("\x1b[?25h"));
}

TEST(TrainCommandTest, DeadlineEndsTheTrainingWithItsExitCode) {
  const auto start = [](const std::string& limit) {
    return std::make_unique<Process>(testing::millrace_command(
        train({"--fake-data", "--epochs", "1000", "--deadline", limit, "--json"})));
  };
  const auto there = [](const Outcome& o) {
    EXPECT_EQ(o.code, 124) << o.err;
    return o.err.find(" step ") != std::string::npos;
  };
#ifdef MILLRACE_TSAN
  constexpr double kFirst = 10;  // where a step takes a second, the process does not wait for it
#else
  constexpr double kFirst = 0.5;
#endif
  const auto [o, limit] = testing::until_limit(kFirst, start, there);
  EXPECT_THAT(o.err, HasSubstr("--deadline " + limit + " came "));
  EXPECT_THAT(o.err, HasSubstr(" step "));
}

TEST(TrainCommandTest, DataThatIsUnclearIsAUsageError) {
  EXPECT_EQ(run_millrace(train({})).code, 2);
  EXPECT_EQ(run_millrace(train({"--fake-data", "--data", "."})).code, 2);
  EXPECT_EQ(run_millrace({"train", "--fake-data"}).code, 2);
  EXPECT_EQ(run_millrace(train({"--fake-data", "--batch-size", "0"})).code, 2);
  EXPECT_EQ(run_millrace(train({"--fake-data", "--steps-in-flight", "0"})).code, 2);
  EXPECT_EQ(run_millrace(train({"--fake-data", "--epochs", "many"})).code, 2);
}

TEST(TrainCommandTest, MoreStepsInFlightThanAreWatchedIsAUsageErrorWithTheLimits) {
  const Outcome o = run_millrace(train({"--fake-data", "--steps-in-flight", "129"}));
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, HasSubstr("--steps-in-flight: Value 129 not in range"));
  EXPECT_THAT(o.err, HasSubstr("128"));
}

TEST(TrainCommandTest, BatchThatDoesNotDivideOverTheDevicesIsAUsageError) {
  const Outcome o = run_millrace(train({"--fake-data", "--devices", "2", "--batch-size", "127"}));
  EXPECT_EQ(o.code, 2);
  EXPECT_THAT(o.err, HasSubstr("127 does not divide evenly over 2 devices"));
}

TEST(TrainCommandTest, BatchThatNoProgramWasExportedForNamesThoseThatAreThere) {
  const Outcome o = run_millrace(train({"--fake-data", "--devices", "1", "--batch-size", "100"}));
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("100"));
  EXPECT_THAT(o.err, HasSubstr("64"));
}

TEST(TrainCommandTest, MissingModelIsNamed) {
  const Outcome o = run_millrace({"train", "--model", "no/such/model", "--fake-data"});
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("no/such/model"));
  EXPECT_THAT(o.out, IsEmpty());
}

TEST(TrainCommandTest, EmptyDataFolderIsNamed) {
  const testing::TempFolder folder;
  const Outcome o = run_millrace(train({"--data", folder.path()}));
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr(folder.path()));
}

TEST(TrainCommandTest, TruncatedImagesNameFileAndOffsetAndNothingIsTrained) {
  const testing::TempFolder folder;
  write_data(folder, 10, 3);
  const Outcome o = run_millrace(train({"--data", folder.path(), "--json"}));
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.out, ::testing::StartsWith(R"({"event":"error","code":"DATA_LOSS",)"));
  EXPECT_EQ(std::count(o.out.begin(), o.out.end(), '\n'), 1);  // no step, no report
  EXPECT_THAT(o.err, HasSubstr("train-images-idx3-ubyte"));
  EXPECT_THAT(o.err, HasSubstr(std::to_string(16 + 256 * 28 * 28 - 10)));
}

TEST(TrainCommandTest, LabelsBeyondTheModelsClassesAreRefused) {
  const testing::TempFolder folder;
  write_data(folder, 0, 10);
  const Outcome o = run_millrace(train({"--data", folder.path()}));
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("go up to 10"));
}

TEST(TrainCommandTest, FilesOfAFolderAreTrainedOn) {
  const testing::TempFolder folder;
  write_data(folder, 0, 7);
  const Outcome o = run_millrace(train({"--data", folder.path(), "--epochs", "2", "--json"}));
  ASSERT_EQ(o.code, 0) << o.err;
  const std::vector<Json> events = lines(o.out);
  EXPECT_EQ(events.back()["steps"], 4);
  EXPECT_EQ(std::count_if(events.begin(), events.end(),
                          [](const Json& e) { return e["event"] == "epoch"; }),
            2);
}

}  // namespace
}  // namespace millrace
