// A training over processes that die, on virtual time: each process has a device, joins a job and
// is linked to the others by a simulated network. After each loss the others go on, with the
// process that is started anew or without it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/fault_point.h"
#include "millrace/core/net/job.h"
#include "millrace/core/net/job_host.h"
#include "millrace/core/net/mesh.h"
#include "tests/support/sim_transport.h"
#include "tests/support/temp_folder.h"
#include "tests/tools/train_fixture.h"

namespace millrace::train::testing {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::SimNetwork;
using millrace::testing::Simulation;
using millrace::testing::TempFolder;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kRows = 4;
constexpr const char* kHost = "sim:host";

class Told final : public TrainingListener {
 public:
  void on_start(const TrainingStart& s) override { reports.on_start(s); }
  void on_step(const StepReport& step) override { reports.on_step(step); }
  void on_epoch(std::uint64_t epoch, double mean) override { reports.on_epoch(epoch, mean); }
  void on_checkpoint(const CheckpointReport& one) override { reports.on_checkpoint(one); }
  void on_recovery(const RecoveryReport& recovery) override { recoveries.push_back(recovery); }
  Reports reports;
  std::vector<RecoveryReport> recoveries;
};

struct Plan {
  std::uint32_t ranks = 4;
  std::uint32_t least = 4;
  std::uint64_t items = 4 * 4 * 10;
  std::uint64_t epochs = 2;
  std::uint64_t commit_every = 4;
  std::optional<CheckpointOptions> checkpoint = {};
};

// One process of the job, and its training.
class Process final : public TrainingWorld {
 public:
  Process(Simulation& sim, SimNetwork& network, const Plan& plan, std::uint32_t rank, pid_t pid)
      : rank_(rank),
        pid_(pid),
        sim_(sim),
        plan_(plan),
        training_(sim, 1, kRows),
        transport_(network.make_transport(::geteuid(), pid)),
        actors_(sim.environment()) {
    sim.on_finish("actors", [this] { return actors_.close(); });
    training_.client_.add_program(grad_program(kRows));
  }

  void start() {
    joined_ = net::Job::join(*transport_, {.job = "night",
                                           .address = kHost,
                                           .rank = rank_,
                                           .ranks = plan_.ranks,
                                           .host = "alpha",
                                           .pid = pid_});
    TrainingParts parts = training_.parts();
    parts.system = &actors_;
    parts.world = this;
    TrainingOptions options = training_.options(plan_.items, plan_.epochs);
    options.batch_size = kRows * plan_.ranks;
    options.shuffle = true;
    options.deterministic = true;
    options.commit_every = plan_.commit_every;
    options.checkpoint = plan_.checkpoint;
    options.call.stop = stop_.get_token();
    report_ = joined_.then(
        sim_.executor(), [this, parts, options](const Result<Ref<net::Job>>& joined) mutable {
          if (!joined) return Future<TrainingReport>(joined.error());
          open(*joined);
          parts.job_store = &job_->store();
          return spawn(*sim_.environment().compute, train(parts, options, &told));
        });
  }
  // What ends with it; the network has cut it off.
  void die() {
    stop_.request_stop();
    static_cast<void>(sim_.run(report_));
    close();
  }
  void close() {
    if (!mesh_) return;
    static_cast<void>(sim_.run(mesh_->close()));
    static_cast<void>(sim_.run(job_->close()));
  }
  Result<TrainingReport> report() { return sim_.run(report_); }
  bool ended() const { return report_.ready(); }

  Future<WorldGroup> meet() override {
    met_ = job_->next_world().then(
        inline_executor(), [this](const Result<net::World>& world) -> Future<WorldGroup> {
          if (!world) return world.error();
          if (world->epoch > mesh_->epoch()) mesh_->set_epoch(world->epoch).ignore();
          if (!std::exchange(started_, true)) mesh_->start("sim:" + std::to_string(pid_)).ignore();
          worlds.push_back(world->ranks.size());
          return collectives::ProcessGroup::meet(actors_, mesh_, {"train"}, training_.devices_,
                                                 {.processes = world->ranks})
              .then(inline_executor(),
                    [this,
                     world = *world](const Result<std::vector<collectives::ProcessGroup>>& ranks)
                        -> Result<WorldGroup> {
                      if (!ranks) return std::unexpected(ranks.error());
                      return WorldGroup{
                          .ranks = *ranks, .full = plan_.ranks, .changed = world.changed};
                    });
        });
    return met_;
  }
  Future<void> leave() override {
    if (!met_.valid()) return make_ready();
    return met_.then(inline_executor(), [](const Result<WorldGroup>& met) {
      return met ? met->ranks.front().close() : make_ready();
    });
  }
  bool elastic() const override { return job_->elastic(); }
  bool has_newcomers() const override { return job_->has_newcomers(); }

