// RendezvousActor: the rendezvous of one rank as an actor. It wraps the protocol
// (rendezvous_machine.h), gives it messages, peers and time. Used through process_group.h.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "millrace/actors/actor.h"
#include "millrace/actors/actor_ref.h"
#include "millrace/collectives/rendezvous_machine.h"

namespace millrace::collectives {

class RendezvousActor;
// The other ranks: those of this process, and the way to all others. Thread-safety: immutable.
struct RendezvousPeers {
  int first = 0;  // rank of the first here
  std::vector<actors::ActorRef<RendezvousActor>> here = {};
  std::function<void(Rank from, Rank to, const RendezvousMessage& message)> far = {};
  // A rank here waits for that one, of another process, which is to hear that.
  std::function<void(Rank to)> greet = {};
};

// First message: who the other ranks are. Joins and peer messages before it are a bug.
struct RendezvousWire {
  std::shared_ptr<const RendezvousPeers> peers = {};
};
struct RendezvousJoin {
  std::string tag = {};
  Subset subset = {};
  std::string payload = {};
  TimePoint deadline = kNoDeadline;

  std::size_t bytes() const { return sizeof(*this) + tag.size() + payload.size(); }
};
struct RankFailed {
  Rank rank;
  Error error;
  bool heard = false;  // from another process: the others have heard it, too
};

// It has closed the group: nothing more comes from it.
struct RankLeft {
  Rank rank;
  Error error;
};

// One per rank of a group, spawned and closed by it. Thread-safety: confined.
class RendezvousActor final : public actors::Actor {
 public:
  RendezvousActor(std::string group, Rank self)
      : group_(std::move(group)), self_(self), machine_(self) {}

  void on(RendezvousWire&& wire) { peers_ = std::move(wire.peers); }
  void on(RendezvousJoin&& join, actors::Reply<Payloads> reply);
  void on(RendezvousMessage&& message);
  void on(const RankFailed& failed);
  void on(const RankLeft& left);
  Future<void> on_stop(const actors::Exit& exit) override;

 private:
  struct Waiting {
    actors::Reply<Payloads> reply;
    std::optional<TimerQueue::Id> timer;
  };
  // The place of a rank of this process.
  std::optional<std::size_t> here(Rank rank) const;
  void perform(RendezvousMachine::Actions actions);
  void arm(const RendezvousKey& key, TimePoint deadline);

  std::string group_;
  const Rank self_;
  RendezvousMachine machine_;
  std::shared_ptr<const RendezvousPeers> peers_;
  std::map<RendezvousKey, Waiting> waiting_;
};

}  // namespace millrace::collectives
