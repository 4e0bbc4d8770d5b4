// GroupWire: one process's end of a group that spans processes. It runs the schedules of matched
// calls over a mesh, one call after the other in the order of their numbers, and carries the news
// of the group: ends of calls, differences, who is how far, failures, messages of rendezvous. Read
// next: group_frames.h, what goes over the mesh; schedule_run.h; group_actor.h, which uses it.
//
//  - GW-1 run() completes once: when its schedules have run, and what they sent has gone as far as
//    the links take it; or with the one error of its number.
//  - GW-2 what ends a call in one process ends it in all that have not finished it. (A process that
//    has its results by then keeps them.) Nothing of a call is read into one of another
//    fingerprint.
//  - GW-3 a member has at most kWindow messages on their way to another that are not taken yet, so
//    what waits is bounded, and no group holds up another one.
//  - GW-4 where two members wait for each other in different calls, a probe finds it within
//    kProbeEvery; at a deadline every member that did not show that it has called is asked.
//  - GW-5 a lost process, or one that has left, ends all calls and later ones, by its name.
//  - GW-6 once close() is complete no hook is called.
//  - GW-7 nothing of a member follows its end (kClosed): others may have no sink for it any more.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/collectives/collective_call.h"
#include "millrace/collectives/group_frames.h"
#include "millrace/collectives/rendezvous_machine.h"
#include "millrace/collectives/schedule_run.h"
#include "millrace/core/async/call_options.h"
#include "millrace/core/base/braced.h"
#include "millrace/core/net/group_progress.h"
#include "millrace/core/net/mesh.h"
#include "millrace/core/net/wire_bytes.h"

namespace millrace::collectives {

// Called on the mesh's home.
struct GroupHooks {
  // A call has ended in another process, or by a difference with it.
  std::function<void(std::uint64_t sequence, const Error& error)> ended = {};
  // Who of this process holds up the call? GroupWire::answer() says so.
  std::function<void(std::uint64_t sequence, int asker)> asked = {};
  std::function<void(Rank rank, const Error& error)> failed = {};
  std::function<void(Rank to, RendezvousMessage message)> met = {};
  // It has closed the group, after all that it sent to a rank here.
  std::function<void(Rank rank, const Error& error)> left = {};
  std::shared_ptr<net::GroupProgress> progress = {};
};

// A call that all ranks of this process have made.
struct WireCall {
  std::uint64_t sequence = 0;
  CollectiveCall call;
  PooledVector<ScheduleRun> runs;  // one after the other; their arrays outlive run()'s future
};

// Consecutive ranks of one process. A process may have several members of a group.
struct GroupMember {
  std::uint32_t process = 0;  // rank of the job
  std::int32_t pid = 0;       // 0: not known
  int ranks = 1;
};

// All processes count the groups of a name alike.
struct GroupName {
  Braced<std::string> name = {};
  std::uint64_t number = 0;
};

// States: open -> closed. Everything happens on the mesh's home. Thread-safety: thread-safe.
class GroupWire final : public RefCounted {
 public:
  static constexpr std::uint64_t kWindow = 8;
  static constexpr std::uint64_t kMostAhead =
      1024;                                       // numbers that may have ended before their turn
  static constexpr std::size_t kRemembered = 64;  // calls that are over
  static constexpr Duration kProbeEvery = std::chrono::seconds(1);
  static constexpr Duration kAskedFor = std::chrono::milliseconds(200);  // at a deadline

  // Meets the processes, ranks of the mesh of which this is one (CHECKed), each with so many ranks
  // (at least one). The errors of a call: kDeadlineExceeded names the processes that have not come.
  static Future<Ref<GroupWire>> meet(Ref<net::Mesh> mesh, GroupName name,
                                     std::vector<std::uint32_t> processes, int ranks,
                                     CallOptions call);
  // self: index of the member that this is.
  static Ref<GroupWire> make(Ref<net::Mesh> mesh, GroupName name, std::vector<GroupMember> members,
                             int self);

  const std::string& name() const { return name_.name; }
  std::uint64_t number() const { return name_.number; }
  std::uint32_t epoch() const { return epoch_; }  // of the mesh
  const Spread& spread() const { return spread_; }
  const std::vector<GroupMember>& members() const { return members_; }
  const Ref<net::Mesh>& mesh() const { return mesh_; }
  int self() const { return self_; }
  int first_rank() const { return spread_.first(self_); }

  // Once, before others of the mesh can call: what is heard before waits.
  void start(GroupHooks hooks);
  Future<void> run(WireCall call);
  // The call has ended in this process, by a mistake or a failure here: the others hear of it.
  void end(std::uint64_t sequence, const Error& error);
  // Its deadline has passed, and all ranks of this process have called it: asks who has not, and
  // ends it with an error that begins with these words and names them.
  void expire(std::uint64_t sequence, std::string words);
  void answer(std::uint64_t sequence, int asker, const GroupPlace& place);
  // The rank is one of this process: all hear of it.
  void fail_rank(Rank rank, const Error& error);
  // kResourceExhausted: it is too long for other processes.
  Status send(Rank from, Rank to, const RendezvousMessage& message);
  // A rank here waits for that one: its process is to say so when it leaves.
  void greet(Rank rank);
  // Calls under way end with kCancelled here, and in the processes that wait for this one.
  // Completes when the mesh has what was sent before.
  Future<void> close();