  const std::uint32_t rank_;
  const pid_t pid_;
  Told told;
  std::vector<std::size_t> worlds;
  std::uint64_t steps = 0;  // as it reports at its end

 private:
  void open(const Ref<net::Job>& job) {
    job_ = job;
    net::MeshOptions options{.rank = rank_,
                             .size = plan_.ranks,
                             .job = "night",
                             .host = "alpha",
                             .pid = pid_,
                             .patience = std::chrono::hours(1)};
    options.incarnation[0] = static_cast<std::byte>(pid_ & 0xff);
    options.incarnation[1] = static_cast<std::byte>(pid_ >> 8);
    mesh_ = net::Mesh::make(*transport_, job->store(), std::move(options)).value();
    job->set_lost([mesh = mesh_](const net::JobFailure& failure) {
      mesh->declare_lost(
          failure.member.rank,
          Error(ErrorCode::kUnavailable, to_string(failure)).with_detail(failure.member));
    });
  }

  Simulation& sim_;
  const Plan& plan_;
  SimulatedTraining training_;
  std::unique_ptr<net::Transport> transport_;
  actors::ActorSystem actors_;
  std::stop_source stop_;
  Future<Ref<net::Job>> joined_;
  Ref<net::Job> job_;
  Ref<net::Mesh> mesh_;
  bool started_ = false;
  Future<WorldGroup> met_;
  Future<TrainingReport> report_;
};

// What `millrace launch` does.
class Launch {
 public:
  Launch(Simulation& sim, const Plan& plan)
      : sim_(sim), plan_(plan), network_(sim), here_(network_.make_transport(::geteuid(), 1)) {
    host_ = net::JobHost::open(*here_, kHost,
                               {.job = "night",
                                .ranks = plan.ranks,
                                .silent_after = Duration(0),
                                .least = plan.least,
                                .pid = 1},
                               {})
                .value();
    now_.resize(plan.ranks);
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) start(rank);
  }
  void start(std::uint32_t rank) {
    const auto pid = static_cast<pid_t>(100 + all_.size());
    all_.push_back(std::make_unique<Process>(sim_, network_, plan_, rank, pid));
    now_[rank] = all_.back().get();
    host_->started(rank, pid);
    all_.back()->start();
  }
  void kill(std::uint32_t rank, bool comes_again = true) {
    Process& process = *now_[rank];
    network_.kill(process.pid_);
    const net::JobMember member{.rank = rank, .host = "alpha", .pid = process.pid_};
    host_->ended(rank);
    host_->lost({.member = member, .reason = net::FailureReason::kSignal, .number = 9});
    if (!comes_again) host_->over(member, false);
    process.die();
    if (!comes_again) now_[rank] = nullptr;
  }
  // Until a rank has ended so many steps of the run.
  void run_until(std::uint64_t step) {
    const auto is_there = [&](const Process* process) {
      return process != nullptr && !process->told.reports.losses.empty() &&
             process->told.reports.losses.rbegin()->first >= step;
    };
    while (std::ranges::none_of(now_, is_there)) sim_.run_for(milliseconds(1));
  }
  // By rank; nothing for one that was killed for good.
  std::vector<Process*> end() {
    std::vector<Process*> running = now_;
    std::erase(running, nullptr);
    while (!running.empty()) {
      const auto found = std::ranges::find_if(running, &Process::ended);
      if (found == running.end()) {
        sim_.run_for(milliseconds(1));
        continue;
      }
      Process& process = **found;
      running.erase(found);
      const auto report = process.report();
      EXPECT_TRUE(report || report.error().detail<net::WorkDone>() != nullptr)
          << process.rank_ << ": " << report.error().to_string();
      if (report) process.steps = report->steps;
      process.close();
      host_->ended(process.rank_);
      host_->over({.rank = process.rank_, .host = "alpha", .pid = process.pid_}, true);
    }
    EXPECT_TRUE(sim_.run(host_->close()).has_value());
    sim_.run_for(seconds(2));
    return now_;
  }
  std::list<std::unique_ptr<Process>>& all() { return all_; }
  Process& at(std::uint32_t rank) { return *now_[rank]; }

