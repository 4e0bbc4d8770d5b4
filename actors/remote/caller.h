// Caller: what this process says to the actors of one other rank, in one epoch: calls that wait for
// their answers, and for each actor the messages that wait for room there. RemoteTarget: one of
// these actors, as it is known here. Read next: remote_ref.h, the typed handle; server.h, the other
// end; send_window.h, how much may be under way.
//
//  - AK-1 messages to an actor leave in the order of their calls, those that wait included (MB-3).
//  - AK-2 a call completes once: with the answer, or with an error as soon as none can come; once
//    the process that holds its reply is gone, none can.
//  - AK-3 what waits here for an actor is at most kMostWaiting bytes; more is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "millrace/actors/down.h"
#include "millrace/actors/remote/frame_outlet.h"
#include "millrace/actors/remote/message_schema.h"
#include "millrace/actors/remote/pending_call.h"
#include "millrace/actors/remote/remote_frames.h"
#include "millrace/actors/remote/send_window.h"
#include "millrace/core/async/call_options.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/async/environment.h"

namespace millrace::actors {

class Caller;

// Shared by RemoteRefs, and by the caller until it is down. Thread-safety: immutable, but for what
// down_ points to, which is thread-safe.
class RemoteTarget final : public RefCounted {
 public:
  // other: which messages of its class have other lists there (FindAnswer).
  RemoteTarget(Ref<Caller> caller, net::JobMember where, ActorId id, std::string name,
               std::vector<std::pair<std::size_t, std::string>> other);

  Caller& caller() const { return *caller_; }
  const net::JobMember& where() const { return where_; }
  ActorId id() const { return id_; }
  const std::string& name() const { return name_; }
  Future<Down> down() const { return Future<Down>(down_); }
  // "actor 'store' of rank 1 (host h, pid 4711)"
  std::string to_string() const;
  // kFailedPrecondition if the message of that place has other lists there: with both.
  Status check_schema(std::size_t place, const MessageSchema& schema) const;

 private:
  friend class Caller;
  // What calls get once it is down: kUnavailable with ActorGone as detail.
  Error gone(const Exit& exit) const;

  const Ref<Caller> caller_;
  const net::JobMember where_;
  const ActorId id_;
  const std::string name_;
  const std::vector<std::pair<std::size_t, std::string>> other_;
  const Ref<Cell<Down>> down_ = make_ref<Cell<Down>>();
  std::optional<Exit> exit_;  // guarded by the caller's mutex; before down_ is complete
};

// States: open -> ended. Owned by the RemoteNode while the rank is there, and by its targets.
// Thread-safety: thread-safe; take_ is for frames of that rank.
class Caller final : public RefCounted {
 public:
  static constexpr std::size_t kMostWaiting = std::size_t{16} << 20;

  Caller(Ref<net::Mesh> mesh, Ref<FrameOutlet> outlet, const Environment& environment)
      : mesh_(std::move(mesh)), outlet_(std::move(outlet)), environment_(environment) {}

  std::uint32_t rank() const { return outlet_->rank(); }
  const Environment& environment() const { return environment_; }
  // The process at the other end, as far as it is known.
  net::JobMember member() const { return mesh_->member(rank()); }

  // Completes when the message may be on its way. Errors: gone(), kResourceExhausted (AK-3),
  // kInvalidArgument if it is longer than a frame, and those of options.
  Future<void> tell(const RemoteTarget& target, net::Frame frame, const MessageType& type,
                    const CallOptions& options);
  // Errors reach the call. Gives its number for withdraw(); 0: it has ended.
  std::uint64_t ask(const RemoteTarget& target, net::Frame frame, const Ref<PendingCall>& call,
                    const Ref<AsyncValue>& answer, const CallOptions& options);
  // The same of a cast to the actor of that name, whose frame says how long there is until the
  // deadline when it goes (CS-2).
  std::uint64_t cast(const std::string& name, net::Frame frame, const Ref<PendingCall>& call,
                     TimePoint deadline);
  // A call that waits for no room: a search. Gives its number, as ask() does.
  std::uint64_t call(net::Frame frame, const Ref<PendingCall>& call);
  // Ends a call on stop and deadline. answer: of the call.
  void limit(std::uint64_t number, const Ref<PendingCall>& call, const Ref<AsyncValue>& answer,
             const CallOptions& options);
  // The call is not wanted any more; it is not completed by this.
  void withdraw(std::uint64_t number);
  // A frame of a link; dropped if the actor is down.
  void notify(const RemoteTarget& target, net::Frame frame);
  // The actor that a search has found: the one that is known, or a new one.
  Ref<RemoteTarget> adopt(FindAnswer answer, const std::string& name);

