// Stop token and deadline of a call to an actor. They complete the call's own cell, so a call that
// was given up is not handled afterwards (an ask is skipped, a tell that waits is withdrawn), and
// the error says what the actor was doing.
#pragma once

#include <utility>

#include "millrace/actors/actor_cell.h"
#include "millrace/core/combinators.h"

namespace millrace::actors::detail {

template <class R>
struct CallDeadline final : RefCounted, Pooled {
  using Pooled::operator new;
  using Pooled::operator delete;

  CallDeadline(Ref<Cell<R>> call, ActorCell& cell, const MessageType& type)
      : call(std::move(call)), cell(Ref<ActorCell>::share(&cell)), type(type) {}

  static void expire(RefCounted& target) {
    auto& self = static_cast<CallDeadline&>(target);
    if (self.call->complete()) return;
    if (self.call->try_set(std::unexpected(self.cell->deadline_error(self.type))))
      self.cell->withdraw();
  }

  const Ref<Cell<R>> call;
  const Ref<ActorCell> cell;
  const MessageType& type;
};

template <class R>
struct CallStop {
  Ref<Cell<R>> call;
  Ref<ActorCell> cell;
  const MessageType* type;
  void operator()() const {
    if (call->complete()) return;
    const Ref<ActorCell> kept = cell;  // this goes with the call
    if (call->try_set(
            fail(ErrorCode::kCancelled, std::string(type->name) + " was stopped on request"))) {
      kept->withdraw();
    }
  }
};

template <class R>
void limit_call(const Ref<Cell<R>>& call, ActorCell& cell, const MessageType& type,
                const CallOptions& options) {
  if (options.stop.stop_possible()) {
    auto* guard = new millrace::detail::GuardWaiter<std::stop_callback<CallStop<R>>>;
    guard->guard.emplace(options.stop, CallStop<R>{call, Ref<ActorCell>::share(&cell), &type});
    call->add_waiter(guard);
  }
  if (options.deadline != kNoDeadline && !call->complete()) {
    millrace::detail::arm_deadline(
        *cell.home().environment.timers, options.deadline, Ref<AsyncValue>(call),
        Ref<RefCounted>(make_ref<CallDeadline<R>>(call, cell, type)), &CallDeadline<R>::expire);
  }
}

}  // namespace millrace::actors::detail