 private:
  Simulation& sim_;
  const Plan& plan_;
  SimNetwork network_;
  std::unique_ptr<net::Transport> here_;
  Ref<net::JobHost> host_;
  std::list<std::unique_ptr<Process>> all_;
  std::vector<Process*> now_;  // by rank
};

// A training that nothing disturbs, of one process with all devices.
Reports undisturbed(const Plan& plan) {
  Simulation sim(1);
  SimulatedTraining training(sim, static_cast<int>(plan.ranks), kRows);
  TrainingOptions options = training.options(plan.items, plan.epochs);
  options.shuffle = true;
  options.deterministic = true;
  Reports told;
  EXPECT_TRUE(sim.run(spawn(*sim.environment().compute, train(training.parts(), options, &told))));
  sim.finish();
  return told;
}

void expect_same(Launch& launch, const Reports& whole) {
  std::map<std::uint64_t, double> losses;
  for (const auto& process : launch.all()) {
    for (const auto& [step, loss] : process->told.reports.losses) {
      ASSERT_TRUE(whole.losses.contains(step)) << step;
      EXPECT_EQ(loss, whole.losses.at(step)) << "step " << step << " of rank " << process->rank_;
      losses[step] = loss;
    }
    for (const auto& [epoch, mean] : process->told.reports.means)
      EXPECT_EQ(mean, whole.means.at(epoch)) << epoch;
  }
  EXPECT_EQ(losses, whole.losses);
}

// Each recovery goes on from a commit: little is done again.
void expect_commits_count(Launch& launch, std::uint64_t commit_every) {
  for (const auto& process : launch.all()) {
    for (const RecoveryReport& one : process->told.recoveries) {
      EXPECT_EQ(one.step % commit_every, 0U);
      EXPECT_LT(one.steps_lost, 2 * commit_every) << "resumed after step " << one.step;
    }
  }
}

TEST(TrainElasticTest, LossesAreThoseOfAnUndisturbedRunWhateverDies) {
  const Plan plan;
  const Reports whole = undisturbed(plan);
  for_each_seed(40, [&](Simulation& sim) {
    Launch launch(sim, plan);
    const std::uint64_t kills = 1 + sim.below(4);
    for (std::uint64_t k = 0; k < kills; ++k) {
      sim.run_for(milliseconds(sim.below(4000)));
      const auto rank = static_cast<std::uint32_t>(sim.below(plan.ranks));
      if (launch.at(rank).ended()) break;
      launch.kill(rank);
      sim.run_for(milliseconds(sim.below(600)));
      launch.start(rank);
    }
    launch.end();
    expect_same(launch, whole);
    expect_commits_count(launch, plan.commit_every);
    sim.finish();
  });
}

TEST(TrainElasticTest, AProcessThatIsStartedAnewReportsTheStepsOfTheWholeRun) {
  const Plan plan;
  for_each_seed(10, [&](Simulation& sim) {
    Launch launch(sim, plan);
    for (int death = 0; death < 2; ++death) {
      launch.run_until(6 + 6 * static_cast<std::uint64_t>(death) + sim.below(3));
      launch.kill(0);
      sim.run_for(milliseconds(sim.below(600)));
      launch.start(0);
    }
    const std::vector<Process*> ended = launch.end();
    for (const Process* const process : ended) EXPECT_EQ(process->steps, 20U) << process->rank_;
    sim.finish();
  });
}

