// bench_trace_scope: what a TraceScope costs, with a recorder and without one. The peers are the
// machine's own limits in the same run: two reads of the steady clock, which is what a scope that
// asked the clock would at least pay, and the same loop with nothing in it. Prints a table and one
// JSON line per figure.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "millrace/core/trace.h"

namespace {

using namespace millrace;  // NOLINT(google-build-using-namespace): a program, not a library
using BenchClock = std::chrono::steady_clock;

constexpr int kRounds = 201;  // short ones: a median of them is out of the reach of other processes
constexpr int kScopes = 2000;

// Nanoseconds per call of f.
template <class F>
double measure(F&& f) {
  const auto begin = BenchClock::now();
  for (int i = 0; i < kScopes; ++i) f(i);
  return std::chrono::duration<double, std::nano>(BenchClock::now() - begin).count() / kScopes;
}

// What the compiler may not see through.
template <class T>
void escape(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

struct Rounds {
  std::array<double, kRounds> ours{};
  std::array<double, kRounds> peer{};
};

double quantile(std::array<double, kRounds> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * (kRounds - 1))];
}

// Ours and the peer in turn, after a round that nobody counts.
template <class Ours, class Peer>
Rounds run(Ours&& ours, Peer&& peer) {
  Rounds rounds;
  measure(ours);
  measure(peer);
  for (int i = 0; i < kRounds; ++i) {
    rounds.ours[static_cast<std::size_t>(i)] = measure(ours);
    rounds.peer[static_cast<std::size_t>(i)] = measure(peer);
  }
  return rounds;
}

void report(const char* figure, const char* peer, const Rounds& rounds, double goal) {
  std::array<double, kRounds> ratios{};
  for (std::size_t i = 0; i < kRounds; ++i) ratios[i] = rounds.ours[i] / rounds.peer[i];
  const double ours = quantile(rounds.ours, 0.5);
  std::printf("%-22s %6.2f ns (quartiles %.2f and %.2f), %s: %.2f ns\n", figure, ours,
              quantile(rounds.ours, 0.25), quantile(rounds.ours, 0.75), peer,
              quantile(rounds.peer, 0.5));
  std::printf(
      "{\"figure\":\"%s\",\"unit\":\"ns\",\"ours\":%.3f,\"peer\":\"%s\",\"peer_value\":%.3f,"
      "\"ratio\":%.3f,\"ratio_quartiles\":[%.3f,%.3f],\"goal\":\"at most %g ns\",\"met\":%s}\n",
      figure, ours, peer, quantile(rounds.peer, 0.5), quantile(ratios, 0.5), quantile(ratios, 0.25),
      quantile(ratios, 0.75), goal, ours <= goal ? "true" : "false");
}

}  // namespace

int main() {
  TraceRecorder recorder(steady_clock());
  const TraceLane lane = recorder.lane("bench");
  const TraceName name = recorder.name("scope");
  TraceRecorder* on = &recorder;
  TraceRecorder* off = nullptr;
  const auto scope = [&](TraceRecorder*& chosen) {
    return [&chosen, lane, name](int i) {
      escape(chosen);
      TraceScope traced(chosen, lane, name, static_cast<std::uint64_t>(i));
    };
  };
  const auto two_reads = [](int) {
    auto first = BenchClock::now();
    escape(first);
    auto second = BenchClock::now();
    escape(second);
  };
  const auto nothing = [&off](int) { escape(off); };
  std::printf("stamps: %s\n", ticks_usable() ? "ticks of the processor" : "reads of the clock");
  report("trace.scope_enabled", "two reads of the steady clock", run(scope(on), two_reads), 50);
  report("trace.scope_disabled", "an empty loop", run(scope(off), nothing), 2);
  return 0;
}
