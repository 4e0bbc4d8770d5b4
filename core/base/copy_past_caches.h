// copy_past_caches: a copy for another core to read.
#pragma once

#include <cstddef>
#include <span>

namespace millrace {

// Copies all of `from` to `to`, which has room and does not overlap it. The lines of `to` are not
// fetched into this core's caches first, from those of the core that read them last: between two
// cores 64 MiB took 8.2 ms in place of 11.7 (bench/net.cc). A later release store publishes the
// bytes. Where the processor has no such stores it is a plain copy. Thread-safety: external.
void copy_past_caches(std::byte* to, std::span<const std::byte> from);

}  // namespace millrace
