// The main job on a PJRT plugin's devices, by running it: `millrace train` gives there what it
// gives on the CPU device, saves and resumes to the same bytes, and draws the same timeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/tools/trace/timeline.h"
#include "millrace/tools/train/checkpoint_folder.h"
#include "tests/support/plugins.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/commands/process.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using testing::mnist_model;
using testing::Outcome;
using testing::run_millrace;
using testing::TempFolder;
using Json = nlohmann::json;

constexpr std::uint64_t kItems = 512;  // four steps in an epoch
constexpr int kEpochs = 4;

void put_words(std::string& bytes, std::initializer_list<unsigned> words) {
  for (const unsigned word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
  }
}

// A class is a bright bar at a height of its own, in noise: learnt in a few steps.
void write_images(const TempFolder& folder) {
  std::mt19937 random(11);
  for (const std::string split : {"train", "t10k"}) {
    std::string images;
    std::string labels;
    put_words(images, {0x803, kItems, 28, 28});
    put_words(labels, {0x801, kItems});
    for (std::size_t i = 0; i < kItems; ++i) {
      const unsigned label = static_cast<unsigned>(random()) % 10;
      labels += static_cast<char>(label);
      for (unsigned y = 0; y < 28; ++y) {
        const bool bright = y / 2 == label + 2;
        for (unsigned x = 0; x < 28; ++x)
          images += static_cast<char>((random() >> 26) + (bright ? 180U : 0U));
      }
    }
    folder.write(split + "-images-idx3-ubyte", std::as_bytes(std::span(images)));
    folder.write(split + "-labels-idx1-ubyte", std::as_bytes(std::span(labels)));
  }
}

struct Trained {
  Json start;
  std::vector<double> epoch_losses;
  Json done;
};

class TrainPluginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto plugins = testing::plugins_at_hand();
    const auto found = plugins.find("Xla0115");
    if (found == plugins.end()) GTEST_SKIP() << "no plugin here: tests/fetch_plugins gets it";
    library_ = found->second;
    write_images(data_);
  }

  Trained train(std::vector<std::string> more,
                const std::map<std::string, std::string>& variables = {}) const {
    std::vector<std::string> words = {"train",      "--model", mnist_model(),  "--data",
                                      data_.path(), "--json",  "--batch-size", "128"};
    words.insert(words.end(), more.begin(), more.end());
    if (std::ranges::find(more, "--epochs") == more.end())
      words.insert(words.end(), {"--epochs", std::to_string(kEpochs)});
    const Outcome outcome = run_millrace(words, variables);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    Trained trained;
    std::istringstream in(outcome.out);
    for (std::string line; std::getline(in, line);) {
      Json event = Json::parse(line);
      if (event["event"] == "start") trained.start = event;
      if (event["event"] == "epoch") trained.epoch_losses.push_back(event["mean_loss"]);
      if (event["event"] == "done") trained.done = event;
    }
    return trained;
  }
  // Two devices of the plugin, as a manifest in a folder offers them.
  std::map<std::string, std::string> manifest() const {
    const std::string text = Json({{"name", "xla_cpu"},
                                   {"library_path", library_},
                                   {"create_options", {{"cpu_device_count", 2}}}})
                                 .dump();
    manifests_.write("xla_cpu.json", std::as_bytes(std::span(text)));
    return {{"PJRT_DEVICE", "xla_cpu"}, {"MILLRACE_PLUGIN_PATH", manifests_.path()}};
  }

  std::string library_;
  const TempFolder data_;
  const TempFolder manifests_;
  const TempFolder temp_;
};

// Other kernels round otherwise, and a training carries that on: close, not equal.
void expect_same_course(const Trained& plugin, const Trained& cpu) {
  ASSERT_EQ(cpu.epoch_losses.size(), std::size_t{kEpochs});
  ASSERT_EQ(plugin.epoch_losses.size(), cpu.epoch_losses.size());
  for (std::size_t e = 0; e < cpu.epoch_losses.size(); ++e)
    EXPECT_NEAR(plugin.epoch_losses[e], cpu.epoch_losses[e], 2e-3 * cpu.epoch_losses[e]) << e;
  EXPECT_EQ(plugin.done["steps"], cpu.done["steps"]);
  EXPECT_EQ(plugin.done["test_items"], cpu.done["test_items"]);
  EXPECT_NEAR(plugin.done["test_loss"], cpu.done["test_loss"],
              2e-3 * cpu.done["test_loss"].get<double>());
  EXPECT_NEAR(plugin.done["test_accuracy"], cpu.done["test_accuracy"], 0.01);
}