 private:
  struct Call {
    CollectiveCall call;
    std::uint64_t print = 0;
    PooledVector<ScheduleRun> runs;
    std::size_t at = 0;  // of runs
    Promise<void> done;
    bool differs = false;  // what has come is of another call: its sender knows
  };
  struct Past {
    std::uint64_t sequence = 0;
    std::uint64_t print = 0;
    std::optional<CollectiveCall> call = {};  // none: it had ended before it was called
    std::optional<Error> error = {};
  };
  // Another member, as this one sees it.
  struct Peer {
    PooledDeque<net::Frame> came = {};      // kData
    std::uint64_t sent = 0, acked = 0;      // kData to it, and how many it has taken
    std::uint64_t taken = 0, reported = 0;  // from it, and what it knows of that
    std::uint64_t called = 0;               // numbers below: it has shown that it has called them
    bool met = false;                       // a frame went to it, or came
    bool left = false;                      // it has closed, or is gone
    net::Bytes message = {};                // pieces of one that is coming
    PooledDeque<net::Frame> line = {};      // pieces that are to go, one after the other
    bool sending = false;
  };
  // A deadline that has passed, while others are asked.
  struct Expiry {
    std::string words;
    std::vector<bool> heard;  // by member
    GroupPlace place;
    std::string how_far;
    std::optional<TimerQueue::Id> timer = {};
  };
  struct Tombstone;
  // Kept by continuations of the mesh that may outlive the group.
  struct Alive {
    GroupWire* wire = nullptr;
  };

  GroupWire(Ref<net::Mesh> mesh, GroupName name, std::vector<GroupMember> members, int self);
  Ref<GroupWire> self_ref() { return Ref<GroupWire>::share(this); }
  Executor& home() const { return mesh_->home(); }
  template <class F>
  void at_home(F f) {
    post(home(), [self = self_ref(), f = std::move(f)]() mutable { f(*self); });
  }
  std::string where(std::uint64_t sequence) const;
  net::Route route() const { return {kGroupFrame, group_channel(name_.name, number_, self_)}; }
  std::uint32_t rank_in_job(int member) const {
    return members_[static_cast<std::size_t>(member)].process;
  }
  Rank first_of(int member) const { return Rank{spread_.first(member)}; }
  std::vector<Rank> ranks_of(int member) const;
  std::string named(int member) const;
  // The error names that member's process, unless it names one already.
  Error naming(const Error& error, int member) const;
  std::optional<int> member_of(const net::Frame& frame, std::uint32_t process) const;

  // group_wire.cc: calls and their bytes.
  void enter(WireCall call, Promise<void> done);
  void drive();
  bool advance(Call& call);
  bool send_data(Call& call, ScheduleRun& run);
  bool receive_data(Call& call, ScheduleRun& run);
  void take_first(int member);
  bool end_without(int member);
  void drop_stale();
  void finish(std::uint64_t sequence, const Status& status);
  void remember(Past past);
  void skip_ended();
  Status hear(std::uint32_t process, net::Frame frame);
  Status hear_data(int from, net::Frame frame);
  // Whether frames of this group still go to it.
  bool hears(int member) const;
  net::Frame frame_to(int to, GroupSays says, std::uint64_t sequence, std::uint64_t word);
  void post_frame(int to, GroupSays says, std::uint64_t sequence, std::uint64_t word,
                  net::Bytes payload = {});
  void note_sent(int to, const Future<void>& sent, bool needed);
  void watch(int member);
  void take_end(int member, const Error& error);

  // group_news.cc: what is not bytes of a call.
  Status hear_news(int from, GroupSays says, const net::Frame& frame);
  Status hear_end(int from, const net::Frame& frame);
  void hear_call(int from, const net::Frame& frame);
  void hear_probe(int from, const net::Frame& frame);
  Status hear_place(int from, const net::Frame& frame);
  Status hear_piece(int from, const net::Frame& frame);
  void end_call(std::uint64_t sequence, const Error& error, bool notify);
  void send_all(GroupSays says, std::uint64_t sequence, const net::Bytes& payload);
  void say_call(int to, std::uint64_t sequence, std::uint64_t print, const CollectiveCall& call);
  void set_probe();
  void probe();
  void begin_expiry(std::uint64_t sequence, std::string words);
  void end_expiry(std::uint64_t sequence);
  void fail_member(int member, const Error& error);
  void fail_all(const Error& error);
  void send_line(int to);
  void flush_line(int to);
  void put_in_line(Rank from, Rank to, const net::WireBytes& bytes);

  // group_end.cc
  void end_here();
  void end_when_sent();
  void end_open();
  void hear_closed(int from, std::uint64_t next);
  void announce_left(int member);
  Error left_error(const std::string& where, int member) const;

  const Ref<net::Mesh> mesh_;
  const GroupName name_;
  const std::vector<GroupMember> members_;
  const Spread spread_;
  const int self_;
  const std::uint32_t epoch_;   // of the mesh: what is left of an earlier one says nothing more
  const std::uint64_t number_;  // of the channels
  const Subset world_;          // all ranks

  std::atomic<int> under_way_ = 0;  // calls of send() that home has not run

  // Confined to home.
  GroupHooks hooks_;
  std::vector<Peer> peers_;  // by member
  std::map<std::uint64_t, Call> calls_;
  std::map<std::uint64_t, Error> ended_;  // not below next_
  std::deque<Past> past_;
  std::map<std::uint64_t, Expiry> expiries_;
  std::uint64_t next_ = 0;   // the number whose turn it is
  std::uint64_t steps_ = 0;  // messages that went and came, for the probe
  std::uint64_t steps_at_probe_ = 0;
  int waits_for_ = -1;  // member whose message the call under way needs
  std::optional<TimerQueue::Id> probe_timer_;
  std::optional<Error> failed_;
  std::uint64_t left_from_ = ~std::uint64_t{0};  // numbers from here on: a member has closed before
  int left_ = -1;                                // this one
  bool closed_ = false;
  std::vector<Promise<void>> closing_ = {};  // of close(), until nothing is under way
  std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
};

}  // namespace millrace::collectives