// The commit that a process was to get from another one is not lost with it.
TEST(TrainElasticTest, AnotherDeathWhileAProcessPreparesLosesNoCommit) {
  const Plan plan;
  const Reports whole = undisturbed(plan);
  for_each_seed(40, [&](Simulation& sim) {
    Launch launch(sim, plan);
    launch.run_until(9 + sim.below(3));
    const auto first = static_cast<std::uint32_t>(sim.below(plan.ranks));
    launch.kill(first);
    launch.start(first);
    while (launch.at(first).worlds.empty()) sim.run_for(std::chrono::microseconds(100));
    sim.run_for(milliseconds(sim.below(600)));
    const std::uint32_t second = (first + 1 + static_cast<std::uint32_t>(sim.below(3))) % 4;
    launch.kill(second);
    launch.start(second);
    launch.end();
    expect_same(launch, whole);
    for (const auto& process : launch.all()) {
      for (const RecoveryReport& one : process->told.recoveries) {
        EXPECT_GE(one.step, 4U) << "a commit was there";
      }
    }
    sim.finish();
  });
}

TEST(TrainElasticTest, OneRankGoesOnAloneAndReportsEachChange) {
  Plan plan;
  plan.ranks = 2;
  plan.least = 1;
  plan.items = 2 * 4 * 10;
  plan.epochs = 20;
  for_each_seed(20, [&](Simulation& sim) {
    Launch launch(sim, plan);
    launch.run_until(2 + sim.below(6));
    launch.kill(1);
    launch.run_until(10);
    launch.start(1);
    const std::vector<Process*> ended = launch.end();
    const std::vector<RecoveryReport>& told = ended[0]->told.recoveries;
    ASSERT_EQ(told.size(), 2U);
    EXPECT_EQ(told[0].world_size, 1U);
    ASSERT_TRUE(told[0].error);
    EXPECT_EQ(told[1].world_size, 2U);
    EXPECT_FALSE(told[1].error);
    EXPECT_LT(told[1].time, told[0].time + seconds(5));
    sim.finish();
  });
}

// Without --resume: a rank that dies before the folder was opened changes nothing of that.
TEST(TrainElasticTest, AFolderOfAnEarlierRunIsRefusedAfterADeathToo) {
  const TempFolder folder;
  Plan plan;
  plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 3};
  {
    Simulation sim(1);
    Launch launch(sim, plan);
    launch.end();
    sim.finish();
  }
  Simulation sim(2);
  Launch launch(sim, plan);
  while (launch.at(3).worlds.empty()) sim.run_for(milliseconds(1));
  launch.kill(3);
  launch.start(3);
  const auto report = launch.at(0).report();
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().message(), HasSubstr("is there from an earlier run"));
  EXPECT_TRUE(launch.at(0).told.reports.losses.empty());
  for (std::uint32_t rank = 0; rank < 4; ++rank) launch.kill(rank, false);
  launch.end();
  sim.finish();
}

TEST(TrainElasticTest, WhereAllDieTheRunGoesOnFromItsCheckpointsWithoutResume) {
  Plan plan;
  const Reports whole = undisturbed(plan);
  for_each_seed(10, [&](Simulation& sim) {
    const TempFolder folder;
    plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 3};
    Launch launch(sim, plan);
    launch.run_until(8 + sim.below(4));
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) launch.kill(rank);
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) launch.start(rank);
    launch.end();
    expect_same(launch, whole);
    const auto& anew = launch.at(0).told.reports.losses;
    ASSERT_FALSE(anew.empty());
    EXPECT_GT(anew.begin()->first, 3U) << "it did not begin anew";
    sim.finish();
  });
}

