// Server: what one other rank asks of the actors of this process, in one epoch: the actors that it
// has found, the asks that wait for their answers, and the links that it has made. Read next:
// caller.h, the other end; remote_class.h, how a message becomes one of an actor's.
//
//  - SE-1 messages of a rank to an actor are handled in the order in which they came; one waits for
//    room in the mailbox at a time, those behind it in the lane of the mesh (IN-1).
//  - SE-2 each ask is answered once, or withdrawn, or its asker is gone; then its handler sees that
//    the reply is not wanted.
//  - SE-3 an actor's end is said to each rank that has found it, after the answers to its asks.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "millrace/actors/remote/credit_return.h"
#include "millrace/actors/remote/frame_outlet.h"
#include "millrace/actors/remote/remote_class.h"
#include "millrace/actors/remote/remote_frames.h"

namespace millrace::actors {

class ActorSystem;

// A call of another rank that is served. Thread-safety: thread-safe.
class ServedCall : public RefCounted {
 public:
  // The answer is not wanted any more. Without a lock of the server.
  virtual void cancel(const Error& why) = 0;
};

// States: open -> ended. Owned by the RemoteNode while the rank is there, and by what it waits for.
// Thread-safety: thread-safe; take_ is for frames of that rank.
class Server final : public RefCounted {
 public:
  Server(Ref<net::Mesh> mesh, Ref<FrameOutlet> outlet)
      : mesh_(std::move(mesh)), outlet_(std::move(outlet)) {}

  // Where actors and classes are looked for, while the node is open.
  struct Served {
    const ActorSystem& system;
    const RemoteClasses& classes;
  };
  void take_find(const net::Frame& frame, const Served& served);
  // Not complete: the message waits for room in the mailbox.
  Future<void> take_message(const net::Frame& frame);
  void take_credit_wanted(const net::Frame& frame);
  // A message or a cast of so many bytes, on that channel, waits for room no more. call: of the
  // cast, whose answer takes the credit along.
  void take_admitted(ActorId channel, std::size_t bytes, const Result<void>& admitted,
                     std::uint64_t call = 0);
  Status take_withdraw(const net::Frame& frame);
  Status take_link(const net::Frame& frame);
  Status take_link_end(const net::Frame& frame);
  // The process is gone, or out of reach (failure), or this process's node closes: asks end, links
  // do what the failure says, and nothing of this waits any more.
  void end(const Error& why, bool failure);

  // Answers a call that add_call() does not know.
  // credit: in bytes, of that channel.
  void refuse(std::uint64_t number, const Error& why, ActorId channel = 0, std::size_t credit = 0);
  // A call that another part of the node serves. The error of end(): the call is to be refused.
  Status add_call(std::uint64_t number, const Ref<ServedCall>& call);
  // False: it was withdrawn. channel: the one whose credit goes along, or 0.
  bool answer(std::uint64_t number, const Result<net::Bytes>& answer, ActorId channel = 0);
  // accepted: of a message that waits for room in a mailbox, and holds up the lane of the mesh
  // behind it. Completes with it, or with the end of this: what is behind it is answered then, too.
  Future<void> hold_lane(const Future<void>& accepted);
  net::JobMember asker() const { return mesh_->member(outlet_->rank()); }

 private:
  class Ask;
  struct Export {
    Ref<ActorCell> cell;
    const RemoteClass* served = nullptr;
    CreditReturn credit = {};
    std::map<ActorId, std::string> links = {};  // names of actors there, by their ids
    // Asks of one sender to one actor come in the order of their numbers, but a withdrawal may
    // overtake its ask, which waits in its lane.
    std::uint64_t last_call = 0;
    std::set<std::uint64_t> withdrawn = {};
  };

  static constexpr std::size_t kMostWithdrawn = std::size_t{1} << 16;  // more are not under way

  // With credit that is kept; of others it goes at once.
  static constexpr std::size_t kMostCastNames = std::size_t{1} << 16;

  // What step(CreditReturn&) gives for that channel; 0 if it has ended.
  template <class F>
  std::size_t credit_of(ActorId channel, F step, std::size_t if_too_many = 0)
      MILLRACE_REQUIRES(mutex_);
  static bool is_withdrawn(Export& to, std::uint64_t number);
  void watch(const Ref<ActorCell>& cell);
  void drop_message(const net::FrameHeader& header, std::size_t bytes, const Error& why);
  void take_down(ActorId id, const Exit& exit);
  void kill_linked(ActorCell& cell, const std::string& linker, const Error& why) const;
  void send_credit(ActorId id, std::size_t bytes, net::Later& later) MILLRACE_REQUIRES(mutex_);

  const Ref<net::Mesh> mesh_;
  const Ref<FrameOutlet> outlet_;

  mutable Mutex mutex_;
  std::optional<Error> end_ MILLRACE_GUARDED_BY(mutex_);
  std::unordered_map<ActorId, Export> exports_ MILLRACE_GUARDED_BY(mutex_);
  // By cast_channel().
  std::unordered_map<ActorId, CreditReturn> cast_credits_ MILLRACE_GUARDED_BY(mutex_);
  std::unordered_map<std::uint64_t, Ref<ServedCall>> calls_ MILLRACE_GUARDED_BY(mutex_);
  std::unordered_map<const AsyncValue*, Ref<Cell<void>>> held_lanes_ MILLRACE_GUARDED_BY(mutex_);
};

// The actor of that name, of a class that is served: kNotFound, kInvalidArgument.
Result<std::pair<Ref<ActorCell>, const RemoteClass*>> find_served(const Server::Served& served,
                                                                  const std::string& name,
                                                                  const std::string& type);
// "the lists of fields of Put differ: rank 0 (...) has ..., here it is ..."
Error schema_error(const net::JobMember& asker, std::string_view theirs, const MessageSchema* ours);

}  // namespace millrace::actors
