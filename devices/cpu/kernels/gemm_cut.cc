#include "millrace/devices/cpu/kernels/gemm_cut.h"

#include <algorithm>

namespace millrace::devices::cpu {
namespace {

using Index = std::int64_t;

constexpr Index kBlockRows = 96, kBlockColumns = 1920;
// Products of fewer multiply-adds are not split; the batch is.
constexpr Index kSmallWork = 1 << 20;

Index up(Index n, Index to) { return (n + to - 1) / to * to; }

}  // namespace

GemmCut::GemmCut(const MatmulSpec& s, const Tile& tile, bool complex, Index most_parts)
    : fold(complex ? 2 : 1) {
  const Index tile_rows = tile.rows / fold, tile_columns = tile.columns;
  const Index work = s.m * s.n * s.k * fold * fold;
  by_batch = s.batch > 1 && work < kSmallWork;
  const Index all = by_batch ? work * s.batch : work;
  parts = std::clamp<Index>(all / kGemmPartWork, 1,
                            by_batch ? std::min(s.batch, most_parts) : most_parts);
  const Index split = by_batch ? 1 : parts;
  rows = std::min(kBlockRows / fold, up((s.m + split - 1) / split, tile_rows));
  rows = up(rows, tile_rows);
  row_blocks = (s.m + rows - 1) / rows;
  columns = std::min(kBlockColumns, up(s.n, tile_columns));
  const Index pieces = std::max<Index>((split + row_blocks - 1) / row_blocks, 1);
  chunk = up((columns + pieces - 1) / pieces, tile_columns);
  terms = std::min(kGemmTerms / fold, s.k);
  const auto bytes = [&tile](Index n) { return up(n * tile.bytes, 64); };
  a_bytes = bytes(rows * fold * terms * fold);
  b_bytes = bytes(columns * terms * fold);
}

}  // namespace millrace::devices::cpu
