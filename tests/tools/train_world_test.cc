// One training in several parts, as the processes of a job have them, on virtual time: each part
// has some of the devices of a group that is made once for all. Its numbers, its checkpoints and
// its end are those of one training with all devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/base/fault_point.h"
#include "millrace/core/base/philox.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/train_fixture.h"

namespace millrace::train::testing {
namespace {

using collectives::Culprits;
using collectives::ProcessGroup;
using devices::DeviceId;
using millrace::testing::for_each_seed;
using millrace::testing::Simulation;
using millrace::testing::TempFolder;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kRows = 4;

// A source that notes what is read of it.
class NotedSource final : public transfer::ItemSource {
 public:
  NotedSource(std::shared_ptr<ItemSource> source, std::vector<std::uint64_t>& read)
      : source_(std::move(source)), read_(read) {}
  std::uint64_t items() const override { return source_->items(); }
  std::span<const transfer::Field> fields() const override { return source_->fields(); }
  Future<void> read(const Ref<transfer::SourceBatch>& batch, std::stop_token stop) override {
    read_.insert(read_.end(), batch->items.begin(), batch->items.end());
    return source_->read(batch, std::move(stop));
  }

 private:
  const std::shared_ptr<ItemSource> source_;
  std::vector<std::uint64_t>& read_;
};

// A group that was made for all parts at once.
class MadeWorld final : public TrainingWorld {
 public:
  explicit MadeWorld(std::vector<ProcessGroup> ranks) : ranks_(std::move(ranks)) {}
  Future<WorldGroup> meet() override {
    return make_ready(
        WorldGroup{.ranks = ranks_, .full = static_cast<std::size_t>(ranks_.front().size())});
  }
  Future<void> leave() override { return make_ready(); }

