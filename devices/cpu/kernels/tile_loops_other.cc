// Loops of the less common types (i16 ui16 ui64 f16 bf16) and their conversions, for any
// processor.
#define MILLRACE_ISA baseline
#include "millrace/devices/cpu/kernels/tile_loops.inc"
#include "millrace/devices/cpu/kernels/tile_tables.h"

namespace millrace::devices::cpu::baseline {

TileLoop find_other_loop(TileOp op, DType in, DType out) {
  const auto none = []() -> TileLoop { return nullptr; };
  if (op == TileOp::kConvert) {
    return visit(
        out,
        [in, none](auto to) -> TileLoop {
          return visit(
              in,
              [](auto from) -> TileLoop {
                return convert<typename decltype(to)::type, typename decltype(from)::type>;
              },
              none);
        },
        none);
  }
  switch (in) {
    case DType::kI16:
      return find_loop<std::int16_t>(op);
    case DType::kU16:
      return find_loop<std::uint16_t>(op);
    case DType::kU64:
      return find_loop<std::uint64_t>(op);
    case DType::kF16:
      return find_loop<Half>(op);
    case DType::kBF16:
      return find_loop<BFloat16>(op);
    default:
      return nullptr;
  }
}

}  // namespace millrace::devices::cpu::baseline
