// make_parallel_over(): the threads of several executors as one Parallel, for what runs on several
// devices at once. Read next: parallel_for.h.
#pragma once

#include <memory>
#include <span>

namespace millrace {

class Executor;
class Parallel;

// Threads of one of them that may take part.
struct ParallelShare {
  Executor* executor = nullptr;  // borrowed; a closed one gives no help
  int width = 1;                 // >= 1
};

// As make_parallel_on(), with helpers from all of them in turn; the caller counts as a thread of
// the first.
std::unique_ptr<Parallel> make_parallel_over(std::span<const ParallelShare> shares);

}  // namespace millrace