 private:
  const std::vector<ProcessGroup> ranks_;
};

struct Plan {
  std::vector<int> parts = {2, 2};  // devices of each
  std::uint64_t items = 80;
  std::uint64_t epochs = 2;
  bool shuffle = true;
  std::optional<CheckpointOptions> checkpoint;
  std::uint64_t test_items = 0;
  Duration transfer_latency{};
  // Changes what one part is started with.
  std::function<void(std::size_t part, TrainingOptions&)> change = [](std::size_t,
                                                                      TrainingOptions&) {};
  std::function<void(SimulatedTraining&)> prepare = [](SimulatedTraining&) {};
  std::function<void(const TraceRecorder&)> look = [](const TraceRecorder&) {};  // at the end
  std::optional<std::size_t> absent;  // a part that makes the group, and then does nothing
};

int devices_of(const Plan& plan) {
  int devices = 0;
  for (const int part : plan.parts) devices += part;
  return devices;
}

struct Ended {
  std::vector<Result<TrainingReport>> reports;  // by part
  std::vector<testing::Reports> told;
  Duration took{};
};

// All parts in one simulation. One part makes its group itself, as one process does.
Ended run(const Plan& plan, std::uint64_t sim_seed = 3) {
  Simulation sim(sim_seed);
  const int devices = devices_of(plan);
  SimulatedTraining training(sim, devices, kRows, {}, false, plan.transfer_latency);
  plan.prepare(training);
  TrainingOptions options = training.options(plan.items, plan.epochs);
  options.shuffle = plan.shuffle;
  options.checkpoint = plan.checkpoint;
  if (plan.test_items > 0) {
    options.test_data =
        std::make_shared<ClockSource>(sim.timers(), plan.test_items, Duration(), Duration());
  }
  std::vector<ProcessGroup> group;
  if (plan.parts.size() > 1) {
    group =
        ProcessGroup::create(sim.actors(), "train", training.devices_, &training.trace_).value();
  }
  Ended ended;
  ended.told.resize(plan.parts.size());
  std::vector<std::unique_ptr<MadeWorld>> worlds;
  std::vector<Future<TrainingReport>> running;
  const TimePoint begin = sim.now();
  std::ptrdiff_t first = 0;
  for (std::size_t p = 0; p < plan.parts.size(); ++p) {
    const std::ptrdiff_t last = first + plan.parts[p];
    TrainingParts parts = training.parts();
    parts.devices.assign(training.devices_.begin() + first, training.devices_.begin() + last);
    if (!group.empty()) {
      worlds.push_back(std::make_unique<MadeWorld>(
          std::vector<ProcessGroup>(group.begin() + first, group.begin() + last)));
      parts.world = worlds.back().get();
    }
    first = last;
    if (plan.absent == p) continue;
    TrainingOptions mine = options;
    plan.change(p, mine);
    running.push_back(spawn(*sim.environment().compute,
                            train(std::move(parts), std::move(mine), &ended.told[p])));
  }
  for (const Future<TrainingReport>& one : running) ended.reports.push_back(sim.run(one));
  ended.took = sim.now() - begin;
  plan.look(training.trace_);
  EXPECT_EQ(training.client_.uses_after_removal(), 0U);
  for (const ProcessGroup& member : group) EXPECT_TRUE(sim.run(member.close()));
  worlds.clear();
  group.clear();
  running.clear();
  sim.finish();
  EXPECT_EQ(training.client_.live_buffers(), 0);
  return ended;
}

Plan in_one(Plan plan) {
  plan.parts = {devices_of(plan)};
  return plan;
}

// The seed draws up to six devices in two or three parts.
std::vector<int> draw_parts(Simulation& sim) {
  std::vector<int> parts(2 + sim.below(2));
  for (int& devices : parts) devices = 1 + static_cast<int>(sim.below(2));
  return parts;
}

std::string content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

void expect_same(const Ended& parts, const Ended& whole) {
  ASSERT_TRUE(whole.reports[0]) << whole.reports[0].error().to_string();
  for (std::size_t p = 0; p < parts.reports.size(); ++p) {
    SCOPED_TRACE("part " + std::to_string(p));
    const auto& report = parts.reports[p];
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_EQ(report->losses, whole.reports[0]->losses);
    EXPECT_EQ(report->test_items, whole.reports[0]->test_items);
    EXPECT_EQ(report->test_loss, whole.reports[0]->test_loss);
    EXPECT_EQ(report->test_accuracy, whole.reports[0]->test_accuracy);
    EXPECT_EQ(parts.told[p].losses, whole.told[0].losses);
    EXPECT_EQ(parts.told[p].means, whole.told[0].means);
    EXPECT_EQ(parts.told[p].start.devices, whole.told[0].start.devices);
  }
}

TEST(TrainWorldTest, LossesAndAccuracyAreThoseOfOneTrainingToTheBit) {
  for_each_seed(40, [](Simulation& sim) {
    Plan plan;
    plan.parts = draw_parts(sim);
    plan.items =
        static_cast<std::uint64_t>(kRows * devices_of(plan)) * (2 + sim.below(4)) + sim.below(4);
    plan.epochs = 1 + sim.below(3);
    plan.shuffle = sim.chance(0.7);
    if (sim.chance(0.6)) plan.test_items = 1 + sim.below(60);
    // What each part does at its own pace changes nothing.
    plan.change = [&sim](std::size_t, TrainingOptions& options) {
      options.steps_in_flight = 1 + static_cast<int>(sim.below(5));
      options.reads_in_flight = 1 + static_cast<int>(sim.below(4));
    };
    const Ended parts = run(plan, sim.below(1000));
    const Ended whole = run(in_one(plan), sim.below(1000));
    expect_same(parts, whole);
  });
}

TEST(TrainWorldTest, EachPartReadsItsShardsOnly) {
  Plan plan;
  plan.parts = {1, 2};
  plan.items = 24;
  plan.epochs = 1;
  plan.shuffle = false;
  std::vector<std::uint64_t> read[2];
  plan.change = [&read](std::size_t part, TrainingOptions& options) {
    options.train_data = std::make_shared<NotedSource>(options.train_data, read[part]);
  };
  const Ended ended = run(plan);
  ASSERT_TRUE(ended.reports[0] && ended.reports[1]);
  for (auto& items : read) std::ranges::sort(items);
  EXPECT_THAT(read[0], ElementsAre(0, 1, 2, 3, 12, 13, 14, 15));
  EXPECT_THAT(read[1], ElementsAre(4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23));
}

TEST(TrainWorldTest, RandomWordsBelongToTheRankWhereverItIs) {
  using Words = std::array<std::uint32_t, kRandomWords>;
  Plan plan;
  plan.parts = {1, 2};
  plan.epochs = 1;
  std::map<int, std::vector<Words>> seen;
  plan.prepare = [&seen](SimulatedTraining& training) {
    devices::sim::SimProgram grad = grad_program(kRows);
    grad.compute = [&seen, compute = grad.compute](std::span<const devices::sim::SimCall> calls) {
      for (const auto& call : calls) {
        Words words{};
        std::memcpy(words.data(), call.inputs[5].data(), sizeof(words));
        seen[index(call.device)].push_back(words);
      }
      return compute(calls);
    };
    training.client_.add_program(std::move(grad));
  };
  const Ended ended = run(plan);
  ASSERT_TRUE(ended.reports[0] && ended.reports[1]);
  for (int device = 0; device < 3; ++device) {
    ASSERT_EQ(seen[device].size(), 6U);
    for (std::size_t step = 0; step < 6; ++step) {
      RandomStream stream(1, static_cast<std::uint32_t>(device), step);
      for (const std::uint32_t word : seen[device][step]) EXPECT_EQ(word, stream.next());
    }
  }
}

// In traces, each rank's batches have numbers of their own.
TEST(TrainWorldTest, BatchesHaveTheNumbersOfTheWholeRun) {
  const auto flows = [](Plan plan) {
    std::multiset<std::uint64_t> seen;
    plan.look = [&seen](const TraceRecorder& trace) {
      for (const TraceEvent& event : trace.events()) {
        if (trace.name_text(event.name) == "batch" && event.flow != 0) seen.insert(event.flow);
      }
    };
    EXPECT_TRUE(run(plan).reports[0]);
    return seen;
  };
  Plan plan;
  plan.epochs = 1;
  const std::multiset<std::uint64_t> whole = flows(in_one(plan));
  EXPECT_EQ(whole.count(1), whole.count(20)) << "five steps of four ranks";
  EXPECT_GT(whole.count(20), 0U);
  EXPECT_EQ(flows(plan), whole);
}

TEST(TrainWorldTest, CheckpointsAreThoseOfOneTrainingToTheByte) {
  for_each_seed(20, [](Simulation& sim) {
    const TempFolder folders[2];
    Plan plan;
    plan.parts = draw_parts(sim);
    plan.items = static_cast<std::uint64_t>(kRows * devices_of(plan)) * (4 + sim.below(4));
    plan.shuffle = sim.chance(0.7);
    plan.checkpoint = CheckpointOptions{.folder = folders[0].path(), .every = 2 + sim.below(5)};
    const Ended parts = run(plan, sim.below(1000));
    plan.checkpoint->folder = folders[1].path();
    const Ended whole = run(in_one(plan), sim.below(1000));
    expect_same(parts, whole);
    // One folder, which the part with rank 0 writes.
    EXPECT_FALSE(parts.told[0].checkpoints.empty());
    for (std::size_t p = 1; p < parts.told.size(); ++p)
      EXPECT_TRUE(parts.told[p].checkpoints.empty());
    EXPECT_EQ(parts.told[0].checkpoints.back(), whole.told[0].checkpoints.back());
    std::size_t compared = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folders[0].path())) {
      const std::string name = entry.path().filename().string();
      if (!std::filesystem::exists(folders[1].file(name))) continue;
      for (const char* const file : {"/arrays.safetensors", "/checkpoint.json"}) {
        EXPECT_EQ(content(folders[0].file(name + file)), content(folders[1].file(name + file)));
        ++compared;
      }
    }
    EXPECT_GE(compared, 2U) << "the last one, at least";
  });
}

