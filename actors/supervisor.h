// Supervisor: an actor that keeps other actors running. It makes its children in order and gets the
// Down of each. Then it restarts the child under the same name, leaves it stopped, or fails itself
// and escalates to its own supervisor: so trees of them contain a failure where it can be cured.
//
//   auto root = system.spawn<Supervisor>(
//       "root", {}, std::vector{child<Cache>("cache", {}, 64), child<Feed>("feed", {.limit =
//       ...})});
//   if (!root) return std::unexpected(root.error());
//   auto cache = wait_blocking(Supervisor::child<Cache>(*root, "cache"));  // a ChildRef<Cache>
//   if (!cache) return std::unexpected(cache.error());
//   auto answer = cache->ask(Get{"x"});       // of the incarnation that runs, or of the next one
//   auto next = cache->next_incarnation();    // a Future of the one after a restart
//
//   a child      running -> (it ends, Down) -> decided -> pausing -> running    Remedy::kRestart
//                                                      -> gone                  Remedy::kStop
//                                                      -> the supervisor fails  Remedy::kEscalate
//
//  - SV-1 a failure touches its own child only (one for one); the others run on.
//  - SV-2 a child that fails more often than its limit allows is an escalation under any remedy; a
//    constructor or on_start that fails counts like any other end.
//  - SV-3 children do not outlive their supervisor: before its own end it stops them, the newest
//    first (a supervisor whose executor is lost leaves them to the system).
//  - SV-4 what waits through a ChildRef for an incarnation that never comes ends at the latest with
//    the supervisor.
// The supervisor's slice owns all of it; the counting is in restart_limit.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>

#include "millrace/actors/child_ref.h"
#include "millrace/actors/restart_limit.h"
#include "millrace/actors/system.h"

namespace millrace::actors {

// What to do about the end of a child.
enum class Remedy : std::uint8_t { kRestart, kStop, kEscalate };

// Restarts what has failed; what was stopped in good order stays stopped.
Remedy restart_failures(const Down& down);

struct ChildOptions {
  ActorOptions actor = {};
  RestartLimit limit = {};
  Duration pause{};  // between an end and the restart
  // Called in the supervisor's slice; not asked when the system closes.
  std::function<Remedy(const Down&)> remedy = restart_failures;
};

// How to make one child, again and again.
struct ChildSpec {
  std::string name = {};
  ChildOptions options = {};
  std::function<Result<Ref<ActorCell>>(ActorSystem&, const ChildSpec&)> spawn = {};
  const std::type_info* type = nullptr;  // of the actor that spawn makes
};

// An A(args...): each start makes it of copies of args.
template <class A, class... Args>
ChildSpec child(std::string name, ChildOptions options, Args... args) {
  auto spawn = [args = std::make_tuple(std::move(args)...)](
                   ActorSystem& system, const ChildSpec& spec) -> Result<Ref<ActorCell>> {
    return std::apply(
        [&](const auto&... each) -> Result<Ref<ActorCell>> {
          MILLRACE_TRY(const ActorRef<A> made,
                       system.spawn<A>(spec.name, spec.options.actor, each...));
          return made.cell();
        },
        args);
  };
  return {std::move(name), std::move(options), std::move(spawn), &typeid(A)};
}

// The typed fact in the error of a supervisor that has escalated.
struct Escalation {
  std::string supervisor = {};
  std::string child = {};
  int restarts = 0;  // of that child, in all
};

class Supervisor final : public Actor {
 public:
  // The message of child(), below.
  struct FindChild {
    std::string name;
    const std::type_info* type = nullptr;
  };

  explicit Supervisor(std::vector<ChildSpec> children);
  ~Supervisor() override;

  // The reference on a child that follows its restarts. kNotFound: the supervisor has no child of
  // that name (also one that is gone is known); kInvalidArgument: it is of another class than
  // exactly A; kUnavailable: the supervisor is gone.
  template <class A>
  static Future<ChildRef<A>> child(const ActorRef<Supervisor>& supervisor, std::string name,
                                   const CallOptions& options = {}) {
    return supervisor.ask(FindChild{std::move(name), &typeid(A)}, options)
        .then(inline_executor(), [](Result<Ref<detail::ChildSlot>> slot) -> Result<ChildRef<A>> {
          if (!slot) return std::unexpected(std::move(slot).error());
          return ChildRef<A>(*std::move(slot));
        });
  }

  Future<void> on_start() override;
  void on(const Down& down);
  Result<Ref<detail::ChildSlot>> on(const FindChild& find);
  Future<void> on_stop(const Exit& exit) override;

 private:
  struct Child {
    Child(ChildSpec given, Ref<detail::ChildSlot> seen)
        : spec(std::move(given)), slot(std::move(seen)), budget(spec.options.limit) {}
    ChildSpec spec;
    Ref<detail::ChildSlot> slot;  // what ChildRefs see
    RestartBudget budget;
    int restarts = 0;
    Ref<ActorCell> running;  // empty: none runs
  };
  void start(std::size_t index);
  void serve_later(Ref<detail::ChildSlot> slot);
  void ended(std::size_t index, const Down& down, Remedy remedy);
  void restart(std::size_t index, const Exit& exit);
  void escalate(const Child& child, const Exit& exit, const std::string& why);
  void end_slots();

  std::vector<Child> children_;
};

}  // namespace millrace::actors
