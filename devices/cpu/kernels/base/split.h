// split: gives even parts of a range to threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "millrace/core/async/parallel_for.h"

namespace millrace::devices::cpu {

// Calls body(begin, end) for `wanted` even parts of [0, n), but at least for one and at most for
// `most`. They depend on sizes only, never on the number of threads.
template <class F>
void split(std::int64_t n, std::int64_t wanted, std::int64_t most, Parallel& parallel, F body) {
  const std::int64_t parts =
      std::clamp<std::int64_t>(wanted, 1, std::clamp<std::int64_t>(n, 1, most));
  parallel.run(static_cast<int>(parts), [&](int p) { body(n * p / parts, n * (p + 1) / parts); });
}

}  // namespace millrace::devices::cpu
