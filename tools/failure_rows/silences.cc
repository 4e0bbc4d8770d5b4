// Ranks that give no sign of life, and those that only seem so.
#include <signal.h>

#include <algorithm>

#include "millrace/core/base/printed.h"
#include "millrace/tools/failure_rows/row.h"

namespace millrace::failures {
namespace {

constexpr const char* kSuspect = "has given no sign of life";

bool suspects(const Launched& job) { return job.words().find(kSuspect) != std::string::npos; }

}  // namespace

Seen stop_for_3_s() {
  Seen seen;
  Launched job({.ranks = 2, .script = "exec $RANKS meet reduce:5000"});
  if (!seen.expect(job.wait([&] { return job.begun(2, "reduce:5000"); }), "both reduce"))
    return seen;
  const pid_t pid = job.pid_of(1);
  ::kill(pid, SIGSTOP);
  job.read_for(3);
  ::kill(pid, SIGCONT);
  seen.expect(job.end() == 0, "the job ends well");
  seen.expect_did(job, 2, "reduce:5000");
  seen.expect(!suspects(job), "it is no suspect");
  return seen;
}

Seen stop_for_ever() {
  constexpr double kSilentAfter = 2;
  Seen seen;
  Launched job({.ranks = 3,
                .options = {"--silent-after", printed("%g", kSilentAfter)},
                .script = "exec $RANKS meet reduce:0"});
  if (!seen.expect(job.wait([&] { return job.begun(3, "reduce:0"); }), "all reduce")) return seen;
  const double begin = unix_seconds();
  const pid_t pid = job.pid_of(1);
  ::kill(pid, SIGSTOP);
  seen.expect(job.wait([&] { return suspects(job); }), "it is a suspect");
  const double suspect = unix_seconds() - begin;
  static_cast<void>(job.end());
  seen.expect(::kill(pid, 0) != 0, "it is killed and cannot come back");
  seen.expect(suspect > 0.4 * kSilentAfter && suspect < 0.75 * kSilentAfter,
              printed("suspect after %.2f s", suspect));
  double last = begin;
  for (const int rank : {0, 2}) {
    seen.expect_error(job, rank, "reduce:0", "UNAVAILABLE", {name_of(job, 1), "is lost", "silent"});
    if (const Line* const line = job.did(rank, "reduce:0"))
      last = std::max<double>(last, line->number("at"));
  }
  seen.note_ms((last - begin) * 1e3);
  seen.expect(seen.ms() > 0.9e3 * kSilentAfter && seen.ms() < 1e3 * kSilentAfter + 250,
              printed("failed after %.2f s", seen.ms() / 1e3));
  const Line* const done = job.event("launch_done");
  seen.expect(done != nullptr && done->text("first_failure.reason") == "silent", "launch says so");
  return seen;
}

Seen block_the_users_thread() {
  Seen seen;
  Launched job({.ranks = 2,
                .options = {"--silent-after", "2"},
                .script = "if [ $RANK = 1 ]; then exec $RANKS meet busy:4 reduce:1; fi; "
                          "exec $RANKS meet reduce:1"});
  seen.expect(job.end() == 0, "the job ends well");
  seen.expect_did(job, 2, "reduce:1");
  seen.expect(!suspects(job), "it is no suspect");
  if (const Line* const line = job.did(0, "reduce:1")) seen.note_ms(line->number("ms"));
  return seen;
}

Seen jump_the_clock() {
  Seen seen;
  Launched job({.ranks = 2,
                .options = {"--silent-after", "2"},
                .script = "export LD_PRELOAD=$JUMP; "
                          "exec $RANKS meet reduce:100 sleep:3 reduce:100:4096:20",
                .variables = {{"JUMP", program("clock_jump.so")}}});
  seen.expect(job.end() == 0, "the job ends well");
  seen.expect_did(job, 2, "reduce:100:4096:20");
  seen.expect(!suspects(job), "no rank is a suspect");
  const Line* const before = job.did(0, "reduce:100");
  const Line* const after = job.did(0, "reduce:100:4096:20");
  if (before != nullptr && after != nullptr) {
    const double hours = (after->number("at") - before->number("at")) / 3600;
    seen.expect(hours > 0.9 || hours < -0.9, printed("its clock went by %.1f hours", hours));
  }
  return seen;
}

}  // namespace millrace::failures