// However it was spread before, and is now.
TEST(TrainWorldTest, ATrainingResumesWithItsRanksSpreadAnew) {
  for_each_seed(20, [](Simulation& sim) {
    const TempFolder folder;
    Plan plan;
    plan.parts = {1, 3};
    plan.items = 16 * 5;
    plan.epochs = 3;
    const Ended whole = run(in_one(plan));
    plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 1 + sim.below(4)};
    plan.change = [&sim](std::size_t, TrainingOptions& options) {
      options.max_steps = 4 + sim.seed() % 9;
    };
    ASSERT_TRUE(run(plan, sim.below(1000)).reports[1]);

    plan.checkpoint->resume = true;
    plan.change = [](std::size_t, TrainingOptions&) {};
    const std::vector<int> spreads[] = {{2, 2}, {4}, {1, 1, 2}};
    plan.parts = spreads[sim.below(3)];
    const Ended later = run(plan, sim.below(1000));
    for (std::size_t p = 0; p < plan.parts.size(); ++p) {
      ASSERT_TRUE(later.reports[p]) << later.reports[p].error().to_string();
      EXPECT_EQ(later.told[p].start.first_step, 4 + sim.seed() % 9);
      EXPECT_THAT(later.told[p].start.resumed_from, HasSubstr(folder.path()));
      for (const auto& [step, loss] : later.told[p].losses)
        EXPECT_EQ(loss, whole.told[0].losses.at(step)) << step;
      for (const auto& [epoch, mean] : later.told[p].means)
        EXPECT_EQ(mean, whole.told[0].means.at(epoch)) << epoch;
      EXPECT_EQ(later.told[p].losses.size() + later.told[p].start.first_step, 15U);
    }
  });
}

