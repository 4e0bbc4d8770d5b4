// Job: how a process joins the job that it is a rank of: its store, the job's failure, and signs of
// life. Read next: job_thread.h, a Job on a thread of its own; job_host.h, the other end.
//
//  - JB-1 join() completes once: welcome, refused, late, stopped, or its host is gone.
//  - JB-2 failure() completes once: with the job's first failure, with the end of the host, or with
//    a value where a goodbye of either end came first.
//  - JB-3 from the failure on, calls of the store fail with it, and so do those that wait.
//  - JB-4 every next_world() completes once. What is heard as lost was so before the next process
//  of
//    its rank is in a world.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/async/combinators.h"
#include "millrace/core/async/future.h"
#include "millrace/core/net/entrance.h"
#include "millrace/core/net/group_progress.h"
#include "millrace/core/net/job_frames.h"
#include "millrace/core/net/job_options.h"
#include "millrace/core/net/remote_store.h"
#include "millrace/core/net/world.h"

namespace millrace::net {

// States: joining -> in -> ended. Thread-safety: close(), failure(), progress() and the store are
// thread-safe;
// it is made on the transport's home, and closed before the transport goes.
class Job final : public RefCounted {
 public:
  // Completes on home. kUnavailable where no host is, or it ends; kAlreadyExists, with a JobMember
  // as detail, where another process has the rank; kInvalidArgument: the host has another job;
  // kUnauthenticated, kPermissionDenied; kCancelled and kDeadlineExceeded by call.
  static Future<Ref<Job>> join(Transport& transport, JobOptions options, CallOptions call = {});

  // The job's. It is there as long as this.
  KeyValueStore& store() { return *store_; }
  // An error has a JobFailure as detail, unless the host is gone: kUnavailable then. A host in rank
  // 0's process that is gone, or silent, is the failure of that rank. Another one that is silent,
  // over TCP, goes on with the ranks that it hears: kUnavailable with QuorumLost as detail, before
  // it holds this rank for silent.
  Future<void> failure() const { return failed_; }
  // Where a group counts its collectives: the host hears of it with the signs of life, and those
  // who look on (`millrace status`). The group goes with the last reference.
  std::shared_ptr<GroupProgress> progress(std::string group) {
    return groups_.add(std::move(group));
  }
  // How long who gives no sign of life may be so; 0: for ever.
  Duration silent_after() const { return welcome_.silent_after; }
  // The job goes on after failures: ranks that come anew, or fewer of them.
  bool elastic() const { return elastic_; }
  // The ranks that work together from now on, this one included: to be called before the first work
  // with others, and then by each rank of a world once that cannot go on, or has_newcomers().
  // Completes on home, as late as the others ask. kUnavailable if there is no other any more
  // (WorkDone), and with the end of the job; kFailedPrecondition where one waits already. A job
  // that is not elastic has one world: kFailedPrecondition after that.
  Future<World> next_world();
  // A rank waits that is not in the world.
  bool has_newcomers() const { return newcomers_; }
  // Called on home with each rank whose process has ended, where the job goes on. Set there, before
  // others can have ended; not called any more after the end of the connection.
  void set_lost(std::function<void(const JobFailure&)> lost) { lost_ = std::move(lost); }
  // Says goodbye. Completes once the connection has ended.
  Future<void> close() { return connection_->close("it has left the job"); }

 private:
  enum class State : std::uint8_t {
    kJoining,  // -> kIn | kEnded
    kIn,       // -> kEnded
    kEnded,    // final
  };

  Job(Transport& transport, JobOptions options);
  Future<Ref<Job>> start(CallOptions call);
  JobMember member() const {
    return {.rank = options_.rank, .host = options_.host, .pid = options_.pid};
  }
  FrameSink admit(const Ref<Connection>& connection);
  Future<void> take(Frame frame);
  Status take_frame(Frame&& frame);
  void move(State to);
  void give_up(detail::WaitEnd end);
  void complete_join(Result<Ref<Job>> result);
  void fail(const Error& error);
  void take_end(const ConnectionEnd& end);
  JobFailure failed_host(FailureReason reason, const std::string& words) const;
  void beat();
  void look_at_host();
  bool hears_host() const;
  Status take_news(const Frame& frame);
  Future<World> ask_world();

  Transport& transport_;
  const JobOptions options_;
  State state_ = State::kJoining;
  Ref<Connection> connection_;
  std::optional<RemoteStore> store_;
  std::optional<Promise<Ref<Job>>> joining_{std::in_place};
  Welcome welcome_;
  std::optional<TimerQueue::Id> beat_timer_;
  TimePoint host_heard_ = {};
  TimePoint beaten_ = {};
  GroupList groups_;
  std::vector<GroupCount> reported_;  // of them
  std::atomic<bool> elastic_ = false;
  std::atomic<bool> newcomers_ = false;
  std::function<void(const JobFailure&)> lost_;
  bool asked_ = false;  // for a world
  std::optional<Promise<World>> asking_;
  std::optional<Promise<void>> failing_{std::in_place};
  const Future<void> failed_ = failing_->future();
};

}  // namespace millrace::net
