// Processes of which one may be killed: the others wait for the process that is started anew, or go
// on as fewer, from the newest round that a process has.
//
//   build/bin/millrace launch -n 3 --restarts 1 -- build/bin/elastic_processes
//   build/bin/millrace launch -n 3 --min 2 -- build/bin/elastic_processes
//
// Rank 1 kills itself in round 50 of the first world.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "millrace/collectives/process_group.h"
#include "millrace/core/net/world.h"
#include "millrace/millrace.h"

using namespace millrace;
using collectives::AgreeOp;
using collectives::ProcessGroup;
using collectives::Rank;
using collectives::ReduceOp;

constexpr int kRounds = 100, kFatalRound = 50;

// What a program must not lose: here, how often the ranks have added up their ones, and the total.
struct Progress {
  int rounds = 0;
  float total = 0;
};

Result<float> number_of(const ProcessGroup& rank, const Future<Buffers>& buffers) {
  MILLRACE_TRY(const HostArray array, wait_blocking(fetch(rank.device(), buffers, 0)));
  return array.as<float>()[0];
}

// All ranks get the progress of the one that has come furthest: a rank that was started anew has
// none, and a rank whose round the loss has ended may be one behind.
Status catch_up(const ProcessGroup& mine, Progress* progress) {
  MILLRACE_TRY(const auto newest, wait_blocking(mine.agree(AgreeOp::kMax, progress->rounds)));
  const auto here = progress->rounds == newest ? index(mine.rank()) : mine.size();
  MILLRACE_TRY(const auto owner, wait_blocking(mine.agree(AgreeOp::kMin, here)));
  MILLRACE_TRY(const Buffer own,
               wait_blocking(mine.device().put(std::vector{progress->total}, {1})));
  const Rank root{static_cast<int>(owner)};
  MILLRACE_TRY(progress->total, number_of(mine, mine.broadcast({own}, root)));
  progress->rounds = static_cast<int>(newest);
  return {};
}

Status work(const ProcessGroup& mine, const net::World& world, Progress* progress) {
  MILLRACE_TRY_STATUS(catch_up(mine, progress));
  if (mine.rank() == Rank{0})
    std::printf("%d ranks begin with round %d\n", mine.size(), progress->rounds);
  while (progress->rounds < kRounds) {
    if (world.epoch == net::World::kFirstOfSeveral && mine.rank() == Rank{1} &&
        progress->rounds == kFatalRound)
      static_cast<void>(std::raise(SIGKILL));
    MILLRACE_TRY(const Buffer one, wait_blocking(mine.device().put(std::vector<float>{1}, {1})));
    MILLRACE_TRY(const float sum, number_of(mine, mine.all_reduce({one}, ReduceOp::kSum)));
    progress->total += sum;
    ++progress->rounds;
  }
  return {};
}

// One world after the other, until the work is done or has failed here.
Status work_in_worlds(const Runtime& runtime, Progress* progress) {
  for (;;) {
    const Result<net::World> world = wait_blocking(runtime.next_world());
    if (!world && world.error().detail<net::WorkDone>() != nullptr) return {};  // by the others
    if (!world) return std::unexpected(world.error());
    const Result<std::vector<ProcessGroup>> met = wait_blocking(runtime.make_group("work"));
    const std::vector<ProcessGroup> mine = met ? *met : std::vector<ProcessGroup>();
    const Status done = met ? work(mine.front(), *world, progress) : std::unexpected(met.error());
    if (met) static_cast<void>(wait_blocking(mine.front().close()));
    if (done && mine.front().rank() == Rank{0})
      std::printf("%d rounds, total %g\n", progress->rounds, static_cast<double>(progress->total));
    if (done || !failed_elsewhere(done.error(), mine)) return done;
  }
}

int main() {
  const Result<Runtime> runtime = Runtime::create(RuntimeOptions::from_env());
  Progress progress;
  const Status done =
      runtime ? work_in_worlds(*runtime, &progress) : std::unexpected(runtime.error());
  if (!done) std::fprintf(stderr, "%s\n", done.error().to_string().c_str());
  return done ? 0 : 1;
}
