// The calls of LAPACK by which JAX writes linear algebra for its own CPU: custom calls such as
// @lapack_spotrf_ffi, with options as letters in mhlo.backend_config. Textbook algorithms in f64
// (Golub and Van Loan, "Matrix Computations"), with LAPACK's conventions for what is stored where.
#pragma once

#include <memory>
#include <string>

#include "millrace/devices/cpu/reference/kernel.h"

namespace millrace::devices::cpu::reference {

// nullptr for what it does not know: potrf, getrf, trsm, geqrf, orgqr (ungqr), syevd (heevd) and
// gesdd are known, of f32, f64 and their complex numbers.
std::shared_ptr<const Kernel> make_lapack_kernel(const ir::Op& op);

// What does not fit of a call that is known by its name; "" if it fits, and for other calls.
std::string lapack_fault(const ir::Op& op);

}  // namespace millrace::devices::cpu::reference
