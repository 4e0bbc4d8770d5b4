// `millrace train --checkpoint`, by running it, and by killing it at every step of the writing of a
// checkpoint: real processes, files and SIGKILL, because that is what it must stand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/tools/train/checkpoint_folder.h"
#include "tests/support/paths.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Outcome;
using testing::Process;
using testing::TempFolder;
using train::kCheckpointFaultPoints;
using train::read_checkpoint;
using Json = nlohmann::json;

constexpr std::uint64_t kItems = 512;  // four steps in an epoch
constexpr std::uint64_t kSteps = 12;
constexpr std::uint64_t kEvery = 3;

void put_words(std::string& bytes, std::initializer_list<unsigned> words) {
  for (const unsigned word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
  }
}

// Images and labels of noise: no two batches are alike, and no two data sets of other seeds.
void write_noise(const TempFolder& folder, unsigned seed) {
  std::mt19937 random(seed);
  for (const std::string split : {"train", "t10k"}) {
    std::string images;
    put_words(images, {0x803, kItems, 28, 28});
    for (std::size_t i = 0; i < kItems * 28 * 28; ++i) images += static_cast<char>(random() >> 24);
    folder.write(split + "-images-idx3-ubyte", std::as_bytes(std::span(images)));
    std::string labels;
    put_words(labels, {0x801, kItems});
    for (std::size_t i = 0; i < kItems; ++i) labels += static_cast<char>(random() % 10);
    folder.write(split + "-labels-idx1-ubyte", std::as_bytes(std::span(labels)));
  }
}

class TrainCheckpointCommandTest : public ::testing::Test {
 protected:
  TrainCheckpointCommandTest() { write_noise(data_, 7); }

