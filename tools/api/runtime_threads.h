// RuntimeThreads: threads and a loop that several Runtimes of a process share, made here or a
// program's own. Read next: runtime_options.h, where a Runtime gets them.
#pragma once

#include <memory>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/base/braced.h"
#include "millrace/core/base/error.h"
#include "millrace/core/loop/event_loop.h"

namespace millrace {

struct RuntimeThreadsOptions {
  // So many threads run programs of all devices, and as many more run actors, continuations and the
  // decoding of loaders. 0: one per core, of `cores` if there are any; at most
  // RuntimeOptions::most_threads().
  int threads = 0;
  int blocking_threads = 4;  // for files and compilation; at least 1
  // The numbers of the cores, as taskset has them, on which those that compute run; empty: all that
  // the process may use. The loop and the threads for what may block run on all.
  Braced<std::vector<int>> cores = {};
};

// Held by shared_ptr: the program's, and that of every Runtime made with it
// (RuntimeOptions::shared_threads). The close of a Runtime ends what that one has begun and no
// thread. The last shared_ptr ends the threads, and waits for that: like a Runtime, it is never
// destroyed on one of its own threads (CHECKed), nor is a Runtime on it destroyed or waited for
// there. A Runtime holds it until its client has ended: where a program holds a plugin's buffers
// longer, until a Runtime goes after them, and where a plugin has not returned
// (Runtime::left_behind()), for good. The calls of a plugin's devices may not return, so a Runtime
// makes those on threads of its own: one for each device, and one that frees. A compilation that
// does not return keeps one of the blocking threads.
// Thread-safety: thread-safe.
class RuntimeThreads {
 public:
  // kInvalidArgument names a number that cannot be, or a core on which this thread may not run.
  // kResourceExhausted: no descriptors, threads or memory for it. kFailedPrecondition as
  // Runtime::create.
  static Result<std::shared_ptr<RuntimeThreads>> create(const RuntimeThreadsOptions& options = {});

  // What a program has itself. Borrowed: it outlives the RuntimeThreads and every Runtime on it,
  // and its threads run until then, or no close() completes.
  struct Given {
    EventLoop* loop = nullptr;     // by steady_clock(); some thread is in its run()
    Executor* compute = nullptr;   // actors, continuations, decoding: what runs there never blocks
    Executor* programs = nullptr;  // of devices that compute on the host; nullptr: compute
    Executor* blocking = nullptr;  // for files and compilation: more than one thread is better
    int threads = 1;               // into so many parts programs are split, over all devices
  };
  // No inline_executor(), and no nullptr where none is named above (CHECKed).
  static std::shared_ptr<RuntimeThreads> make(const Given& given);

  ~RuntimeThreads();
  RuntimeThreads(const RuntimeThreads&) = delete;
  RuntimeThreads& operator=(const RuntimeThreads&) = delete;

  EventLoop& loop() const;
  Executor& compute() const;
  Executor& programs() const;
  Executor& blocking() const;
  int threads() const;
  // The calling thread is one of them, as far as it is known: of a Given that are those that run a
  // PoolExecutor or are in the loop's run().
  bool on_own_thread() const;

 private:
  struct Parts;
  explicit RuntimeThreads(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace millrace
