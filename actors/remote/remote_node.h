// RemoteNode: one process's end of what actors of several processes say to each other, without
// types: with which ranks it talks, in which epoch, and where their frames go. RemoteActors
// (remote_actors.h) is the typed handle on it. Read next: caller.h and server.h, the two halves of
// what is said with one rank.
//
//  - RA-1 a reference lasts for an epoch of the mesh: with its end, or that of the process, it is
//    down, and what waits through it fails; both name rank, host and pid.
//  - RA-2 after close() nothing of the actor system is used, and frames that come are answered with
//    an error.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <typeindex>

#include "millrace/actors/remote/caller.h"
#include "millrace/actors/remote/cast_run.h"
#include "millrace/actors/remote/server.h"
#include "millrace/actors/system.h"
#include "millrace/core/async/scope.h"

namespace millrace::actors {

// States: open -> closing -> closed. Held by the mesh's sinks until the mesh has closed.
// Thread-safety: thread-safe.
class RemoteNode final : public RefCounted {
 public:
  RemoteNode(Ref<net::Mesh> mesh, ActorSystem& system, const Environment& environment)
      : mesh_(std::move(mesh)), system_(system), environment_(environment) {}

  // Once: takes frames from now on.
  void start();
  void serve(std::type_index type, const RemoteClass& served) { classes_.add(type, served); }
  const Environment& environment() const { return environment_; }
  const net::Mesh& mesh() const { return *mesh_; }

  // The calling half; the error of a rank that is lost, has ended, or is none.
  Result<Ref<Caller>> caller(std::uint32_t rank);
  struct CastPlan {
    CastRequest request;
    const RemoteMessage* message = nullptr;
    const std::type_info* type = nullptr;  // of the actor, if it is known
    TimePoint deadline = kNoDeadline;
  };
  // Asks this process's own actor and the first of each part. Empty, or not complete: the message
  // waits for its place in the own actor's mailbox.
  Future<void> cast(const Ref<CastRun>& run, const CastPlan& plan);

  // Any call gives the same end.
  Future<void> close();
  bool is_closed();

 private:
  struct Peer {
    std::uint32_t epoch = 0;
    Ref<FrameOutlet> outlet;
    Ref<Caller> caller;
    Ref<Server> server;
  };
  using Peers = std::map<std::uint32_t, Peer>;

  Future<void> take(std::uint32_t from, const net::Frame& frame);
  Future<void> take_here(const Peer& peer, const net::Frame& frame);
  Future<void> take_cast(const Peer& peer, const net::Frame& frame);
  Result<Future<void>> begin_cast(const Peer& peer, const net::Frame& frame);
  void refuse(std::uint32_t from, const net::Frame& frame);
  Result<Peer> peer(std::uint32_t rank, std::optional<std::uint32_t> epoch);
  Result<Peer> make_peer(std::uint32_t rank, net::Later& later) MILLRACE_REQUIRES(mutex_);
  void end_peer(std::uint32_t rank, const FrameOutlet* outlet, const Error& why, bool failure);
  static void end(const Peer& peer, const Error& why, bool failure);
  Result<CastPlan> plan_cast(const Peer& peer, const net::Frame& frame) const;
  Future<void> ask_own(const Ref<CastRun>& run, std::size_t place, const CastPlan& plan);
  void ask_part(const Ref<CastRun>& run, std::size_t place, const CastPlan& plan, CastPart part);
  Result<Ref<ActorCell>> find_own(const CastPlan& plan);

  const Ref<net::Mesh> mesh_;
  ActorSystem& system_;
  const Environment environment_;
  RemoteClasses classes_;
  Scope scope_{"the remote actors of this process"};  // held while the actor system is used

  Mutex mutex_;
  Future<void> closed_ MILLRACE_GUARDED_BY(mutex_);  // valid: closing
  Peers peers_ MILLRACE_GUARDED_BY(mutex_);
};

}  // namespace millrace::actors
