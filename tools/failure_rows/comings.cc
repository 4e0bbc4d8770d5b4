// Ranks that come twice, late or never, and that leave first.
#include <algorithm>

#include "millrace/core/base/printed.h"
#include "millrace/tools/failure_rows/row.h"

namespace millrace::failures {

Seen come_twice() {
  Seen seen;
  Launched job({.ranks = 2,
                .script = "if [ $RANK = 0 ]; then { $RANKS meet sleep:3 reduce:10; } & sleep 1.5; "
                          "$RANKS sleep:0 && exit 9; wait $!; exit $?; fi; "
                          "exec $RANKS meet sleep:3 reduce:10"});
  seen.expect(job.end() == 0, "the job ends well");
  seen.expect_did(job, 2, "reduce:10");
  const Line* const holder = job.did(0, "meet");
  const std::string pid = "pid " + (holder == nullptr ? "" : holder->text("pid"));
  seen.expect(job.words().find("ALREADY_EXISTS") != std::string::npos &&
                  job.words().find(pid + ") has that rank") != std::string::npos,
              "the newcomer: " + job.words());
  return seen;
}

Seen come_late() {
  Seen seen;
  Launched job(
      {.ranks = 3, .script = "if [ $RANK = 2 ]; then sleep 1.5; fi; exec $RANKS meet reduce:10"});
  seen.expect(job.end() == 0, "the job ends well");
  seen.expect_did(job, 3, "reduce:10");
  if (const Line* const line = job.did(0, "meet")) seen.note_ms(line->number("ms"));
  seen.expect(seen.ms() > 1000, printed("the others waited %.1f s for it", seen.ms() / 1e3));
  return seen;
}

Seen never_come() {
  Seen seen;
  Launched job(
      {.ranks = 4,
       .script = "if [ $RANK = 2 ]; then exec $RANKS sleep:4; fi; exec $RANKS meet:1.5 sleep:3"});
  static_cast<void>(job.end());
  for (const int rank : {0, 1, 3}) {
    seen.expect_error(job, rank, "meet:1.5", "DEADLINE_EXCEEDED", {"rank 2"});
    if (const Line* const line = job.did(rank, "meet:1.5"))
      seen.note_ms(std::max<double>(seen.ms(), line->number("ms")));
  }
  seen.expect(seen.ms() < 2500, printed("after %.1f s", seen.ms() / 1e3));
  return seen;
}

Seen leave_first() {
  constexpr int kTimes = 20;
  Seen seen;
  int well = 0;
  std::string words;
  for (int i = 0; i < kTimes; ++i) {
    Launched job({.ranks = 4, .script = "exec $RANKS meet reduce:3"});
    if (job.end() == 0 && job.words().empty()) {
      ++well;
    } else {
      words = job.words();
    }
  }
  seen.expect(well == kTimes, printed("%d of %d ended without a word", well, kTimes) + words);
  return seen;
}

}  // namespace millrace::failures
