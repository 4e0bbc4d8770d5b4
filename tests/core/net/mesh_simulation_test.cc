// A job of 2 to 9 ranks on a network of a seed's: frames, cuts, news of losses, epochs and closes
// in any order.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/core/net/mesh_job.h"

namespace millrace::net {
namespace {

using millrace::testing::for_each_seed;
using millrace::testing::SimFaults;
using millrace::testing::Simulation;
using std::chrono::microseconds;
using testing::kKind;
using testing::MeshJob;
using testing::numbered;

constexpr std::uint64_t kChannels = 3;

class RandomJob {
 public:
  RandomJob(Simulation& sim, std::uint32_t size, bool with_cuts)
      : sim_(sim), job_(sim, size, faults(sim, with_cuts)), with_cuts_(with_cuts), closed_(size) {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      MeshOptions options = job_.options(rank);
      options.most_stashed = 2000;
      if (!with_cuts) options.farewell = std::chrono::hours(1);  // an end in time may cut a frame
      MeshJob::Process& process = job_.add(options);
      for (std::uint64_t channel = 0; channel < kChannels; ++channel)
        if (sim.chance(0.7)) add_sink(process, channel);
      started_.push_back(job_.start(process));
    }
  }

  void step() {
    const std::uint32_t rank = below(job_.size);
    const std::uint64_t what = sim_.below(100);
    if (what < 80) {
      send(rank, below(job_.size));
    } else if (what < 90) {
      add_sink(*job_.processes[rank], sim_.below(kChannels));
    } else if (what < 92) {
      losses_.push_back(job_.mesh(rank).peer_lost(below(job_.size)));
    } else if (what == 92 && with_cuts_) {
      job_.network.cut_all();
    } else if (what == 93 && with_cuts_) {
      const Error news(ErrorCode::kUnavailable, "the launcher says so");
      job_.mesh(rank).declare_lost(below(job_.size), news);
    } else if (what == 94) {
      epochs_.push_back(job_.mesh(rank).set_epoch(job_.mesh(rank).epoch() + 1));
    } else if (what == 95) {
      close(rank);
    }
    sim_.run_for(microseconds(sim_.chance(0.5) ? sim_.below(30) : sim_.below(4000)));
  }

  void finish() {
    for (std::uint32_t rank = 0; rank < job_.size; ++rank) {
      sim_.run_for(microseconds(sim_.below(5000)));
      close(rank);
    }
    for (const auto& one : closes_) EXPECT_TRUE(job_.run(one).has_value());
    EXPECT_TRUE(job_.network.empty());  // ME-7
    for (const auto* all : {&started_, &epochs_}) {
      for (const auto& one : *all) {
        EXPECT_TRUE(one.ready());
        one.ignore();
      }
    }
    for (const auto& one : losses_) {
      ASSERT_TRUE(one.ready());
      EXPECT_TRUE(with_cuts_ || !one.result()) << "a loss without a cut";  // ME-5
    }
    for (const auto& [to, future] : sent_) {
      EXPECT_TRUE(future.ready());  // ME-2
      future.ignore();
    }
    if (!with_cuts_) expect_no_loss();
  }

 private:
  static SimFaults faults(Simulation& sim, bool with_cuts) {
    SimFaults faults{.stalls = sim.chance(0.3) ? 0.01 : 0, .most_room = 300 + sim.below(5000)};
    if (with_cuts && sim.chance(0.3)) faults.cuts = 0.002;
    return faults;
  }
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(sim_.below(bound)); }

  // Frames of a sender and a channel come in their order, each once, and in their epoch.
  void add_sink(MeshJob::Process& process, std::uint64_t channel) {
    const std::uint32_t to = process.mesh->rank();
    process.mesh->set_sink({kKind, channel}, [this, to](std::uint32_t from, const Frame& frame) {
      EXPECT_FALSE(closed_[to] && closed_[to]->ready()) << "ME-7";
      return keep(from, to, frame);
    });
  }
  Future<void> keep(std::uint32_t from, std::uint32_t to, const Frame& frame) {
    const FrameHeader& header = frame.header;
    auto& last = last_[{{from, to}, header.channel}];
    EXPECT_GT(header.sequence, last) << "ME-1: from " << from << " to " << to;
    last = header.sequence;
    EXPECT_EQ(header.epoch, static_cast<std::uint32_t>(header.words[0])) << "ME-4";
    if (sim_.chance(0.7)) return {};
    return sleep_until(sim_.now() + microseconds(sim_.below(500)), sim_.timers());
  }
  void close(std::uint32_t rank) {
    closes_.push_back(job_.mesh(rank).close());
    closed_[rank] = closes_.back();
  }
  void send(std::uint32_t from, std::uint32_t to) {
    Frame frame = numbered(++number_, sim_.below(1200), sim_.below(kChannels));
    frame.header.words[0] = job_.mesh(from).epoch();
    Mesh& mesh = job_.mesh(from);
    sent_.emplace_back(to, sim_.chance(0.5) ? mesh.send(to, std::move(frame))
                                            : mesh.send_now(to, frame.header, frame.payload));
  }
  // Without cuts a send fails only where an end closed, left the epoch, or too much waited.
  void expect_no_loss() {
    for (const auto& [to, future] : sent_) {
      if (future.result()) continue;
      EXPECT_EQ(future.result().error().detail<PeerLoss>(), nullptr)
          << future.result().error().message();
    }
  }

  Simulation& sim_;
  MeshJob job_;
  const bool with_cuts_;
  std::vector<std::optional<Future<void>>> closed_;
  std::uint64_t number_ = 0;
  std::map<std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>, std::uint64_t> last_;
  std::vector<Future<void>> started_, closes_, epochs_;
  std::vector<std::pair<std::uint32_t, Future<void>>> sent_;
  std::vector<Future<PeerLoss>> losses_;
};

void run_random(Simulation& sim, bool with_cuts) {
  RandomJob job(sim, 2 + static_cast<std::uint32_t>(sim.below(8)), with_cuts);
  const std::uint64_t steps = 20 + sim.below(150);
  for (std::uint64_t i = 0; i < steps; ++i) job.step();
  job.finish();
}

TEST(MeshSimulationTest, FramesEpochsAndClosesInAnyOrderLoseNothingAndLeaveNothing) {
  for_each_seed(500, [](Simulation& sim) { run_random(sim, false); });  // ME-1, ME-2, ME-5, ME-7
}

TEST(MeshSimulationTest, CutsAndNewsOfLossesFailWhatTheyMustAndLeaveNothing) {
  for_each_seed(500, [](Simulation& sim) { run_random(sim, true); });  // ME-1, ME-2, ME-4, ME-7
}

}  // namespace
}  // namespace millrace::net
