#define MILLRACE_ISA baseline
#define MILLRACE_VECTOR_BYTES 16
#define MILLRACE_TILE_ROWS 4
#define MILLRACE_TILE_VECTORS 2
#include "millrace/devices/cpu/kernels/gemm_tile.inc"

#include "millrace/devices/cpu/kernels/isa_level.h"

namespace millrace::devices::cpu {

template <class T>
GemmTile<T> find_gemm_tile() {
#if defined(MILLRACE_HAVE_X86_64_LEVELS)
  if (isa_level() == IsaLevel::kX86V4) return x86_64_v4::gemm_tile<T>();
  if (isa_level() == IsaLevel::kX86V3) return x86_64_v3::gemm_tile<T>();
#endif
  return baseline::gemm_tile<T>();
}
template GemmTile<double> find_gemm_tile();
template GemmTile<float> find_gemm_tile();
template GemmTile<std::uint32_t> find_gemm_tile();
template GemmTile<std::uint64_t> find_gemm_tile();

}  // namespace millrace::devices::cpu
