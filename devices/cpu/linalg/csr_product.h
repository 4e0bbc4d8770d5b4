// The custom call by which JAX writes products of a sparse matrix and a dense one for its own CPU:
// @cpu_csr_sparse_dense_ffi(elements, row starts, columns, dense). The matrix is in compressed
// rows: row i has elements starts[i] up to starts[i + 1], each in the column that is beside it.
// Read next: kernels/call.h.
#pragma once

#include <memory>
#include <string>

#include "millrace/devices/cpu/kernels/call.h"

namespace millrace::devices::cpu::linalg {

// nullptr for another call. Elements are s32, s64, f32, f64 or their complex numbers, numbers of
// places s32 or s64, the dense array a vector or a matrix. What lies outside of an array, as the
// padding of JAX's matrices does, counts as 0.
std::shared_ptr<const definition::Kernel> make_csr_kernel(const ir::Op& op);

// What does not fit of this call; "" if it fits, and for other calls.
std::string csr_fault(const ir::Op& op);

}  // namespace millrace::devices::cpu::linalg
