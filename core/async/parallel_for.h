// Parallel: how a kernel uses more than one core. The caller runs parts too, and the call returns
// when every part has run. So a kernel never waits for a busy thread: without a free worker the
// caller runs all parts. Made by make_serial_parallel() and make_parallel_on().
#pragma once

#include <memory>

#include "millrace/core/base/function_ref.h"

namespace millrace {

class Executor;

// Thread-safety: thread-safe; several kernels may share one Parallel.
class Parallel {
 public:
  virtual ~Parallel() = default;

  // The most parts that can run at once (>= 1). For even load, ask for a few times as many.
  virtual int width() const = 0;

  // Calls body(0) ... body(parts - 1), each once, in any order, on this and other threads; returns
  // when all have returned. Splitting costs a few microseconds: worth it from about 10 us of work.
  // body must not block, throw, or wait for another part.
  virtual void run(int parts, FunctionRef<void(int)> body) = 0;
};

// Runs the parts in order on the calling thread (simulation, tests, one-core devices).
std::unique_ptr<Parallel> make_serial_parallel();

// Over the threads of an executor, which is borrowed (a closed one gives no help): the caller
// and up to width - 1 helpers take parts until none is left. The caller waits only for parts that a
// helper has begun, never for a helper to come.
std::unique_ptr<Parallel> make_parallel_on(Executor& executor, int width);

}  // namespace millrace
