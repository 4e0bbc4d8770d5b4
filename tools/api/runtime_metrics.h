// The numbers of a runtime's devices, as metrics. Read next: core/observe/metrics_text.h.
#pragma once

#include <optional>
#include <span>

#include "millrace/core/observe/metrics.h"
#include "millrace/devices/cache/compilation_cache.h"
#include "millrace/devices/device.h"

namespace millrace {

// What Runtime::metrics() counts itself says what it means.
void describe_metrics(Metrics& metrics);
// Adds what the cache of compiled programs counts.
void add_cache_metrics(const devices::CompilationCacheStats& stats, MetricsSnapshot& snapshot);
// Adds the devices' statistics, labelled by device, and what this build is. memory: of each device,
// where it is known.
void add_device_metrics(std::span<const devices::Device> devices,
                        std::span<const std::optional<devices::MemoryStats>> memory,
                        MetricsSnapshot& snapshot);

}  // namespace millrace
