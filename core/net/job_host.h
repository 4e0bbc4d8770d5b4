// JobHost: where the processes of a job join it: an entrance, the store, and who is there. It hears
// of lost and silent ranks, and passes the job's first failure on to all who have joined. Inside
// `millrace launch`. Read next: member_table.h, store_server.h; job.h is the other end.
//
//  - JH-1 each member that has joined hears of the first failure; one that joins later, too.
//  - JH-2 a member's goodbye is never reported as lost or silent.
//  - JH-3 where the job goes on after failures, members hear of a process that is lost before they
//    hear of a world with the next one of its rank.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "millrace/core/net/entrance.h"
#include "millrace/core/net/job_status.h"
#include "millrace/core/net/member_table.h"
#include "millrace/core/net/store_server.h"
#include "millrace/core/net/world_table.h"

namespace millrace::net {

struct JobHostOptions {
  std::string job = {};
  std::uint32_t ranks = 1;
  std::optional<Secret> secret = {};                 // for addresses of TCP
  Duration silent_after = std::chrono::seconds(10);  // 0: never
  Duration patience = std::chrono::seconds(5);       // until a connection has joined
  StoreLimits store = {};
  // Rank 0's process is the host (rank_host.h): it gives signs of life, too, as one does that
  // listens by TCP, and a rank that has said goodbye is refused (kUnavailable) when it comes again,
  // for the next host.
  bool in_rank = false;
  // How many ranks work together at least; none: the job ends with its first failure, and has one
  // world.
  std::optional<std::uint32_t> least = {};
  std::int32_t pid = 0;  // of this process, for those who look on; 0: what the system says
};

// Called on home. A rank is in `silent` once, after `suspect`.
struct JobHooks {
  std::function<void(std::uint32_t rank)> joined = {};
  std::function<void(const JobMember&)> suspect = {};
  std::function<void(const JobMember&)> silent = {};
  std::function<void(const JobFailure&)> lost = {};
};

// States: open -> closing (close was called) -> closed. Thread-safety: confined to the transport's
// home; closed before its last reference goes.
class JobHost final : public RefCounted {
 public:
  // The errors of Transport::listen().
  static Result<Ref<JobHost>> open(Transport& transport, std::string_view address,
                                   JobHostOptions options, JobHooks hooks);

  const std::string& address() const { return entrance_->address(); }
  // The first one counts.
  void fail(const JobFailure& failure);
  // The rank has a process, which may join.
  void started(std::uint32_t rank, std::int32_t pid);
  // The process of the rank has ended: another one may join as it.
  void ended(std::uint32_t rank);
  // After ended(), where the job goes on: the process had failed, and the others hear of it.
  void lost(const JobFailure& failure);
  // After ended(), and lost(): no other process comes for the rank. well: it has done its work.
  // What waits for it hears that it has left, if it had not joined, too.
  void over(const JobMember& member, bool well);
  // How it stands, for those who look on: they ask over a connection of their own.
  JobStatus status() const;
  // Completes once each rank has come and said goodbye, or the job has failed. Once.
  Future<void> drained();
  // Those that have not.
  std::vector<std::uint32_t> missing() const;
  // Says goodbye to all. Any call gives the same end.
  Future<void> close();

  const EntranceCounts& counts() const { return entrance_->counts(); }
  const StoreServer& store() const { return *store_; }

 private:
  struct Seat {
    Ref<Connection> connection;
    std::optional<JoinRequest> joined = {};
    StoreServer::Member member = 0;  // once it has joined
    bool refused = false;
    bool looks_on = false;  // it has asked how the job stands
    TimerQueue::Id patience = {};
    Scope::Hold hold = {};
  };
  using Seats = std::list<Seat>;

  JobHost(Transport& transport, JobHostOptions options, JobHooks hooks);
  FrameSink admit(const Ref<Connection>& connection);
  Future<void> take(Seats::iterator seat, Frame frame);
  Future<void> take_before_join(Seats::iterator seat, const Frame& frame);
  Status take_alive(std::uint32_t rank, const Frame& frame);
  Status join(Seats::iterator seat, const Frame& frame);
  Status check(const Seat& seat, JoinRequest& request) const;
  void take_end(Seats::iterator seat, const ConnectionEnd& end);
  Duration heartbeat() const;
  void report_lost(const JobFailure& failure);
  void look_drained();
  Status ask_world(std::uint32_t rank, const Frame& frame);
  void look_worlds();
  void send_all(const std::set<std::uint32_t>& ranks, const Frame& frame);
  void set_tick();
  void look();
  void name_late_ranks();

  Transport& transport_;
  const JobHostOptions options_;
  JobHooks hooks_;  // until close()
  Ref<Entrance> entrance_;
  Ref<StoreServer> store_;
  MemberTable table_;
  std::optional<WorldTable> worlds_;
  Seats seats_;
  std::uint64_t turned_away_ = 0;  // that came in and did not join
  std::vector<bool> gone_;         // by rank: it has come, and said goodbye
  std::vector<RankStatus> ranks_;  // by rank; the phase is that of the table
  const TimePoint begin_;
  std::optional<Promise<void>> draining_;
  std::optional<Frame> failure_;
  std::optional<TimerQueue::Id> tick_;
  std::optional<TimerQueue::Id> late_;  // set by the first rank that has joined
  Scope scope_{"the host of the job"};
};

}  // namespace millrace::net
