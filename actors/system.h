// ActorSystem: makes actors, finds them by name, lists what each is doing, and closes them in
// order. Supervisors (supervisor.h) and the watch (handler_watch.h) use it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/actors/actor_ref.h"
#include "millrace/actors/registry.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/async/scope.h"
#include "millrace/core/base/function_ref.h"

namespace millrace::actors {

struct ActorSystemOptions {
  // Messages and turns of one slice, before the actor gives way to other work of its executor.
  int slice_messages = 64;
};

// Owned by the runtime (or the test) that assembles the rooms. close() must have completed before
// it is destroyed, unless it has no actor. An actor lives until it stops, fails or is closed;
// references to it do not keep it running. Thread-safety: thread-safe.
class ActorSystem {
 public:
  explicit ActorSystem(const Environment& environment, ActorSystemOptions options = {});
  ~ActorSystem();
  ActorSystem(const ActorSystem&) = delete;
  ActorSystem& operator=(const ActorSystem&) = delete;

  // Constructs A(args...) on this thread and starts it on its executor. kAlreadyExists: an actor of
  // that name has not stopped; kUnavailable: the system closes; kInternal: the constructor threw.
  template <class A, class... Args>
  Result<ActorRef<A>> spawn(std::string name, const ActorOptions& options, Args&&... args) {
    auto make = [&]() -> std::unique_ptr<Actor> {
      return std::make_unique<A>(std::forward<Args>(args)...);
    };
    MILLRACE_TRY(Ref<ActorCell> cell, spawn_cell(std::move(name), options, typeid(A), make));
    return ActorRef<A>(std::move(cell));
  }

  // kNotFound: no actor of that name that takes messages; so never one that has refused a message
  // with ActorGone. kInvalidArgument: it is of another class than exactly A.
  template <class A>
  Result<ActorRef<A>> find(std::string_view name) const {
    MILLRACE_TRY(Ref<ActorCell> cell, find_cell(name, typeid(A)));
    return ActorRef<A>(std::move(cell));
  }

  // The same, of any class.
  Result<Ref<ActorCell>> find_cell(std::string_view name) const;

  // Every actor that has not stopped, in order of creation. An actor whose handler does not end is
  // named here with the message, its age, and what is queued behind it.
  std::vector<ActorSnapshot> snapshot() const;
  // The actors with a handler or hook that has not ended for so long.
  std::vector<ActorSnapshot> overdue(Duration limit) const;

  // Refuses new actors and stops the others, the newest first, each after the one made later is
  // gone. Completes when all are; every call gives the same future.
  Future<void> close();

 private:
  Result<Ref<ActorCell>> spawn_cell(std::string name, const ActorOptions& options,
                                    const std::type_info& type,
                                    FunctionRef<std::unique_ptr<Actor>()> make);
  Result<Ref<ActorCell>> find_cell(std::string_view name, const std::type_info& type) const;
  void close_newest();

  Registry registry_;
  Ref<ActorHome> home_ = make_ref<ActorHome>();
  std::atomic<ActorId> next_id_{1};
  std::atomic<bool> closing_{false};
  Scope scope_{"the actor system"};  // held by every actor that has not stopped
};

namespace detail {
Ref<ActorCell> spawn_alone(const Environment& environment, std::string name,
                           const ActorOptions& options, const std::type_info& type,
                           FunctionRef<std::unique_ptr<Actor>()> make);
}  // namespace detail

// An actor of no system: neither found by name nor listed, and closed by its maker, through stop().
// Its constructor must not throw (CHECKed).
template <class A, class... Args>
ActorRef<A> spawn_alone(const Environment& environment, std::string name,
                        const ActorOptions& options, Args&&... args) {
  auto make = [&]() -> std::unique_ptr<Actor> {
    return std::make_unique<A>(std::forward<Args>(args)...);
  };
  return ActorRef<A>(detail::spawn_alone(environment, std::move(name), options, typeid(A), make));
}

}  // namespace millrace::actors
