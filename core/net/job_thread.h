// JobThread: a Job on a thread of its own, so that its signs of life do not wait for what a program
// does on its loops, and failures are heard at once. Read next: job.h.
#pragma once

#include <memory>
#include <string>

#include "millrace/core/async/future.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/job.h"

namespace millrace::net {

// The destructor closes, if close() was not called, and joins the thread: not on that thread.
// Thread-safety: external; what job() has is thread-safe.
class JobThread {
 public:
  // kResourceExhausted: no thread, no descriptors.
  static Result<std::unique_ptr<JobThread>> create();
  ~JobThread();
  JobThread(const JobThread&) = delete;
  JobThread& operator=(const JobThread&) = delete;

  // Once. The errors of Job::join().
  Future<void> join(JobOptions options, CallOptions call = {});
  // CHECKed: join() has completed with a value.
  Job& job() const;
  // Leaves the job. Any call gives the same end, which comes on the job's thread.
  Future<void> close();

 private:
  explicit JobThread(std::unique_ptr<EventLoop> loop);

  EventLoopThread thread_;
  std::unique_ptr<Transport> transport_;
  Future<Ref<Job>> joined_;
  Future<void> closed_;
};

}  // namespace millrace::net