  std::vector<std::string> words(const std::string& folder, std::vector<std::string> more,
                                 const std::string& program = "millrace") const {
    std::vector<std::string> all = {testing::build_folder() + "/bin/" + program,
                                    "train",
                                    "--model",
                                    testing::mnist_model(),
                                    "--data",
                                    data_.path(),
                                    "--devices",
                                    "2",
                                    "--deterministic",
                                    "--json",
                                    "--checkpoint",
                                    folder};
    if (std::ranges::find(more, "--epochs") == more.end()) all.insert(all.end(), {"--epochs", "3"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Outcome run(const std::string& folder, std::vector<std::string> more) const {
    return Process(words(folder, std::move(more))).wait();
  }
  // The first event of the kind, null without.
  static Json event(const Outcome& outcome, const std::string& kind) {
    std::istringstream in(outcome.out);
    for (std::string line; std::getline(in, line);) {
      Json json = Json::parse(line);
      if (json["event"] == kind) return json;
    }
    return nullptr;
  }
  static std::vector<std::string> complete_ones(const std::string& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      if (name.starts_with("step-") && !name.contains('.')) paths.push_back(entry.path());
    }
    std::ranges::sort(paths);
    return paths;
  }

  const TempFolder data_;
  const TempFolder temp_;
};

TEST_F(TrainCheckpointCommandTest, ItSavesOncePerEpochAndSaysSo) {
  const Outcome o = run(temp_.file("a"), {});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_THAT(o.err, IsEmpty());
  const Json checkpoint = event(o, "checkpoint");
  EXPECT_EQ(checkpoint["step"], 4);
  EXPECT_EQ(checkpoint["path"], temp_.file("a") + "/step-00000004");
  EXPECT_GT(checkpoint["bytes"], 100'000);
  EXPECT_FALSE(event(o, "start").contains("resumed_from"));
  // The middle one may come late, where the disk is slower than an epoch.
  const std::vector<std::string> kept = complete_ones(temp_.file("a"));
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept.back(), temp_.file("a") + "/step-00000012");
}

TEST_F(TrainCheckpointCommandTest, StoppedAndResumedGivesTheSameFileAsAWholeRun) {
  ASSERT_EQ(run(temp_.file("whole"), {}).code, 0);
  for (const std::string steps : {"3", "5", "8", "12"}) {
    const Outcome o = run(temp_.file("parts"), {"--resume", "--max-steps", steps});
    ASSERT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(event(o, "start")["resumed_from"].is_null(), steps == "3");
  }
  const auto whole = read_checkpoint(temp_.file("whole/step-00000012"));
  const auto parts = read_checkpoint(temp_.file("parts/step-00000012"));
  ASSERT_TRUE(whole && parts);
  EXPECT_EQ(whole->manifest.to_text().value(), parts->manifest.to_text().value());
}

TEST_F(TrainCheckpointCommandTest, ResumedAfterItsLastStepItEvaluatesAndSaysThatNoneWasLeft) {
  const std::vector<std::string> more = {"--resume", "--max-steps", "3"};
  const Json first = event(run(temp_.file("a"), more), "done");
  const Outcome again = run(temp_.file("a"), more);
  EXPECT_EQ(again.code, 0) << again.err;
  const Json done = event(again, "done");
  EXPECT_EQ(done["steps"], 0);
  EXPECT_TRUE(done["bottleneck"].is_null()) << done;
  EXPECT_EQ(done["test_loss"], first["test_loss"]);
}

TEST_F(TrainCheckpointCommandTest, WhatCannotBeIsRefusedAtTheStart) {
  EXPECT_EQ(Process(testing::millrace_command(
                        {"train", "--model", testing::mnist_model(), "--fake-data", "--resume"}))
                .wait()
                .code,
            2);
  EXPECT_EQ(run(temp_.file("a"), {"--every", "0"}).code, 2);
  const Outcome unwritable = run("/proc/1/none", {});
  EXPECT_EQ(unwritable.code, 1);
  EXPECT_THAT(unwritable.err, HasSubstr("/proc/1/none"));
  EXPECT_THAT(unwritable.out, ::testing::StartsWith(R"({"event":"error",)"));
  ASSERT_EQ(run(temp_.file("a"), {"--max-steps", "2"}).code, 0);
  const Outcome again = run(temp_.file("a"), {});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("--resume"));
  const Outcome other = run(temp_.file("a"), {"--resume", "--seed", "2"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("the seed is 1 there and 2 here"));
}

// The other data has the same sizes, as MNIST and Fashion-MNIST have.
TEST_F(TrainCheckpointCommandTest, ResumeRefusesOtherDataAndOtherKernels) {
  const std::vector<std::string> more = {"--resume", "--max-steps", "2"};
  ASSERT_EQ(run(temp_.file("a"), more).code, 0);
  std::vector<std::string> other = words(temp_.file("a"), more);
  const TempFolder other_data;
  write_noise(other_data, 8);
  std::ranges::replace(other, data_.path(), other_data.path());
  const Outcome refused = Process(other).wait();
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("the data is '512 items of "));
  EXPECT_THAT(refused.err, HasSubstr("; crc32 of labels "));
  EXPECT_THAT(refused.err, HasSubstr(" here. Resume with its options"));
  EXPECT_THAT(refused.err, Not(HasSubstr("; the ")));  // nothing else differs

  // Who has checkpoints has said --deterministic.
  std::vector<std::string> implied = words(temp_.file("a"), more);
  std::erase(implied, "--deterministic");
  EXPECT_EQ(Process(implied).wait().code, 0);
}

TEST_F(TrainCheckpointCommandTest, CtrlCLeavesCompleteOnesAndNothingElse) {
  const std::string folder = temp_.file("a");
  Process process(words(folder, {"--epochs", "100000", "--every", "1"}));
  ASSERT_TRUE(process.wait_for(
      [](const Outcome& o) { return o.out.find("\"checkpoint\"") != std::string::npos; }));
  process.send(SIGINT);
  const Outcome& o = process.wait();
  EXPECT_EQ(o.code, 130) << o.err;
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_TRUE(read_checkpoint(entry.path())) << entry.path();
  }
  EXPECT_GE(complete_ones(folder).size(), 1U);
}

// A limit on the size of files stands for the full disk.
TEST_F(TrainCheckpointCommandTest, AFullDiskEndsTheTrainingByNameAndLeavesTheOneBefore) {
  ASSERT_EQ(run(temp_.file("a"), {"--max-steps", "3"}).code, 0);
  std::string command = "ulimit -f 64; trap '' XFSZ; exec";
  for (const std::string& word : words(temp_.file("a"), {"--resume"})) command += " '" + word + "'";
  const Outcome o = Process({"/bin/sh", "-c", command}).wait();
  EXPECT_EQ(o.code, 1);
  EXPECT_THAT(o.err, HasSubstr("writing the checkpoint " + temp_.file("a") + "/step-00000004"));
  EXPECT_THAT(o.err, HasSubstr("File too large"));
  EXPECT_EQ(event(o, "error")["code"], "RESOURCE_EXHAUSTED");
  EXPECT_THAT(complete_ones(temp_.file("a")),
              ::testing::ElementsAre(temp_.file("a") + "/step-00000003"));
  EXPECT_TRUE(read_checkpoint(temp_.file("a/step-00000003")));
  EXPECT_EQ(std::ranges::distance(fs::directory_iterator(temp_.file("a"))), 1);
}

// How many checkpoints of a run have their name when it dies at the n-th arrival at a point.
std::uint64_t published_before(std::string_view point, std::uint64_t arrival) {
  return point == "checkpoint.renamed" || point == "checkpoint.published" ? arrival : arrival - 1;
}

