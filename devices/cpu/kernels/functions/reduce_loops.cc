#include "millrace/devices/cpu/kernels/functions/reduce_loops.h"

namespace millrace::devices::cpu {

ReduceLoops find_reduce_loops(TileOp kind, DType type) {
  return MILLRACE_BEST_ISA(reduce_loops(kind, type));
}

}  // namespace millrace::devices::cpu
