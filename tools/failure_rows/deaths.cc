// Ranks that die.
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>

#include "millrace/core/base/printed.h"
#include "millrace/tools/failure_rows/row.h"

namespace millrace::failures {
namespace {

constexpr double kDeathMs = 20;
constexpr int kKills = 3;  // of which the median counts

// Kills a rank of four in an all_reduce. From then to when the last of the others and launch name
// it.
double kill_one(Seen& seen, int victim) {
  // The parts are {0, 1} and {2, 3}.
  Launched job({.ranks = 4, .script = "exec $RANKS meet split:0,0,1,1 reduce:0 part:1"});
  if (!seen.expect(job.wait([&] { return job.begun(4, "reduce:0"); }), "all are in an all_reduce"))
    return 0;
  const double killed = unix_seconds();
  ::kill(job.pid_of(victim), SIGKILL);
  static_cast<void>(job.end());
  double last = killed;
  for (int rank = 0; rank < 4; ++rank) {
    if (rank == victim) continue;
    seen.expect_error(job, rank, "reduce:0", "UNAVAILABLE", {name_of(job, victim)});
    if (const Line* const line = job.did(rank, "reduce:0"))
      last = std::max<double>(last, line->number("at"));
    const Line* const part = job.did(rank, "part:1");
    const bool with_it = rank / 2 == victim / 2;
    seen.expect(part != nullptr && part->is("ok") == !with_it,
                std::string(with_it ? "its part fails" : "the part without it goes on"));
  }
  const Line* const done = job.event("launch_done");
  seen.expect(done != nullptr && done->number("first_failure.rank") == victim &&
                  done->text("first_failure.reason") == "signal",
              "launch names it");
  for (const Line& line : job.lines()) {
    if (line.text("event") == "rank_end" && line.number("rank") == victim)
      last = std::max<double>(last, line.number("time"));
  }
  return (last - killed) * 1e3;
}

// kill: of one job, until it is named.
Seen kill_some(const std::function<double(Seen&)>& kill) {
  Seen seen;
  std::vector<double> times;
  while (times.size() < kKills && seen.met()) {
    Seen one;
    times.push_back(kill(one));
    if (times.size() == kKills || !one.met()) seen.expect(one.met(), one.text());
  }
  std::ranges::sort(times);
  seen.note_ms(times[times.size() / 2]);
  seen.expect(seen.ms() <= kDeathMs, printed("named in %.1f ms", seen.ms()));
  return seen;
}

}  // namespace

Seen kill_a_leaf() {
  return kill_some([](Seen& seen) { return kill_one(seen, 3); });
}
Seen kill_rank_0() {
  return kill_some([](Seen& seen) { return kill_one(seen, 0); });
}

Seen restart_before_it_is_declared() {
  Seen seen;
  // The rank's process is the shell: launch sees no end of it.
  Launched job({.ranks = 3,
                .script =
                    "if [ $RANK = 1 ]; then $RANKS meet reduce:50 die; exec $RANKS sleep:0.2; "
                    "fi; exec $RANKS meet reduce:0"});
  static_cast<void>(job.end());
  const Line* const first = job.did(1, "reduce:50");
  const Line* const second = job.did(1, "sleep:0.2");
  if (!seen.expect(first != nullptr, "the first process was there")) return seen;
  const std::string pid = "pid " + first->text("pid") + ")";
  double last = first->number("at");
  for (const int rank : {0, 2}) {
    seen.expect_error(job, rank, "reduce:0", "UNAVAILABLE", {"rank 1 (host ", pid});
    if (const Line* const line = job.did(rank, "reduce:0"))
      last = std::max<double>(last, line->number("at"));
  }
  seen.note_ms((last - first->number("at")) * 1e3);
  seen.expect(second != nullptr && second->is("ok"), "the second process has joined");
  return seen;
}

Seen restart_after_a_shrink() {
  Seen seen;
  char folder[] = "/tmp/millrace-failures-XXXXXX";
  if (!seen.expect(::mkdtemp(folder) != nullptr, "a folder for the commits")) return seen;
  {
    const std::string model = std::filesystem::path(MILLRACE_SOURCE) / "tools/models/mnist";
    Launched job({.ranks = 4,
                  .options = {"--min", "3", "--restarts", "1"},
                  .script = "exec $MILLRACE train --model '" + model +
                            "' --fake-data --devices 1 --batch-size 256 --max-steps 1000000 "
                            "--commit-every 5 --json --checkpoint " +
                            folder});
    const auto trains = [&] {
      return std::ranges::any_of(job.lines(), [](const Line& line) {
        return line.text("event") == "step" && line.number("step") >= 20;
      });
    };
    if (seen.expect(job.wait(trains, 30), "four train: " + job.words())) {
      ::kill(job.pid_of(2), SIGKILL);
      std::vector<int> worlds;
      const auto is_whole = [&] {
        worlds.clear();
        for (const Line& line : job.lines()) {
          if (line.text("event") == "recovery")
            worlds.push_back(static_cast<int>(line.number("world_size")));
        }
        return worlds.size() >= 2;
      };
      seen.expect(job.wait(is_whole, 20), "two changes of the world are reported");
      seen.expect(worlds == std::vector<int>{3, 4}, "first to three, then to four");
      for (const Line& line : job.lines()) {
        if (line.text("event") != "recovery") continue;
        seen.note_ms(std::max(seen.ms(), line.number("seconds") * 1e3));
      }
      seen.expect(seen.ms() <= 2000, printed("each within %.0f ms", seen.ms()));
      ::kill(job.pid(), SIGTERM);
      static_cast<void>(job.end());
    }
  }
  std::filesystem::remove_all(folder);
  return seen;
}

Seen die_before_a_subgroups_first_call() {
  return kill_some([](Seen& seen) -> double {
    Launched job({.ranks = 3, .script = "exec $RANKS meet reduce:2 split:0,1,0 sleep:1 part:1"});
    const auto split = [&] {
      for (int rank = 0; rank < 3; ++rank)
        if (job.did(rank, "split:0,1,0") == nullptr) return false;
      return true;
    };
    if (!seen.expect(job.wait(split), "the parts are made")) return 0;
    ::kill(job.pid_of(2), SIGKILL);
    static_cast<void>(job.end());
    seen.expect_error(job, 0, "part:1", "UNAVAILABLE", {name_of(job, 2)});
    const Line* const lone = job.did(1, "part:1");
    seen.expect(lone != nullptr && lone->is("ok"), "the part without it goes on");
    const Line* const line = job.did(0, "part:1");
    return line == nullptr ? 0 : line->number("ms");
  });
}

}  // namespace millrace::failures