  // The errors say that the frame has no place.
  Status take_answer(const net::Frame& frame);
  Status take_credit(const net::Frame& frame);
  Status take_down(const net::Frame& frame);
  // The process is gone, or out of reach (failure), or has said goodbye: nothing of this waits any
  // more.
  void end(const Error& why, bool failure);

  // Bytes that wait for room, and under way.
  std::size_t waiting_bytes() const;
  std::size_t under_way_bytes() const;

 private:
  struct Waiting {
    net::Frame frame;
    Ref<Cell<void>> accepted = {};     // of a tell
    Ref<PendingCall> call = {};        // of an ask or a cast
    TimePoint deadline = kNoDeadline;  // of a cast
    bool withdrawn() const { return accepted ? accepted->complete() : call->ended(); }
  };
  // What is known of an actor that is not down; of casts to a name, while they wait or are under
  // way.
  struct Seat {
    Ref<RemoteTarget> target;
    SendWindow window = {};
    PooledDeque<Waiting> line = {};
    std::size_t line_bytes = 0;
    std::size_t withdrawn = 0;   // at most so many since the line was last looked through
    bool credit_wanted = false;  // said so, and none has come since
  };
  struct Call {
    Ref<PendingCall> call;
    Ref<const RemoteTarget> target = {};  // of an ask
    bool sent = true;
  };
  using Seats = std::unordered_map<ActorId, Seat>;

  Result<Seat*> seat_for(const RemoteTarget& target, std::size_t bytes) MILLRACE_REQUIRES(mutex_);
  Result<Seat*> cast_seat(const std::string& name, const net::JobMember& there, std::size_t bytes)
      MILLRACE_REQUIRES(mutex_);
  Status check_size(const RemoteTarget& target, std::size_t bytes) const;
  Result<std::uint64_t> ask_at(Seat& seat, Waiting asked, net::Later& later)
      MILLRACE_REQUIRES(mutex_);
  void send(Seat& seat, Waiting& waiting, net::Later& later) MILLRACE_REQUIRES(mutex_);
  bool goes_now(Seat& seat, Waiting& waiting, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void wait(Seat& seat, Waiting waiting, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void pump(Seat& seat, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void sweep(Seat& seat) MILLRACE_REQUIRES(mutex_);
  void withdraw_waiting(ActorId target) MILLRACE_REQUIRES(mutex_);
  Status add_credit(ActorId target, std::uint64_t bytes, net::Later& later)
      MILLRACE_REQUIRES(mutex_);
  void end_seat(Seat seat, const Exit& exit, net::Later& later) MILLRACE_REQUIRES(mutex_);
  Error gone_error(const Call& call) const MILLRACE_REQUIRES(mutex_);
  void withdraw_tell(ActorId target);
  Error limit_error(const std::string& what, millrace::detail::WaitEnd end) const;

  const Ref<net::Mesh> mesh_;
  const Ref<FrameOutlet> outlet_;
  const Environment environment_;

  mutable Mutex mutex_;
  std::optional<Error> end_ MILLRACE_GUARDED_BY(mutex_);
  Exit exit_ MILLRACE_GUARDED_BY(mutex_);  // of the actors there, once that is set
  std::uint64_t last_number_ MILLRACE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<std::uint64_t, Call> calls_ MILLRACE_GUARDED_BY(mutex_);
  Seats seats_ MILLRACE_GUARDED_BY(mutex_);
  LinkBudget budget_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::actors
