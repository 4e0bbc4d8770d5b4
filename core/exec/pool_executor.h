// PoolExecutor: threads that run work, behind one interface for every backend (executor_threads.cc,
// executor_tbb.cc; executor_on.cc on the threads of another executor). Read next: make_executor.h,
// which chooses one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/core/async/parallel_for.h"

namespace millrace {

// States: open -> closing (close was called, work is running) -> closed. Thread-safety:
// thread-safe. Deleting it closes it, waits for the work that is running (after close() has
// completed, for nothing), and ends its threads; never on one of these (CHECKed). What is left are
// a few hundred bytes that refuse work for ever (EX-3): what continues here may come long after.
class PoolExecutor : public Executor {
 public:
  int threads() const { return threads_; }
  void submit(Work* work) noexcept final;
  // Refuses new work, drops what has not started (EX-2), completes when what has started is done;
  // on the thread that finished last.
  Future<void> close();
  // The calling thread runs work of this executor, or of one that was made on it.
  bool on_own_thread() const {
    const PoolExecutor* running = current_;
    while (running != nullptr && running != this) running = running->beneath_;
    return running != nullptr;
  }
  // Splits a kernel over these threads and the calling one.
  Parallel& parallel() { return *parallel_; }

  static void operator delete(PoolExecutor* executor, std::destroying_delete_t);
  // For one whose threads did not start.
  static void operator delete(void* memory) { ::operator delete(memory); }

 protected:
  // beneath: whose threads these are; nullptr: its own.
  explicit PoolExecutor(int threads, const PoolExecutor* beneath = nullptr);
  // Has one of the threads call consume(work), not inside this call.
  virtual void enqueue(Work* work) noexcept = 0;
  // The executor closes: calls drop(work) for what no thread has begun, where the backend can.
  virtual void drop_queued() {}
  // Once, when it has closed. Nothing is queued any more.
  virtual void end_threads() = 0;
  // On one of the threads: runs work, or drops it if the executor closes.
  void consume(Work* work);
  void drop(Work* work);

  friend const PoolExecutor* current_pool();
  static constinit thread_local const PoolExecutor* current_;  // whose work this thread runs

 private:
  // Bit 0: closing. Above it: the work that was submitted and is not consumed yet, and calls.
  static constexpr std::uint64_t kClosing = 1, kOne = 2;
  bool closing() const { return (state_.load() & kClosing) != 0; }
  void leave(std::uint64_t times = 1);

  const int threads_;
  const PoolExecutor* const beneath_;
  const std::unique_ptr<Parallel> parallel_;
  std::atomic<std::uint64_t> state_{0};
  std::atomic<bool> completed_{false};
  Promise<void> promise_;
  const Future<void> closed_ = promise_.future();
};

// Whose work the calling thread runs; nullptr: it belongs to no PoolExecutor.
const PoolExecutor* current_pool();

// Plain threads around one queue: understood by every tool, fine for blocking work, and nothing of
// oneTBB is linked for them. threads >= 1 (CHECKed). The name is that of the threads, as a debugger
// shows it (15 characters of it). Work starts in any order. Throws std::system_error where the
// process may not have that many more (start_thread.h). cores: the threads run on these alone
// (check_cores() of core/base/cores.h); empty: on those of the thread that makes them.
std::unique_ptr<PoolExecutor> make_thread_executor(int threads, const std::string& name,
                                                   const std::vector<int>& cores = {});

// An executor without threads of its own: its work runs on another executor, at most as far as that
// one lets it. Its end is its own: close() drops what that one has not begun, and leaves the rest
// of that one as it is. Work starts in any order. threads: into how many parts parallel() splits.
// The other one is not inline_executor(), and outlives the close; where it closes first, it drops
// this one's work, too.
std::unique_ptr<PoolExecutor> make_executor_on(Executor& other, int threads);

}  // namespace millrace
