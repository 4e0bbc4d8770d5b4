// Training of the demo's network as the benches measure it: on one CPU device, from a source that
// lies in memory and whose reads take a time of their own, which waits on the clock and uses no
// CPU.
#pragma once

#include <cstdint>
#include <string>

#include "millrace/core/base/clock.h"
#include "millrace/tools/api/runtime.h"

namespace millrace::bench {

// One device, so many threads; gives up where it cannot be made. plugin: a PJRT plugin, as
// `--plugin` of the commands takes it, whose first device it is, instead of the embedded CPU
// device.
Runtime make_training_runtime(int threads, const std::string& plugin = {});

// The median of the steps of a training with batches of 128, in milliseconds; read: of each batch.
// The loader has one read in flight, so that loading has the rate of one read.
double median_step_ms(const Runtime& runtime, Duration read, std::uint64_t steps);

}  // namespace millrace::bench
