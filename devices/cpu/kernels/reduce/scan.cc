#include "millrace/devices/cpu/kernels/reduce/scan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/base/split.h"

namespace millrace::devices::cpu {
namespace {

// The array as `outer` blocks of `extent` rows of `inner` elements.
struct Lines {
  std::int64_t outer = 1, extent = 1, inner = 1;
  Lines(const Scan& scan, std::span<const std::int64_t> dims)
      : extent(dims[static_cast<std::size_t>(scan.dimension)]) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (static_cast<int>(d) == scan.dimension) continue;
      (static_cast<int>(d) < scan.dimension ? outer : inner) *= dims[d];
    }
  }
};

constexpr std::int64_t kPartCost = 32 << 10, kMostParts = 32;

// out[i] = out[i - 1] op in[i], row by row, so that the elements of a row are independent.
template <class T, class Op>
void scan_rows(const Lines& lines, bool reverse, const T* in, const T* init, T* out, Op op,
               Parallel& parallel) {
  split(lines.outer, lines.outer * lines.extent * lines.inner / kPartCost, kMostParts, parallel,
        [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t o = begin; o < end; ++o) {
            const T* before = nullptr;
            for (std::int64_t i = 0; i < lines.extent; ++i) {
              const std::int64_t row = reverse ? lines.extent - 1 - i : i;
              const std::int64_t at = (o * lines.extent + row) * lines.inner;
              for (std::int64_t j = 0; j < lines.inner; ++j)
                out[at + j] = op(before == nullptr ? *init : before[j], in[at + j]);
              before = out + at;
            }
          }
        });
}

// The same of f16 and bf16. In their own type a long sum would stand still where its terms are half
// of its last bit (at 256 for bf16), so those stay f32 and are rounded where they are stored. Short
// ones are rounded at each step, as others do it (StableHLO's own tests see it).
template <class T, class Op>
void scan_halves(const Lines& lines, bool reverse, const T* in, const T* init, T* out, Op op,
                 Parallel& parallel) {
  constexpr std::int64_t kColumns = 64;
  const bool rounds = lines.extent < kLongScan;
  const std::int64_t blocks = (lines.inner + kColumns - 1) / kColumns;
  split(lines.outer * blocks, lines.outer * lines.extent * lines.inner / kPartCost, kMostParts,
        parallel, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t block = begin; block < end; ++block) {
            const std::int64_t column = block % blocks * kColumns,
                               width = std::min(kColumns, lines.inner - column);
            float sums[kColumns];
            std::fill_n(sums, width, static_cast<float>(*init));
            for (std::int64_t i = 0; i < lines.extent; ++i) {
              const std::int64_t row = reverse ? lines.extent - 1 - i : i;
              const std::int64_t at = (block / blocks * lines.extent + row) * lines.inner + column;
              for (std::int64_t j = 0; j < width; ++j) {
                sums[j] = op(sums[j], static_cast<float>(in[at + j]));
                out[at + j] = T(sums[j]);
                if (rounds) sums[j] = static_cast<float>(out[at + j]);
              }
            }
          }
        });
}

// Calls run(op) with the operation on elements of T; false if it is no simple arithmetic.
template <class T, class Run>
bool with_operation(TileOp kind, Run run) {
  const auto apply = [&](auto op) {
    run(op);
    return true;
  };
  if constexpr (std::is_integral_v<T>) {
    using Wide = std::uint64_t;  // whose overflow is defined
    if (kind == TileOp::kAdd)
      return apply([](T a, T b) { return static_cast<T>(Wide(a) + Wide(b)); });
    if (kind == TileOp::kMultiply)
      return apply([](T a, T b) { return static_cast<T>(Wide(a) * Wide(b)); });
  } else {
    if (kind == TileOp::kAdd) return apply([](T a, T b) { return a + b; });
    if (kind == TileOp::kMultiply) return apply([](T a, T b) { return a * b; });
  }
  if (kind == TileOp::kMaximum) return apply([](T a, T b) { return larger_of(a, b); });
  if (kind == TileOp::kMinimum) return apply([](T a, T b) { return smaller_of(a, b); });
  return false;
}

