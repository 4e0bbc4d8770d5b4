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
#include "millrace/core/net/rank_host.h"

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

  // Once. The errors of Job::join(), and of join_hosted() where rank 0 hosts the job.
  Future<void> join(JobOptions options, CallOptions call = {});
  // CHECKed: join() has completed with a value.
  Job& job() const;
  // The links to the other ranks. The first call starts them: until then they cost nothing, and no
  // other rank finds this one; an error of that start is the one of every send. The rank by which
  // the job fails is lost in it, also where no link was. CHECKed as job().
  Mesh& mesh() const;
  // Job::next_world(), and the links are those of its epoch: of the one before nothing is left, and
  // a rank that is lost in it is lost by the mesh. Also the errors of Mesh::set_epoch().
  Future<World> next_world();
  // Ends the links, then leaves the job, and where this process hosts it stays until the other
  // ranks have left, or call says otherwise (RH-3). Any call gives the end of the first, which
  // comes on the job's thread.
  Future<void> close(CallOptions call = {});

 private:
  explicit JobThread(std::unique_ptr<EventLoop> loop);
  Future<void> end_host(Duration patience, const CallOptions& call);
  Future<void> clear_up_after_host(int tries);
  Status make_mesh(const JobOptions& options, const Ref<Job>& job);

  EventLoopThread thread_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<RankHost> host_;  // where rank 0 hosts the job, and this is its process
  std::string folder_;              // of a job that a rank hosts
  Duration patience_{0};
  Future<Ref<Job>> joined_;
  Ref<Mesh> mesh_;            // once it has joined
  std::string mesh_address_;  // where it is to listen
  mutable std::atomic<bool> mesh_started_ = false;
  Future<void> closed_;
};

}  // namespace millrace::net
