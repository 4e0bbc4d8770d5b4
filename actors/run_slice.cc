// The one main loop: how an actor runs. A slice is what an executor runs of one actor at a time;
// the order in it:
//   1. urgent entries collected before (ends of handlers, continuations, stop requests)
//   2. life: the next hook, or the end
//   3. one message, unless a handler or hook that has not ended holds the actor
// and after a number of these the actor gives way to other work of its executor. What its turns
// have left for afterwards (after_turn) runs then, on the same thread, outside of the actor. The
// only place where handlers and hooks are called and where what they throw is caught.
// try_turn runs one turn of an idle actor without these steps: idle, it has no entry, and its life
// has no step to take, so nothing would come first. If something has come meanwhile, or the actor
// ends, a slice follows.
#include "millrace/actors/actor_cell.h"
#include "millrace/actors/registry.h"
#include "millrace/core/base/ticks.h"

namespace millrace::actors {
namespace {

// Hooks in the place of a message, for those who ask what an actor does.
constexpr MessageType kOnStart{"on_start", false};
constexpr MessageType kOnStop{"on_stop", false};

// Says to replies and stop calls of this thread which actor runs.
class Running {
 public:
  Running(ActorCell* cell, WorkQueue& after) : mine_{.cell = cell, .after = &after} {}
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { current_actor_slot() = before_; }

