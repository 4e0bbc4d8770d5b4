// loader.overlap: does the step take the slower of loading and execution, or their sum? The real
// training step of the demo's network on the CPU device, fed by a source whose reads wait on the
// clock and use no CPU. The peer is the machine's own limit: the slower of the two alone, the
// execution measured beside each round. The figure's name ends in the time of a read, as a share of
// the execution; the sum of the two would be 1.4 to 1.9 times the slower.
#include <algorithm>
#include <string>

#include "bench/figure.h"
#include "bench/waiting_source.h"

namespace millrace::bench {
namespace {

constexpr std::uint64_t kSteps = 40;

struct Share {
  const char* name;
  double of_execution;
};
constexpr Share kShares[] = {{"loader.overlap.0.5", 0.5},
                             {"loader.overlap.0.9", 0.9},
                             {"loader.overlap.1.5", 1.5},
                             {"loader.overlap.2.5", 2.5}};

void measure(Session& session) {
  if (std::ranges::none_of(kShares, [&](const Share& s) { return session.wants(s.name); })) return;
  const Runtime runtime = make_training_runtime(1);
  for (const Share& share : kShares) {
    session.measure({.name = share.name,
                     .unit = "ms",
                     .peer = "the slower of loading and execution",
                     .goal = Goal::kAtMost,
                     .limit = 1.05},
                    [&] {
                      const double execute = median_step_ms(runtime, Duration(), kSteps);
                      const double read = share.of_execution * execute;
                      const auto time = std::chrono::duration_cast<Duration>(
                          std::chrono::duration<double, std::milli>(read));
                      return Round{.ours = median_step_ms(runtime, time, kSteps),
                                   .peer = std::max(read, execute)};
                    });
  }
}

const Registration registration(&measure);

}  // namespace
}  // namespace millrace::bench
