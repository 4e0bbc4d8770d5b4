#include "millrace/actors/supervisor.h"

#include <algorithm>

#include "millrace/actors/registry.h"
#include "millrace/core/async/combinators.h"
#include "millrace/core/async/coroutine.h"
#include "millrace/core/observe/log.h"

namespace millrace::actors {
namespace {

// In this order, each after the one before is gone.
Task<void> stop_all(std::vector<Ref<ActorCell>> actors) {
  for (const Ref<ActorCell>& actor : actors) {
    actor->stop(Exit{ExitReason::kStopped, std::nullopt}, StopMode::kNow);
    static_cast<void>(co_await actor->down());
  }
}

std::string text_of(const Exit& exit) {
  std::string text(to_string(exit.reason));
  if (exit.error) text += ": " + exit.error->message();
  return text;
}

Error gone(const detail::ChildSlot& slot, const Down& down, const std::string& why) {
  return Error(ErrorCode::kUnavailable, slot.described() + " " + why)
      .with_detail(ActorGone{down.id, down.name, down.exit.reason});
}

}  // namespace

Remedy restart_failures(const Down& down) {
  return down.exit.failure() ? Remedy::kRestart : Remedy::kStop;
}

Supervisor::Supervisor(std::vector<ChildSpec> children) {
  for (ChildSpec& child : children) {
    auto slot = make_ref<detail::ChildSlot>(
        "child '" + child.name + "' of supervisor '" + context().name() + "'",
        child.options.actor.waiting_bytes, context().environment());
    children_.emplace_back(std::move(child), std::move(slot));
  }
}

Supervisor::~Supervisor() { end_slots(); }

// Those of which nothing more is known.
void Supervisor::end_slots() {
  for (const Child& child : children_) {
    child.slot->end(Error(ErrorCode::kUnavailable,
                          child.slot->described() + " is gone: its supervisor has ended"));
  }
}

Result<Ref<detail::ChildSlot>> Supervisor::on(const FindChild& find) {
  const auto found = std::ranges::find_if(
      children_, [&](const Child& child) { return child.spec.name == find.name; });
  if (found == children_.end()) {
    return fail(ErrorCode::kNotFound,
                "supervisor '" + context().name() + "' has no child '" + find.name + "'");
  }
  if (found->spec.type != nullptr && *found->spec.type != *find.type) {
    return fail(ErrorCode::kInvalidArgument, found->slot->described() + " is a " +
                                                 readable_name(*found->spec.type) + ", not a " +
                                                 readable_name(*find.type));
  }
  return found->slot;
}

Future<void> Supervisor::on_start() {
  for (std::size_t i = 0; i < children_.size() && !context().stop_token().stop_requested(); ++i) {
    start(i);
  }
  return {};
}

// Between these turns the supervisor does its other work, however fast the senders are.
void Supervisor::serve_later(Ref<detail::ChildSlot> slot) {
  post(cell(), [this, home = Ref<ActorCell>::share(&cell()), slot = std::move(slot)] {
    if (slot->serve()) serve_later(slot);
  });
}

void Supervisor::start(std::size_t index) {
  Child& child = children_[index];
  Result<Ref<ActorCell>> made = child.spec.spawn(context().system(), child.spec);
  if (made) {
    child.running = *std::move(made);
    monitor(ActorRef(this), ActorRef<Actor>(child.running));
    if (child.slot->start(child.running)) serve_later(child.slot);
    return;
  }
  if (made.error().code() == ErrorCode::kUnavailable)
    return child.slot->end(made.error());  // the system closes
  ended(index, Down{0, child.spec.name, Exit{ExitReason::kFailed, made.error()}}, Remedy::kRestart);
}

void Supervisor::on(const Down& down) {
  const auto found = std::ranges::find_if(children_, [&](const Child& child) {
    return child.running && child.running->id() == down.id;
  });
  if (found == children_.end()) return;
  found->running = nullptr;
  if (down.exit.reason == ExitReason::kClosed)
    return found->slot->end(gone(*found->slot, down, "was closed with its system"));
  ended(static_cast<std::size_t>(found - children_.begin()), down,
        found->spec.options.remedy(down));
}

void Supervisor::ended(std::size_t index, const Down& down, Remedy remedy) {
  switch (remedy) {
    case Remedy::kRestart:
      return restart(index, down.exit);
    case Remedy::kStop:
      MILLRACE_LOG(kInfo, "actors",
                   "supervisor '" + context().name() + "' releases '" + down.name + "', which " +
                       text_of(down.exit));
      return children_[index].slot->end(
          gone(*children_[index].slot, down, "was released: it " + text_of(down.exit)));
    case Remedy::kEscalate:
      return escalate(children_[index], down.exit, "");
  }
}

void Supervisor::restart(std::size_t index, const Exit& exit) {
  Child& child = children_[index];
  const Environment& environment = context().environment();
  const TimePoint now = environment.clock->now();
  if (!child.budget.take(now)) {
    return escalate(child, exit,
                    ", more often than the limit of " + child.budget.limit().to_string());
  }
  ++child.restarts;
  MILLRACE_LOG(kWarning, "actors",
               "supervisor '" + context().name() + "' restarts '" + child.spec.name + "', which " +
                   text_of(exit));
  // The cell is the executor: what waits keeps it.
  auto start_again = [this, home = Ref<ActorCell>::share(&cell()), index] {
    if (context().state() == ActorState::kRunning) start(index);
  };
  // A turn of its own: the supervisor does its other work between, however often a start fails.
  if (child.spec.options.pause == Duration()) return post(cell(), std::move(start_again));
  sleep_until(now + child.spec.options.pause, *environment.timers, context().stop_token())
      .then(cell(),
            [start_again = std::move(start_again)](const Status& waited) {
              if (waited) start_again();
            })
      .ignore();
}

void Supervisor::escalate(const Child& child, const Exit& exit, const std::string& why) {
  const std::string what = "supervisor '" + context().name() + "' gives up: its child '" +
                           child.spec.name + "' " + std::string(to_string(exit.reason)) + why;
  const Error error =
      exit.error ? exit.error->with_context(what) : Error(ErrorCode::kAborted, what);
  const Error reported =
      error.with_detail(Escalation{context().name(), child.spec.name, child.restarts});
  child.slot->end(
      Error(ErrorCode::kUnavailable, child.slot->described() + " is gone: " + reported.message())
          .with_detail(*reported.detail<Escalation>()));
  context().fail(reported);
}

Future<void> Supervisor::on_stop(const Exit& /*exit*/) {
  end_slots();
  std::vector<Ref<ActorCell>> actors;
  for (const Child& child : children_) {
    if (child.running) actors.push_back(child.running);
  }
  // The newest first: ids grow.
  std::ranges::sort(actors, std::ranges::greater(), [](const auto& actor) { return actor->id(); });
  return spawn(cell(), stop_all(std::move(actors)));
}

}  // namespace millrace::actors
