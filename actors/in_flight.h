// InFlight: a handler that answers later, from its first return until its future completes. The
// envelope itself is the waiter on that future and then the urgent entry that tells the actor, so
// it costs nothing extra.
#pragma once

#include "millrace/actors/actor_cell.h"

namespace millrace::actors {

// In the list of its cell while in flight. Thread-safety: external, like every envelope;
// on_complete hands the answer over on the completing thread and then only pushes itself.
class InFlight : public Envelope, public Waiter {
 public:
  using Envelope::Envelope;

  void on_complete(AsyncValue& value) noexcept final {
    answer(value);
    const Ref<ActorCell> cell = cell_;  // the slice may destroy this as soon as it is pushed
    cell->submit(this);
  }
  void run() noexcept final { cell_->end_in_flight(*this); }

 private:
  friend class ActorCell;
  Ref<ActorCell> cell_;
  InFlight* older_ = nullptr;
  InFlight* newer_ = nullptr;
  Duration::rep since_ = 0;
};

}  // namespace millrace::actors