TEST_F(TrainPluginTest, TwoDevicesOfThePluginGiveTheLossesAndTheAccuracyOfTheCpuDevice) {
  const Trained cpu = train({"--devices", "2"});
  const Trained plugin = train({"--devices", "2", "--plugin", "xla_cpu=" + library_});
  EXPECT_EQ(plugin.start["devices"], 2);
  EXPECT_LT(cpu.epoch_losses.back(), 0.5 * cpu.epoch_losses.front()) << "nothing was learnt";
  EXPECT_GT(cpu.done["test_accuracy"].get<double>(), 0.5);
  expect_same_course(plugin, cpu);
  expect_same_course(train({}, manifest()), cpu);
}

TEST_F(TrainPluginTest, StoppedAndResumedOnThePluginGivesTheSameBytesAsAWholeRun) {
  const auto variables = manifest();
  const Trained whole = train({"--checkpoint", temp_.file("whole")}, variables);
  train({"--checkpoint", temp_.file("parts"), "--resume", "--max-steps", "6"}, variables);
  const Trained rest = train({"--checkpoint", temp_.file("parts"), "--resume"}, variables);
  EXPECT_EQ(rest.start["first_step"], 6);
  EXPECT_EQ(rest.done["final_loss"], whole.done["final_loss"]);
  EXPECT_EQ(rest.done["test_loss"], whole.done["test_loss"]);
  const auto at_once = train::read_checkpoint(temp_.file("whole/step-00000016"));
  const auto in_parts = train::read_checkpoint(temp_.file("parts/step-00000016"));
  ASSERT_TRUE(at_once && in_parts);
  EXPECT_EQ(in_parts->manifest.to_text().value(), at_once->manifest.to_text().value());
}

TEST_F(TrainPluginTest, ACheckpointOfThePluginIsResumedOnTheCpuDevice) {
  const Trained whole = train({"--devices", "2", "--deterministic"});
  train({"--checkpoint", temp_.file("a"), "--max-steps", "6"}, manifest());
  const Trained rest = train({"--devices", "2", "--checkpoint", temp_.file("a"), "--resume"});
  EXPECT_EQ(rest.start["first_step"], 6);
  EXPECT_NEAR(rest.done["test_loss"], whole.done["test_loss"],
              2e-3 * whole.done["test_loss"].get<double>());
}

TEST_F(TrainPluginTest, TheTimelineHasTheLanesOfThePluginsDevicesAndAWayForEveryBatch) {
  const std::string file = temp_.file("train.pftrace");
  train({"--epochs", "2", "--trace", file}, manifest());
  const auto timeline = trace::read_timeline(file);
  ASSERT_TRUE(timeline) << timeline.error().to_string();
  EXPECT_THAT(timeline->lanes,
              IsSupersetOf({"steps", "loader read", "loader decode", "loader transfer", "device 0",
                            "device 1", "group train all_reduce"}));
  EXPECT_EQ(timeline->lost, 0U);
  EXPECT_EQ(timeline->unended, 0U);
  std::map<std::string, std::set<std::string>> seen;
  std::map<std::uint64_t, std::set<std::string>> ways;
  for (const trace::Slice& slice : timeline->slices) {
    const std::string name(trace::short_name(timeline->names[slice.name]));
    seen[timeline->lanes[slice.lane]].insert(name);
    for (const std::uint64_t flow : slice.flows) ways[flow].insert(name);
  }
  for (const std::string lane : {"device 0", "device 1"})
    EXPECT_THAT(seen[lane], IsSupersetOf({"grad_64", "update"})) << lane;
  for (std::uint64_t flow = 1; flow <= 16; ++flow)  // eight steps on two devices
    EXPECT_THAT(ways[flow], IsSupersetOf({"batch", "grad_64", "all_reduce", "update"})) << flow;
  const Outcome told = run_millrace({"trace", file});
  EXPECT_EQ(told.code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("device 1"));
}

}  // namespace
}  // namespace millrace
