// send_notice: a message of this room's own protocols to one of its actors. It must not be lost, so
// it asks for no room in the mailbox: who waits for the protocol has already been given room for
// what it carries, and its sender has no answer to a refusal.
#pragma once

#include <utility>

#include "millrace/actors/actor_ref.h"

namespace millrace::collectives {

// In the order of this thread's other messages, save of those that still wait for room. Dropped if
// the actor is gone.
template <class A, class M>
void send_notice(const actors::ActorRef<A>& to, M message) {
  to.cell()->send_notice(new actors::MessageEnvelope<A, M>(std::move(message), {}));
}

}  // namespace millrace::collectives
