// GemmCut: how a product of matrices (gemm.h) is cut into blocks that the caches hold, and into
// parts for threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/core/parallel_for.h"
#include "millrace/devices/cpu/kernels/onednn.h"

namespace millrace::devices::cpu {

// Terms of a panel: one of the left side's stays in the first cache.
inline constexpr std::int64_t kGemmTerms = 256;
// Multiply-adds that make a part worth its start.
inline constexpr std::int64_t kGemmPartWork = 1 << 18;

// How a product is cut for the caches and in parts; the same whatever the number of threads. Sizes
// are in real elements where they are of panels.
struct GemmCut {
  std::int64_t fold;        // real rows of a row, real terms of a term: 2 for complex numbers
  std::int64_t rows;        // of a block, a multiple of those of a tile
  std::int64_t row_blocks;  // of a product
  std::int64_t columns;     // of the right side that is packed at a time
  std::int64_t chunk;       // of those columns, what a part takes at a time, a multiple of a tile's
  std::int64_t terms;
  std::int64_t parts;
  bool by_batch;  // parts are of the batch, each with panels of its own
  std::int64_t a_bytes,
      b_bytes;  // of the panels of a part; of those that parts share or, by batch, of one

  struct Tile {
    std::int64_t rows, columns;  // at most, in real elements
    std::int64_t bytes;          // of a sum
  };
  GemmCut(const MatmulSpec& s, const Tile& tile, bool complex, std::int64_t most_parts);

  std::size_t scratch_bytes() const {
    return static_cast<std::size_t>(parts * a_bytes + (by_batch ? parts : 1) * b_bytes);
  }
};

template <class F>
void each_gemm_part(std::int64_t parts, Parallel& parallel, F body) {
  if (parts == 1)
    body(0);
  else
    parallel.run(static_cast<int>(parts), [&](int part) { body(part); });
}

}  // namespace millrace::devices::cpu