 private:
  CurrentActor mine_;
  CurrentActor* const before_ = std::exchange(current_actor_slot(), &mine_);
};

// Runs what slices have left for afterwards. One that comes inside of another on the same thread
// leaves it to that one, so that stacks do not grow.
void run_all(WorkQueue& after) {
  static constinit thread_local WorkQueue* outermost = nullptr;
  if (outermost != nullptr) return outermost->append(after);
  outermost = &after;
  while (Work* work = after.pop()) work->run();
  outermost = nullptr;
}

}  // namespace

void ActorCell::run() noexcept {
  WorkQueue after;
  run_slice(after);
  if (!after.empty()) run_all(after);  // nothing of this may be touched any more
}

bool ActorCell::try_turn(FunctionRef<void()> turn) noexcept {
  if (!inline_when_idle_ || !mailbox_.leave_idle()) return false;
  WorkQueue after;
  bool asleep = false;
  {
    const Running running(this, after);
    turn();
    asleep = ending_ == nullptr && mailbox_.go_idle();
  }
  if (!asleep) {
    add_ref();
    run_slice(after);
  }
  if (!after.empty()) run_all(after);  // nothing of this may be touched any more
  return true;
}

void ActorCell::after_turn(Work* work) {
  MILLRACE_CHECK(current_actor().after != nullptr, "after_turn() belongs to an actor's turn");
  current_actor().after->push(work);
}

void ActorCell::run_slice(WorkQueue& after) {
  const Running running(this, after);
  for (int left = home_->slice_messages; left > 0; --left) {
    if (step() == Step::kAsleep) {
      release();  // nothing else may be touched: another thread may run the actor already
      return;
    }
  }
  release_room();
  executor_.submit(this);
}

ActorCell::Step ActorCell::step() {
  if (!message_is_due_ && !mailbox_.has_collected_urgent()) mailbox_.collect_urgent();
  if (Work* work = mailbox_.take_urgent()) {
    message_is_due_ = true;
    work->run();
    return Step::kAgain;
  }
  message_is_due_ = false;
  if (ending_ != nullptr) release_room();  // a drained actor has done all that was accepted
  if (const Step done = life(); done != Step::kNothing) return done;
  if (hold_ != Hold::kNone && state() != ActorState::kStopping) {
    release_room();
    return mailbox_.go_held() ? Step::kAsleep : Step::kAgain;
  }
  if (Envelope* envelope = mailbox_.take()) {
    handle(envelope);
    return Step::kAgain;
  }
  release_room();
  return mailbox_.go_idle() ? Step::kAsleep : Step::kAgain;
}

void ActorCell::handle(Envelope* envelope) {
  if (state() == ActorState::kStopping) return reject_message(envelope);
  handler_mark_.set(envelope->type(), now_count());
  bool in_flight = false;
  try {
    in_flight = envelope->deliver(*this, *actor_);
  } catch (...) {
    const Error error = millrace::detail::exception_to_error(std::current_exception())
                            .with_context("actor '" + name_ + "' failed in its handler of " +
                                          std::string(envelope->type().name));
    envelope->reject(error);
    request_exit(Exit{ExitReason::kFailed, error}, StopMode::kNow);
  }
  if (hold_ != Hold::kHandler) handler_mark_.clear();
  if (!in_flight) finish_message(envelope);
}

// A message takes less time than two looks at a clock: what this thread read less than ticks of a
// few microseconds ago will do for the age of a handler, which is reported in seconds.
Duration::rep ActorCell::now_count() const {
  const Clock& clock = *home_->environment.clock;
  if (&clock != &steady_clock() || !ticks_usable()) return clock.now().time_since_epoch().count();
  constexpr std::uint64_t kSameMoment = 1 << 14;
  thread_local struct {
    std::uint64_t ticks = 0;
    Duration::rep count = 0;
  } last;
  const std::uint64_t ticks = read_ticks();
  if (ticks - last.ticks > kSameMoment)
    last = {.ticks = ticks, .count = clock.now().time_since_epoch().count()};
  return last.count;
}

void ActorCell::run_hook(Hook hook) {
  handler_mark_.set(hook == Hook::kStart ? kOnStart : kOnStop, now_count());
  Future<void> future;
  try {
    future = hook == Hook::kStart ? actor_->on_start() : actor_->on_stop(ending_->exit);
  } catch (...) {
    return hook_ended(
        hook, std::unexpected(millrace::detail::exception_to_error(std::current_exception())));
  }
  if (!future.valid()) return hook_ended(hook, {});
  hold_ = Hold::kHook;
  if (hook == Hook::kStop && ending_->exit.failure() && !future.ready()) drop_replies();
  auto ended = [home = Ref<ActorCell>::share(this), hook](const Status& status) {
    home->hook_ended(hook, status);
  };
  future.then(*this, std::move(ended)).ignore();
}

void ActorCell::finish_message(Envelope* envelope) {
  const std::size_t bytes = envelope->bytes();
  delete envelope;
  if (admission_.release(bytes)) admit_waiting();
}

void ActorCell::release_room() {
  if (admission_.flush()) admit_waiting();
}

void ActorCell::admit_waiting() {
  while (Envelope* envelope = admission_.next_waiting()) {
    // An ask waits without this cell; a tell that was given up meanwhile is withdrawn.
    if (envelope->accepted && !std::exchange(envelope->accepted, {})->try_set({})) {
      const std::size_t bytes = envelope->bytes();
      delete envelope;
      admission_.release(bytes);
      continue;
    }
    mailbox_.push(envelope);
  }
}

void ActorCell::begin_in_flight(InFlight& handler, bool concurrent) {
  handler.cell_ = Ref<ActorCell>::share(this);
  handler.since_ = handler_mark_.since.load();
  handler.older_ = newest_in_flight_;
  (newest_in_flight_ == nullptr ? oldest_in_flight_ : newest_in_flight_->newer_) = &handler;
  newest_in_flight_ = &handler;
  in_flight_count_.fetch_add(1);
  update_in_flight_mark();
  if (!concurrent) hold_ = Hold::kHandler;
}

void ActorCell::end_in_flight(InFlight& handler) {
  (handler.older_ == nullptr ? oldest_in_flight_ : handler.older_->newer_) = handler.newer_;
  (handler.newer_ == nullptr ? newest_in_flight_ : handler.newer_->older_) = handler.older_;
  in_flight_count_.fetch_sub(1);
  update_in_flight_mark();
  if (!handler.type().concurrent) {
    hold_ = Hold::kNone;
    handler_mark_.clear();
  }
  finish_message(&handler);
}

void ActorCell::update_in_flight_mark() {
  if (oldest_in_flight_ == nullptr) return in_flight_mark_.clear();
  in_flight_mark_.set(oldest_in_flight_->type(), oldest_in_flight_->since_);
}

}  // namespace millrace::actors
