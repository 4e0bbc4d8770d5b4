// Actor: state that one message at a time may touch. Derive from it, with an `on` per message type:
//
//   class Counter : public actors::Actor {
//    public:
//     void on(const Add& add) { sum_ += add.n; }    // tell it, or ask for a Future<void>
//     Result<int> on(const Get&) { return sum_; }   // ask it for a Future<int>
//     Future<int> on(Load&& load);                  // answers later; holds the actor until then
//     void on(Wait&& wait, Reply<int> reply);       // answers later; the actor handles others
//    ...
//
// Read next: actor_ref.h (how others reach it), system.h (its maker), run_slice.cc (the main loop).
#pragma once

#include <stop_token>

#include "millrace/actors/down.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/async/future.h"

namespace millrace::actors {

class ActorCell;
class ActorSystem;

// What an actor may use of its system. Thread-safety: thread-safe while the actor lives.
class Context {
 public:
  explicit Context(ActorCell& cell) : cell_(cell) {}

  ActorId id() const;
  const std::string& name() const;
  ActorState state() const;
  const Environment& environment() const;
  ActorSystem& system() const;
  // Runs work as a turn of this actor: between its messages, never at the same time as a handler.
  // Continuations of concurrent handlers belong here: future.then(context().executor(), ...).
  Executor& executor() const;
  // Requested when the actor begins to stop: the waits of handlers should end then.
  std::stop_token stop_token() const;

  // Ends this actor: queued messages are rejected after the current handler, in-flight asks at
  // once, on_stop runs, monitors get kFailed with the error.
  void fail(Error error);
  // Ends this actor in good order, after the current handler.
  void stop();

 private:
  ActorCell& cell_;
};

// Owned by its cell, which destroys it once it has stopped. Thread-safety: confined, by the cell.
class Actor {
 public:
  virtual ~Actor() = default;
  Actor(const Actor&) = delete;
  Actor& operator=(const Actor&) = delete;

  // Runs before the first message; messages wait until its future completes. An error ends the
  // actor, without on_stop. An empty future, the default, means: done.
  virtual Future<void> on_start() { return {}; }
  // Runs after the last handler, for any reason of the end. Monitors get its error if none came
  // yet.
  virtual Future<void> on_stop(const Exit& exit);

  ActorCell& cell() const { return *cell_; }

 protected:
  // Only an ActorSystem can make one: it says for which cell.
  Actor();
  Context context() const { return Context(*cell_); }

 private:
  ActorCell* cell_;
};

}  // namespace millrace::actors
