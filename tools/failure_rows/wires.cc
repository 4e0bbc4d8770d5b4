// Wires between ranks, and to their host, that lose, delay or hold bytes, by the proxy.
#include <algorithm>

#include "millrace/core/base/printed.h"
#include "millrace/tools/failure_rows/row.h"

namespace millrace::failures {
namespace {

constexpr double kSilentAfter = 2;

std::vector<std::string> silent_after() { return {"--silent-after", printed("%g", kSilentAfter)}; }

// So many ranks, whose wires all go through the proxy.
LaunchPlan behind(Proxy& proxy, int ranks, const std::string& script) {
  return {.ranks = ranks, .options = silent_after(), .script = script, .proxy = &proxy};
}

void cut(Proxy& proxy, int one, int other) {
  proxy.set(one, other, {.hole = true});
  proxy.set(other, one, {.hole = true});
}

// From the event to the last of these ranks' errors.
void note_last(Seen& seen, const Launched& job, std::initializer_list<int> ranks, double begin) {
  double last = begin;
  for (const int rank : ranks) {
    if (const Line* const line = job.did(rank, "reduce:0"))
      last = std::max<double>(last, line->number("at"));
  }
  seen.note_ms((last - begin) * 1e3);
}

bool all_reduce(Seen& seen, Launched& job, int ranks) {
  return seen.expect(job.wait([&] { return job.begun(ranks, "reduce:0"); }),
                     "all reduce" + job.words());
}

// One link alone: the host hears both of its ends.
void cut_a_link(Seen& seen) {
  Proxy proxy;
  Launched job(behind(proxy, 3, "exec $RANKS meet reduce:0"));
  if (!all_reduce(seen, job, 3)) return;
  const double begin = unix_seconds();
  cut(proxy, 1, 2);
  static_cast<void>(job.end());
  seen.expect_error(job, 1, "reduce:0", "UNAVAILABLE", {"is lost", "silent"});
  seen.expect_error(job, 2, "reduce:0", "UNAVAILABLE", {"is lost", "silent"});
  note_last(seen, job, {0, 1, 2}, begin);
  seen.expect(seen.ms() < 1.1e3 * kSilentAfter + 400, printed("after %.2f s", seen.ms() / 1e3));
}

// A rank from all others and the host: the minority.
void cut_a_rank_off(Seen& seen) {
  Proxy proxy;
  Launched job(behind(proxy, 3, "exec $RANKS meet reduce:0 sleep:3"));
  if (!all_reduce(seen, job, 3)) return;
  const double begin = unix_seconds();
  for (const int other : {0, 1, kHost}) cut(proxy, 2, other);
  static_cast<void>(job.end());
  seen.expect_error(job, 2, "reduce:0", "UNAVAILABLE", {"quorum lost", name_of(job, 2)});
  for (const int rank : {0, 1})
    seen.expect_error(job, rank, "reduce:0", "UNAVAILABLE", {name_of(job, 2), "is lost"});
  note_last(seen, job, {0, 1, 2}, begin);
  seen.expect(seen.ms() < 1e3 * kSilentAfter + 250, printed("after %.2f s", seen.ms() / 1e3));
  const Line* const done = job.event("launch_done");
  seen.expect(done != nullptr && done->number("first_failure.rank") == 2 &&
                  done->text("first_failure.reason") == "silent",
              "the host's side goes on until launch has ended that rank");
}

}  // namespace

Seen lose_bytes() {
  Seen seen;
  for (const double share : {0.01, 0.05, 0.2}) {
    Proxy proxy;
    proxy.set_all({.stalls = share});
    Launched job(behind(proxy, 3, "exec $RANKS meet reduce:20"));
    seen.expect(job.end() == 0, printed("%g %%: the job ends well", 100 * share));
    seen.expect_did(job, 3, "reduce:20");
    seen.expect(job.words().empty(), "no rank is a suspect" + job.words());
    if (const Line* const line = job.did(0, "reduce:20")) seen.note_ms(line->number("ms") / 20);
  }
  return seen;
}

Seen cut_both_ways() {
  Seen seen;
  cut_a_link(seen);
  cut_a_rank_off(seen);
  return seen;
}

Seen cut_one_way() {
  Seen seen;
  Proxy proxy;
  Launched job(behind(proxy, 2, "exec $RANKS meet reduce:0"));
  if (!all_reduce(seen, job, 2)) return seen;
  const double begin = unix_seconds();
  proxy.set(0, 1, {.hole = true});
  static_cast<void>(job.end());
  seen.expect_error(job, 0, "reduce:0", "UNAVAILABLE", {name_of(job, 1), "is lost"});
  seen.expect_error(job, 1, "reduce:0", "UNAVAILABLE", {name_of(job, 0), "silent"});
  note_last(seen, job, {0, 1}, begin);
  seen.expect(seen.ms() < 1.1e3 * kSilentAfter + 400, printed("after %.2f s", seen.ms() / 1e3));
  return seen;
}

Seen half_open() {
  Seen seen;
  Proxy proxy;
  Launched job(behind(proxy, 2, "exec $RANKS meet reduce:0"));
  if (!all_reduce(seen, job, 2)) return seen;
  cut(proxy, 0, 1);
  job.read_for(0.3);
  seen.expect(job.did(0, "reduce:0") == nullptr, "nothing is heard of it at first");
  const double begin = unix_seconds();
  proxy.reset(0, 1);
  static_cast<void>(job.end());
  for (const int rank : {0, 1})
    seen.expect_error(job, rank, "reduce:0", "UNAVAILABLE", {name_of(job, 1 - rank), "is lost"});
  note_last(seen, job, {0, 1}, begin);
  seen.expect(seen.ms() < 250, printed("%.1f ms after the reset", seen.ms()));
  return seen;
}

Seen read_slowly() {
  constexpr double kMostKib = 32 << 10;  // the array is 2 MB, of which there are some
  Seen seen;
  Proxy proxy;
  Launched job({.ranks = 2,
                .options = silent_after(),
                .script =
                    "exec $RANKS meet reduce:1:2000000 memory sleep:0.5 reduce:2:2000000:60 memory "
                    "reduce:1:2000000:1",
                .proxy = &proxy});
  const auto warm = [&] { return job.did(0, "memory") && job.did(1, "memory"); };
  if (!seen.expect(job.wait(warm), "both are warm" + job.words())) return seen;
  const double before = job.did(0, "memory")->number("memory");
  proxy.set(0, 1, {.bytes_per_second = 1e6});
  static_cast<void>(job.end());
  seen.expect_did(job, 2, "reduce:2:2000000:60");
  if (const Line* const line = job.did(1, "reduce:2:2000000:60")) seen.note_ms(line->number("ms"));
  seen.expect(seen.ms() > 1e3 * kSilentAfter,
              printed("%.1f s, longer than silence may last", seen.ms() / 1e3));
  const Line* const memory = job.did(0, "memory");
  const double more = memory == nullptr ? 0 : memory->number("memory") - before;
  seen.expect(more < kMostKib, printed("it holds %.0f KiB more", more));
  seen.expect_error(job, 0, "reduce:1:2000000:1", "DEADLINE_EXCEEDED", {"rank "});
  return seen;
}

}  // namespace millrace::failures
