// Stop token and deadline of a call to an actor. They complete the call's own cell. A cancelled
// call is not handled afterwards (an ask is skipped, a waiting tell is withdrawn), and its error
// says what the actor was doing.
#pragma once

#include <utility>

#include "millrace/actors/actor_cell.h"
#include "millrace/core/async/combinators.h"

namespace millrace::actors::detail {

// Complete, one per thread: most tells are accepted at once and their futures are not looked at.
Future<void> accepted_now();
// For a call on an empty ActorRef.
std::unexpected<Error> empty_ref(const char* call);
// The error of a message that comes too late (millrace::check_in_time), by the clock of the cell.
Status check_in_time(const ActorCell& cell, const MessageType& type, const CallOptions& options);

// Why a call ends before its answer.
Error limit_error(const ActorCell& cell, const MessageType& type, millrace::detail::WaitEnd end);

template <class R>
struct CallLimit final : RefCounted, Pooled {
  CallLimit(Ref<Cell<R>> limited, ActorCell& asked, const MessageType& message)
      : call(std::move(limited)), cell(Ref<ActorCell>::share(&asked)), type(message) {}

  static void end(RefCounted& target, millrace::detail::WaitEnd end) {
    auto& self = static_cast<CallLimit&>(target);
    if (self.call->try_set(std::unexpected(limit_error(*self.cell, self.type, end))))
      self.cell->withdraw();
  }

  const Ref<Cell<R>> call;
  const Ref<ActorCell> cell;
  const MessageType& type;
};

template <class R>
void limit_call(const Ref<Cell<R>>& call, ActorCell& cell, const MessageType& type,
                const CallOptions& options) {
  if (!options.stop.stop_possible() && options.deadline == kNoDeadline) return;
  millrace::detail::limit_wait(options, cell.home().environment.timers, Ref<AsyncValue>(call),
                               Ref<RefCounted>(make_ref<CallLimit<R>>(call, cell, type)),
                               &CallLimit<R>::end);
}

}  // namespace millrace::actors::detail
