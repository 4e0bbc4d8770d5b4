// Parallel: how a kernel uses more than one core. The caller takes part and the call returns when every part
// has run, so a kernel never waits for a thread that is not there: with no free worker the caller does it all.
// Backends: make_serial_parallel() here, oneTBB arenas in executor_tbb, plain threads in executor_threads.
#pragma once

#include <memory>

#include "millrace/core/function_ref.h"

namespace millrace {

// Thread-safety: thread-safe; several kernels may share one Parallel.
class Parallel {
 public:
  virtual ~Parallel() = default;

  // The most parts that can run at once (>= 1). Ask for up to a few times as many parts for even load.
  virtual int width() const = 0;

  // Calls body(0) ... body(parts - 1), each once, in any order, on this and other threads; returns when all
  // have returned. Splitting costs a few microseconds: worth it from about 10 us of work. body must not
  // block, throw, or wait for another part.
  virtual void run(int parts, FunctionRef<void(int)> body) = 0;
};

// Runs the parts in order on the calling thread (simulation, tests, one-core devices).
std::unique_ptr<Parallel> make_serial_parallel();

}  // namespace millrace