// True if the kind is one of simple arithmetic on these elements.
bool scan_simple(TileOp kind, DType type, const Lines& lines, bool reverse, const void* in,
                 const void* init, void* out, Parallel& parallel) {
  const auto rows = [&](auto tag) {
    using T = typename decltype(tag)::type;
    return with_operation<T>(kind, [&](auto op) {
      scan_rows(lines, reverse, static_cast<const T*>(in), static_cast<const T*>(init),
                static_cast<T*>(out), op, parallel);
    });
  };
  const auto halves = [&](auto tag) {
    using T = typename decltype(tag)::type;
    return with_operation<float>(kind, [&](auto op) {
      scan_halves(lines, reverse, static_cast<const T*>(in), static_cast<const T*>(init),
                  static_cast<T*>(out), op, parallel);
    });
  };
  switch (type) {
    case DType::kF16:
      return halves(TypeTag<Half>{});
    case DType::kBF16:
      return halves(TypeTag<BFloat16>{});
    case DType::kF32:
      return rows(TypeTag<float>{});
    case DType::kF64:
      return rows(TypeTag<double>{});
    case DType::kI32:
      return rows(TypeTag<std::int32_t>{});
    case DType::kI64:
      return rows(TypeTag<std::int64_t>{});
    default:
      return false;
  }
}

}  // namespace

std::optional<Scan> find_scan(const Window& window, std::span<const std::int64_t> dims) {
  std::optional<Scan> found;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (window.strides[d] != 1 || window.base_dilations[d] != 1) return std::nullopt;
    if (window.size[d] == 1 && window.pad_low[d] == 0 && window.pad_high[d] == 0) continue;
    const std::int64_t rest = dims[d] - 1;
    const bool forward = window.pad_low[d] == rest && window.pad_high[d] == 0,
               backward = window.pad_low[d] == 0 && window.pad_high[d] == rest;
    if (found || window.size[d] != dims[d] || window.window_dilations[d] != 1 ||
        forward == backward) {
      return std::nullopt;
    }
    found = Scan{.dimension = static_cast<int>(d), .reverse = backward};
  }
  return found;
}

void scan_region(const Region& region, const Scan& scan, std::span<const std::int64_t> dims,
                 std::span<const DType> types, std::span<const void* const> operands,
                 std::span<const void* const> inits, std::span<void* const> outputs,
                 Parallel& parallel) {
  MILLRACE_CHECK(types.size() <= kMaxOperands, "too many operands of one reduction");
  const Lines lines(scan, dims);
  if (region.kind && types.size() == 1 &&
      scan_simple(*region.kind, types[0], lines, scan.reverse, operands[0], inits[0], outputs[0],
                  parallel)) {
    return;
  }
  const std::int64_t count = lines.outer * lines.inner;
  constexpr std::int64_t kStepCost = 32;
  split(count, count * lines.extent * kStepCost / kPartCost, kMostParts, parallel,
        [&](std::int64_t begin, std::int64_t end) {
          RegionFrame frame(region);
          alignas(64) std::byte sums[kMaxOperands][16];
          void* accumulators[kMaxOperands];
          const void* elements[kMaxOperands];
          for (std::int64_t line = begin; line < end; ++line) {
            const std::int64_t first =
                line / lines.inner * lines.extent * lines.inner + line % lines.inner;
            for (std::size_t k = 0; k < types.size(); ++k) {
              accumulators[k] = sums[k];
              std::memcpy(sums[k], inits[k], byte_width(types[k]));
            }
            for (std::int64_t i = 0; i < lines.extent; ++i) {
              const std::int64_t at =
                  first + (scan.reverse ? lines.extent - 1 - i : i) * lines.inner;
              const auto offset = [&](std::size_t k) {
                return at * static_cast<std::int64_t>(byte_width(types[k]));
              };
              for (std::size_t k = 0; k < types.size(); ++k)
                elements[k] = static_cast<const std::byte*>(operands[k]) + offset(k);
              frame.fold(types, accumulators, elements, scan.reverse);
              for (std::size_t k = 0; k < types.size(); ++k)
                std::memcpy(static_cast<std::byte*>(outputs[k]) + offset(k), sums[k],
                            byte_width(types[k]));
            }
          }
        });
}

}  // namespace millrace::devices::cpu
