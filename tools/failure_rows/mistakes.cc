// Ranks that call what the others do not.
#include <algorithm>
#include <string>

#include "millrace/tools/failure_rows/row.h"

namespace millrace::failures {
namespace {

// `millrace collectives` judges: each rank but the one gets the error of that mistake.
void run_with_fault(Seen& seen, const std::string& fault, const std::string& op,
                    std::initializer_list<std::string> names) {
  Launched job(
      {.ranks = 3,
       .script = "exec $MILLRACE collectives --check --json --fault " + fault + " --op " + op});
  const int code = job.end();
  std::string error;
  bool ok = code == 0;
  for (const Line& line : job.lines()) {
    if (!line.has("op")) continue;
    ok = ok && line.is("ok");
    error = line.text("error");
    for (const std::string& name : names) ok = ok && error.find(name) != std::string::npos;
    seen.note_ms(std::max(seen.ms(), line.number("us_median") / 1e3));
  }
  seen.expect(ok && !error.empty(), fault + ": " + (error.empty() ? job.words() : error));
}

}  // namespace

Seen skip_a_call() {
  Seen seen;
  run_with_fault(seen, "skip@1", "all_reduce", {"rank 1 did not call it"});
  return seen;
}

Seen differ() {
  Seen seen;
  run_with_fault(seen, "op@1", "all_reduce", {"rank 1", "barrier", "all_reduce"});
  run_with_fault(seen, "dtype@1", "all_reduce", {"rank 1", "xf32", "xi32"});
  run_with_fault(seen, "shape@1", "all_reduce", {"rank 1", "tensor<"});
  run_with_fault(seen, "root@2", "broadcast", {"rank 2", "root 2", "root 0"});
  return seen;
}

Seen interleave_two_groups() {
  Seen seen;
  for (const std::string seed : {"1", "2", "3"}) {
    Launched job({.ranks = 3, .script = "exec $RANKS meet mix:50:" + seed});
    seen.expect(job.end() == 0, "seed " + seed + " ends well");
    seen.expect_did(job, 3, "mix:50:" + seed);
  }
  return seen;
}

}  // namespace millrace::failures
