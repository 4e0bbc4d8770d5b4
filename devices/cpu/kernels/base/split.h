// split: gives even parts of a range to threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "millrace/core/async/parallel_for.h"

namespace millrace::devices::cpu {

// Even parts of [0, n): `wanted`, but at least one and at most `most`. They depend on sizes only,
// never on the number of threads.
struct Parts {
  std::int64_t n;
  int count;

  Parts(std::int64_t all, std::int64_t wanted, std::int64_t most)
      : n(all),
        count(static_cast<int>(
            std::clamp<std::int64_t>(wanted, 1, std::clamp<std::int64_t>(n, 1, most)))) {}
  std::int64_t begin(int part) const { return n * part / count; }
};

// Calls body(begin, end) for these parts.
template <class F>
void split(std::int64_t n, std::int64_t wanted, std::int64_t most, Parallel& parallel, F body) {
  const Parts parts(n, wanted, most);
  parallel.run(parts.count, [&](int p) { body(parts.begin(p), parts.begin(p + 1)); });
}

}  // namespace millrace::devices::cpu
