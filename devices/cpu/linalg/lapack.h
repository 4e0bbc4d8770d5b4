// The calls of LAPACK by which JAX writes linear algebra for its own CPU: custom calls such as
// @lapack_spotrf_ffi, with options as letters in mhlo.backend_config. The system's LAPACK does the
// work, with its conventions for what is stored where and for its status words;
// lapack_call.h says how a call is described, the tables which there are.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "millrace/devices/cpu/kernels/call.h"

namespace millrace::devices::cpu::linalg {

using definition::Kernel;

// nullptr for what it does not know. All that JAX 0.10 has are known, of f32, f64 and their complex
// numbers: potrf, getrf, trsm, geqrf, geqp3, orgqr (ungqr), ormqr (unmqr), syevd (heevd), gesdd,
// gesvd, geev, gees, gehrd, sytrd (hetrd), gtsv, and tridiagonal_solve_perturbed_ffi.
std::shared_ptr<const Kernel> make_lapack_kernel(const ir::Op& op);

// What does not fit of a call that is known by its name; "" if it fits, and for other calls.
std::string lapack_fault(const ir::Op& op);

// Lives around each call of the system's LAPACK and BLAS. Thread-safety: confined to its thread.
class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

 private:
  const std::unique_lock<std::mutex> turn_;  // of a library that runs but one call at a time
};

// True on this thread while one lives: a BLAS may allocate memory to work in, and a test can
// separate that from what is ours.
bool inside_lapack();

}  // namespace millrace::devices::cpu::linalg
