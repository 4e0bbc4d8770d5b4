// trace.scope_enabled and trace.scope_disabled: what a TraceScope costs with a recorder and without
// one, against the limits that the house has set.
#include "millrace/core/observe/trace.h"

#include <string>
#include <vector>

#include "bench/figure.h"

namespace millrace::bench {
namespace {

constexpr int kScopes = 2000;
constexpr int kTries = 51;  // of a round; short, so that their median is free of other processes

// What the compiler may not see through.
template <class T>
void escape(T& value) {
  asm volatile("" : "+m"(value) : : "memory");
}

// Nanoseconds per call.
template <class F>
double each_ns(const F& call) {
  std::vector<double> times;
  for (int i = 0; i < kTries; ++i) {
    const double seconds = seconds_of([&] {
      for (int j = 0; j < kScopes; ++j) call();
    });
    times.push_back(seconds * 1e9 / kScopes);
  }
  return quantile(times, 0.5);
}

// recorder is nullptr for a disabled scope.
double scope_ns(TraceRecorder* recorder) {
  return each_ns([&recorder] {
    escape(recorder);
    const TraceScope scope(recorder, TraceLane{0}, TraceName{0}, 1);
  });
}

double two_reads_ns() {
  return each_ns([] {
    for (int i = 0; i < 2; ++i) {
      TimePoint now = steady_clock().now();
      escape(now);
    }
  });
}

void measure(Session& session) {
  TraceRecorder recorder(steady_clock());
  session.measure(
      {.name = "trace.scope_enabled", .unit = "ns", .peer = "the limit"},
      [&] { return scope_ns(&recorder); }, [] { return 50.0; });
  if (session.wants("trace.scope_enabled")) {
    session.remark(std::string("stamps are ") +
                   (ticks_usable() ? "ticks of the processor" : "reads of the clock") +
                   "; two reads of the steady clock: " + std::to_string(two_reads_ns()) + " ns");
  }
  session.measure(
      {.name = "trace.scope_disabled", .unit = "ns", .peer = "the limit"},
      [] { return scope_ns(nullptr); }, [] { return 2.0; });
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