TEST(TrainElasticTest, FewerGoOnAndAreAllAgainAtTheNextCommit) {
  Plan plan;
  plan.least = 3;
  plan.items *= 4;  // a stall of the network takes a second; the steps that are left take longer
  for_each_seed(40, [&](Simulation& sim) {
    Launch launch(sim, plan);
    launch.run_until(1 + sim.below(8));
    const auto rank = static_cast<std::uint32_t>(sim.below(plan.ranks));
    launch.kill(rank);
    launch.run_until(9 + sim.below(3));
    launch.start(rank);
    const std::vector<Process*> ended = launch.end();
    const Process& other = *ended[rank == 0 ? 1 : 0];
    EXPECT_THAT(other.worlds, ElementsAre(4, 3, 4));
    ASSERT_EQ(other.told.recoveries.size(), 2U);
    const RecoveryReport& loss = other.told.recoveries[0];
    const RecoveryReport& growth = other.told.recoveries[1];
    EXPECT_EQ(loss.world_size, 3U);
    ASSERT_TRUE(loss.error);
    EXPECT_THAT(loss.error->message(), HasSubstr("rank " + std::to_string(rank)));
    EXPECT_EQ(growth.world_size, 4U);
    EXPECT_EQ(growth.step % plan.commit_every, 0U);
    EXPECT_GT(growth.step, loss.step) << "they had got further";
    expect_commits_count(launch, plan.commit_every);
    // All had the same losses, and every step of the run.
    for (const Process* const process : ended) {
      for (const auto& [step, value] : process->told.reports.losses)
        EXPECT_EQ(value, other.told.reports.losses.at(step));
    }
    const std::uint64_t last = other.told.reports.losses.rbegin()->first;
    EXPECT_EQ(other.told.reports.losses.size(), last);
    EXPECT_GT(last, 20U) << "smaller batches, more steps";
    EXPECT_EQ(other.told.reports.means.size(), 2U);
    sim.finish();
  });
}

TEST(TrainElasticTest, RanksThatDoNotComeAgainAreDoneWithout) {
  Plan plan;
  plan.least = 2;
  for_each_seed(30, [&](Simulation& sim) {
    Launch launch(sim, plan);
    launch.run_until(1 + sim.below(8));
    launch.kill(0, false);
    launch.run_until(9 + sim.below(6));
    launch.kill(2, false);
    const std::vector<Process*> ended = launch.end();
    EXPECT_EQ(ended[1]->worlds.back(), 2U);
    EXPECT_EQ(ended[1]->told.reports.losses.size(), ended[1]->told.reports.losses.rbegin()->first);
    EXPECT_EQ(ended[1]->told.reports.losses.rbegin()->second,
              ended[3]->told.reports.losses.rbegin()->second);
    sim.finish();
  });
}

// The folder goes from rank 0 to the lowest rank that is there, and back.
TEST(TrainElasticTest, CheckpointsGoOnWhenTheRankThatWritesThemDies) {
  const Reports whole = undisturbed(Plan());
  for_each_seed(20, [&](Simulation& sim) {
    const TempFolder folder;
    Plan plan;
    plan.least = static_cast<std::uint32_t>(3 + sim.below(2));
    plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 3};
    Launch launch(sim, plan);
    launch.run_until(1 + sim.below(12));
    launch.kill(0);
    sim.run_for(milliseconds(sim.below(3000)));
    launch.start(0);
    launch.end();
    if (plan.least == 4) expect_same(launch, whole);
    const std::uint64_t last = launch.at(1).told.reports.losses.rbegin()->first;
    Result<CheckpointFolder> opened = CheckpointFolder::open(folder.path());
    ASSERT_TRUE(opened) << opened.error().to_string();
    EXPECT_EQ(opened->steps().value().back(), last);
    sim.finish();
  });
}

// All have agreed on the last checkpoint, and the rank that gives it its name dies before.
TEST(TrainElasticTest, TheLastCheckpointIsThereWhenTheRankThatWritesItDiesAfterAllHaveAgreed) {
  for_each_seed(10, [&](Simulation& sim) {
    const TempFolder folder;
    Plan plan;
    plan.checkpoint = CheckpointOptions{.folder = folder.path(), .every = 1000};
    const ArmedFault fault("checkpoint.agreed", 1, Error(ErrorCode::kUnavailable, "it dies"));
    Launch launch(sim, plan);
    while (fault.arrivals() == 0) sim.run_for(milliseconds(1));
    launch.kill(0);
    launch.start(0);
    launch.end();
    Result<CheckpointFolder> opened = CheckpointFolder::open(folder.path());
    ASSERT_TRUE(opened) << opened.error().to_string();
    EXPECT_THAT(opened->steps().value(), ElementsAre(20));
    sim.finish();
  });
}

}  // namespace
}  // namespace millrace::train::testing
