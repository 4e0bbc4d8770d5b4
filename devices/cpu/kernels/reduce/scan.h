// Cumulative reductions: a reduce_window whose window reaches from one end of a dimension to the
// present place, which is how cumsum and its like are written. A scan takes one step per element
// instead of one per element of each window.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/reduce/region_reduce.h"

namespace millrace::devices::cpu {

struct Scan {
  int dimension = 0;
  bool reverse = false;  // from the end
};

// From so many terms on a scan may be rounded otherwise than its windows are: what it saves, or how
// much nearer it is, counts for more. Where shorter ones are, others' results show it.
inline constexpr std::int64_t kLongScan = 256;

// nullopt if the windows are no beginnings (or ends) of one dimension.
std::optional<Scan> find_scan(const Window& window, std::span<const std::int64_t> dims);

// As reduce_window_region, one step for each element; long sums and products of f16 and bf16 are
// f32 until they are stored. From the end each element comes before what is folded of those behind
// it, so that the body need be associative alone, as StableHLO asks of it.
void scan_region(const Region& region, const Scan& scan, std::span<const std::int64_t> dims,
                 std::span<const DType> types, std::span<const void* const> operands,
                 std::span<const void* const> inits, std::span<void* const> outputs,
                 Parallel& parallel);

}  // namespace millrace::devices::cpu