// What is due while one is written is taken all the same, by all parts: they wait for it.
TEST(TrainWorldTest, SlowCheckpointsAreTakenAtTheSameStepsByAll) {
  const TempFolder folder;
  Plan plan;
  plan.items = 16 * 12;
  plan.epochs = 1;
  plan.transfer_latency = milliseconds(40);
  plan.change = [](std::size_t part, TrainingOptions& options) {
    options.steps_in_flight = part == 0 ? 5 : 2;
  };
  const Ended without = run(plan);
  plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 1};
  const Ended ended = run(plan);
  expect_same(ended, without);
  EXPECT_THAT(ended.told[0].checkpoints, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
}

TEST(TrainWorldTest, WhatOnePartDoesOtherwiseIsNamedBeforeTheFirstStep) {
  const TempFolder folder;
  const ModelFolder other_model(kRows);
  std::ofstream(other_model.path() + "/update.mlir", std::ios::app) << "  ";
  struct Case {
    std::function<void(TrainingOptions&)> change;
    const char* words;
  };
  const Case cases[] = {
      {[](TrainingOptions& o) { o.seed = 9; }, "the seed is 1 at rank 0 and 9 at rank 2"},
      {[](TrainingOptions& o) { o.batch_size = 32; },
       "batch size is 16 at rank 0 and 32 at rank 2"},
      {[](TrainingOptions& o) { o.epochs = 5; }, "epochs is 2 at rank 0 and 5 at rank 2"},
      {[](TrainingOptions& o) { o.max_steps = 3; }, "max-steps is none at rank 0 and 3 at rank 2"},
      {[](TrainingOptions& o) { o.shuffle = false; },
       "shuffling is yes at rank 0 and no at rank 2"},
      {[](TrainingOptions& o) { o.deterministic = true; }, "deterministic is no at rank 0 and yes"},
      {[](TrainingOptions& o) { o.bucket_bytes = 64; }, "bucket-bytes is 0 at rank 0 and 64"},
      {[](TrainingOptions& o) { o.test_data = nullptr; }, "the test data is '"},
      {[&](TrainingOptions& o) { o.model = other_model.path(); },
       "the program 'update' is 10 bytes with checksum"},
      {[&](TrainingOptions& o) { o.checkpoint = CheckpointOptions{.folder = folder.path()}; },
       "checkpoint is none at rank 0 and '"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.words);
    Plan plan;
    plan.test_items = 20;
    plan.change = [&c](std::size_t part, TrainingOptions& options) {
      if (part == 1) c.change(options);
    };
    const Ended ended = run(plan);
    for (std::size_t p = 0; p < 2; ++p) {
      ASSERT_FALSE(ended.reports[p]);
      const Error& error = ended.reports[p].error();
      EXPECT_EQ(error.code(), ErrorCode::kFailedPrecondition);
      EXPECT_THAT(error.message(), HasSubstr(c.words));
      EXPECT_TRUE(ended.told[p].losses.empty());
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(TrainWorldTest, OtherDataOfAsManyItemsIsNamed) {
  // The numbers of items differ not, but what the source says of itself does.
  struct Renamed final : transfer::ItemSource {
    explicit Renamed(std::shared_ptr<ItemSource> inner) : source(std::move(inner)) {}
    std::uint64_t items() const override { return source->items(); }
    std::span<const transfer::Field> fields() const override { return source->fields(); }
    std::string fingerprint() const override { return "other images"; }
    Future<void> read(const Ref<transfer::SourceBatch>& batch, std::stop_token stop) override {
      return source->read(batch, std::move(stop));
    }
    std::shared_ptr<ItemSource> source;
  };
  Plan plan;
  plan.parts = {1, 1, 2};
  plan.change = [](std::size_t part, TrainingOptions& options) {
    if (part == 2) options.train_data = std::make_shared<Renamed>(options.train_data);
  };
  const Ended ended = run(plan);
  for (const auto& report : ended.reports) {
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message(), HasSubstr("and 'other images' at rank 2"));
  }
}

TEST(TrainWorldTest, APartThatDoesNotComeIsNamed) {
  Plan plan;
  plan.absent = 1;
  const Ended ended = run(plan);
  ASSERT_FALSE(ended.reports[0]);
  EXPECT_EQ(ended.reports[0].error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(ended.reports[0].error().message(), HasSubstr("ranks 2, 3"));
  EXPECT_EQ(ended.took, kRendezvousLimit);
}

TEST(TrainWorldTest, ACheckpointThatRankZeroRefusesIsRefusedByAll) {
  const TempFolder folder;
  Plan plan;
  plan.checkpoint = CheckpointOptions{.folder = folder.path()};
  ASSERT_TRUE(run(plan).reports[0]);
  const Ended ended = run(plan);  // not asked to resume
  for (const auto& report : ended.reports) {
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message(), HasSubstr("is there from an earlier run"));
  }
  EXPECT_THAT(ended.reports[1].error().message(), HasSubstr("rank 0"));
}

// How one part fails, and what both say of it.
struct Failure {
  const char* name;
  std::function<void(SimulatedTraining&)> prepare = [](SimulatedTraining&) {};
  std::function<void(TrainingOptions&)> change = [](TrainingOptions&) {};
  const char* words;
};

TEST(TrainWorldTest, AFailureOfOnePartEndsAllByItsNameAndSoon) {
  for_each_seed(20, [](Simulation& sim) {
    const int at = 20 + static_cast<int>(sim.below(100));
    const Failure failures[] = {
        {.name = "a device",
         .prepare =
             [at](SimulatedTraining& training) {
               training.client_.fail_device(DeviceId{3}, training.sim_.now() + milliseconds(at),
                                            "scripted: power lost");
             },
         .words = "scripted: power lost"},
        {.name = "a read",
         .change =
             [&sim](TrainingOptions& options) {
               auto source = std::make_shared<ClockSource>(
                   sim.timers(), options.train_data->items(), Duration(), Duration());
               source->script(ClockSource::Fault::kReadFails, 3 + sim.below(6));
               options.train_data = source;
             },
         .words = "scripted: the read failed"},
    };
    for (const Failure& failure : failures) {
      SCOPED_TRACE(failure.name);
      Plan plan;
      plan.items = 16 * 8;
      plan.prepare = failure.prepare;
      plan.change = [&failure](std::size_t part, TrainingOptions& options) {
        options.device_restarts = {.restarts = 3};  // restarts are for those that are alone
        if (part == 1) failure.change(options);
      };
      const Ended ended = run(plan, sim.below(1000));
      for (const auto& report : ended.reports) {
        ASSERT_FALSE(report);
        EXPECT_THAT(report.error().message(), HasSubstr(failure.words));
      }
      const auto* const culprits = ended.reports[0].error().detail<Culprits>();
      ASSERT_NE(culprits, nullptr) << ended.reports[0].error().to_string();
      EXPECT_EQ(culprits->kind, Culprits::Kind::kFailed);
      EXPECT_GE(index(culprits->ranks[0]), 2) << ended.reports[0].error().to_string();
      EXPECT_LT(ended.took, seconds(2));
    }
  });
}

TEST(TrainWorldTest, ACheckpointThatCannotBeWrittenEndsAll) {
  const TempFolder folder;
  Plan plan;
  plan.items = 16 * 20;
  plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 4};
  const ArmedFault fault("checkpoint.written", 2,
                         Error(ErrorCode::kResourceExhausted, "scripted: the disk is full"));
  const Ended ended = run(plan);
  for (const auto& report : ended.reports) {
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message(), HasSubstr("scripted: the disk is full"));
    EXPECT_THAT(report.error().message(), HasSubstr("step-00000008"));
  }
  EXPECT_THAT(ended.reports[1].error().message(), HasSubstr("rank 0 has failed"));
}

}  // namespace
}  // namespace millrace::train::testing
