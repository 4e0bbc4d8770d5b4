// JobThread: a Job on a thread of its own, so that its signs of life do not wait for what a program
// does on its loops, and failures are heard at once; with it the links to the other ranks. Read
// next: job.h, mesh.h.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "millrace/core/async/future.h"
#include "millrace/core/loop/event_loop_thread.h"
#include "millrace/core/net/job.h"
#include "millrace/core/net/mesh.h"

namespace millrace::net {

// The destructor closes, if close() was not called, and joins the thread: not on that thread.
// Thread-safety: external, but mesh() and what job() has are thread-safe.
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
  // The links to the other ranks. The first call starts them: until then they cost nothing, and no
  // other rank finds this one; an error of that start is the one of every send. The rank by which
  // the job fails is lost in it, also where no link was. CHECKed as job().
  Mesh& mesh() const;
  // Ends the links, then leaves the job. Any call gives the same end, which comes on the job's
  // thread.
  Future<void> close();

 private:
  explicit JobThread(std::unique_ptr<EventLoop> loop);
  Status make_mesh(const JobOptions& options, const Ref<Job>& job);

  EventLoopThread thread_;
  std::unique_ptr<Transport> transport_;
  Future<Ref<Job>> joined_;
  Ref<Mesh> mesh_;            // once it has joined
  std::string mesh_address_;  // where it is to listen
  mutable std::atomic<bool> mesh_started_ = false;
  Future<void> closed_;
};

}  // namespace millrace::net