class KilledTrainingTest : public TrainCheckpointCommandTest,
                           public ::testing::WithParamInterface<std::string_view> {
 protected:
  std::string folder_of(std::uint64_t arrival) const {
    return temp_.file("killed-" + std::to_string(arrival));
  }
  // Kills a run, looks at what it left (so many complete ones, where that is known), resumes, and
  // compares the end with that of a whole run.
  void kill_and_resume(std::uint64_t arrival, std::optional<std::uint64_t> complete) {
    const std::string point(GetParam());
    SCOPED_TRACE(point + ":" + std::to_string(arrival));
    const std::string folder = folder_of(arrival);
    const std::vector<std::string> more = {"--resume", "--every", std::to_string(kEvery)};
    Process killed(words(folder, more, "millrace_killable"),
                   {{"MILLRACE_KILL_AT", point + ":" + std::to_string(arrival)}});
    const Outcome& died = killed.wait();
    ASSERT_EQ(died.code, 128 + SIGKILL) << "it never came there: " << died.err;

    const std::vector<std::string> left = complete_ones(folder);
    for (const std::string& path : left) {
      const auto read = read_checkpoint(path);
      EXPECT_TRUE(read) << read.error().to_string();
    }
    if (complete) {
      EXPECT_EQ(left.size(), *complete);
    }
    const Outcome resumed = run(folder, more);
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    const Json from = event(resumed, "start")["resumed_from"];
    EXPECT_EQ(from, left.empty() ? Json(nullptr) : Json(left.back()));
    const auto end = read_checkpoint(folder + "/step-00000012");
    ASSERT_TRUE(end) << end.error().to_string();
    EXPECT_EQ(end->manifest.to_text().value(), whole_);
    EXPECT_LE(complete_ones(folder).size(), 2U);
    for (const auto& entry : fs::directory_iterator(folder)) {
      EXPECT_TRUE(entry.path().extension().empty()) << entry.path();
    }
  }
  // Runs without a kill and keeps the outcome; false if there was none.
  bool run_whole() {
    const Outcome o = run(temp_.file("whole"), {"--every", std::to_string(kEvery)});
    const auto end = read_checkpoint(temp_.file("whole/step-00000012"));
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_TRUE(end);
    if (!end) return false;
    whole_ = end->manifest.to_text().value();
    arrays_ = end->arrays.header().arrays.size();
    return true;
  }
  std::mt19937_64 seeded() const {
    const char* given = std::getenv("MILLRACE_SEED");  // NOLINT(concurrency-mt-unsafe)
    const std::uint64_t seed = given != nullptr ? std::stoull(given) : 1;
    std::printf("MILLRACE_SEED=%llu\n", static_cast<unsigned long long>(seed));
    return std::mt19937_64(seed);
  }

  std::string whole_;
  std::uint64_t arrays_ = 0;
};

// Every run has two checkpoints at least: one after kEvery steps, and one at its end. (Those
// between may come late, where the disk is slow.) What is drawn is where between them the kill
// comes.
TEST_P(KilledTrainingTest, ACompleteCheckpointOrTheOneBeforeIsThere) {
  ASSERT_TRUE(run_whole());
  std::mt19937_64 random = seeded();
  const std::string_view point = GetParam();
  if (point == "train.step") {
    kill_and_resume(1 + random() % (kSteps - 1), std::nullopt);
    kill_and_resume(kSteps, std::nullopt);
  } else if (point == "checkpoint.array") {
    for (const std::uint64_t number : {1, 2}) {
      kill_and_resume((number - 1) * arrays_ + 1 + random() % arrays_, number - 1);
    }
  } else if (point == "checkpoint.removing") {
    // Only a third one removes the first.
    for (const std::string steps : {"1", "2"}) {
      ASSERT_EQ(run(folder_of(1), {"--resume", "--max-steps", steps}).code, 0);
    }
    kill_and_resume(1, 2);
  } else {
    for (const std::uint64_t number : {1, 2}) {
      kill_and_resume(number, published_before(point, number));
    }
  }
}

std::vector<std::string_view> kill_points() {
  std::vector<std::string_view> points(kCheckpointFaultPoints.begin(),
                                       kCheckpointFaultPoints.end());
  points.emplace_back("train.step");
  return points;
}
std::string name_of(const ::testing::TestParamInfo<std::string_view>& info) {
  std::string name(info.param);
  std::ranges::replace(name, '.', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(At, KilledTrainingTest, ::testing::ValuesIn(kill_points()), name_of);

}  // namespace
}  // namespace millrace
