// The life of an actor: starting, running, stopping, stopped. Called from its slice (run_slice.cc),
// and by its maker when it never came to one.
#include "millrace/actors/actor_cell.h"
#include "millrace/actors/registry.h"
#include "millrace/actors/reply_tracker.h"

namespace millrace::actors {
namespace {

Error refusal_of(const ActorCell& cell, const Exit& exit) {
  std::string text =
      "actor '" + cell.name() + "' is gone (" + std::string(to_string(exit.reason)) + ")";
  if (exit.error) text += ": " + exit.error->message();
  return Error(ErrorCode::kUnavailable, std::move(text))
      .with_detail(ActorGone{cell.id(), cell.name(), exit.reason});
}

}  // namespace

void ActorCell::enter(ActorState next) {
  MILLRACE_CHECK(next > state(), "an actor's life has no such step");
  state_.store(next);
}

ActorCell::Step ActorCell::life() {
  if (hold_ != Hold::kNone) return Step::kNothing;
  switch (state()) {
    case ActorState::kStarting:
      run_hook(Hook::kStart);
      return Step::kAgain;
    case ActorState::kRunning:
      if (ending_ == nullptr || !admission_.empty()) return Step::kNothing;
      begin_stopping();  // drained
      return Step::kAgain;
    case ActorState::kStopping:
      if (oldest_in_flight_ != nullptr) return Step::kNothing;
      if (std::exchange(started_, false)) {
        run_hook(Hook::kStop);
        return Step::kAgain;
      }
      finish();
      return Step::kAsleep;
    case ActorState::kStopped:
      break;
  }
  MILLRACE_CHECK(false, "a stopped actor ran");
  return Step::kAsleep;
}

void ActorCell::hook_ended(Hook hook, Status status) {
  hold_ = Hold::kNone;
  handler_mark_.clear();
  if (hook == Hook::kStart) {
    started_ = status.has_value();
    if (!status) {
      request_exit(Exit{ExitReason::kFailed,
                        status.error().with_context("actor '" + name_ + "' could not start")},
                   StopMode::kNow);
    } else if (state() == ActorState::kStarting) {
      enter(ActorState::kRunning);
    }
  } else if (!status && !ending_->exit.failure()) {
    ending_->exit = {ExitReason::kFailed,
                     status.error().with_context("actor '" + name_ + "' could not stop cleanly")};
  }
}

void ActorCell::request_exit(Exit exit, StopMode mode) {
  if (state() == ActorState::kStopped) return;
  const bool failure = exit.failure();
  if (ending_ == nullptr) {
    Error refusal = refusal_of(*this, exit);
    ending_ = std::make_unique<Ending>(std::move(exit), std::move(refusal));
    WorkQueue waiting = admission_.close();
    while (Work* message = waiting.pop()) refuse(static_cast<Envelope*>(message), ending_->refusal);
  } else if (failure && !ending_->exit.failure()) {
    ending_->exit = std::move(exit);  // the worse news stay
  }
  if (failure) {
    reject_in_flight();
    // Without these it ends soon, and what it holds falls with it.
    if (oldest_in_flight_ != nullptr || hold_ != Hold::kNone) drop_replies();
  }
  if ((failure || mode == StopMode::kNow) && state() != ActorState::kStopping) begin_stopping();
}

void ActorCell::begin_stopping() {
  enter(ActorState::kStopping);
  if (std::stop_source* stop = stop_.load()) stop->request_stop();
  while (Envelope* envelope = mailbox_.take()) reject_message(envelope);
}

void ActorCell::reject_message(Envelope* envelope) {
  const std::size_t bytes = envelope->bytes();
  refuse(envelope, ending_->refusal);
  admission_.release(bytes);
}

void ActorCell::reject_in_flight() {
  const Error error = refusal_of(*this, ending_->exit);
  for (InFlight* handler = oldest_in_flight_; handler != nullptr; handler = handler->newer_)
    handler->reject(error);
}

// The error says why this actor is gone, also where another one was asked.
void ActorCell::drop_replies() {
  ReplyList* const replies = replies_.load();
  if (replies == nullptr) return;
  const Error error = refusal_of(*this, ending_->exit);
  CurrentActor& current = current_actor();
  const Error* const before = std::exchange(current.gone, &error);
  replies->drop_all();
  current.gone = before;
}

void ActorCell::finish() {
  CurrentActor& current = current_actor();
  const CurrentActor before =
      std::exchange(current, CurrentActor{.cell = this, .gone = &ending_->refusal});
  enter(ActorState::kStopped);
  Mailbox::Rest rest = mailbox_.close();
  while (Work* message = rest.messages.pop())
    refuse(static_cast<Envelope*>(message), ending_->refusal);
  while (Work* work = rest.urgent.pop()) work->drop();
  // A lost executor leaves handlers in flight, which keep this cell and the actor until they end.
  if (oldest_in_flight_ == nullptr) {
    actor_ = nullptr;
  } else {
    drop_replies();
  }
  current = before;

  const Scope::Hold last = std::move(system_hold_);  // after it the system may be gone
  if (home_->registry != nullptr) home_->registry->remove(*this);
  down().cell()->set(Down{id_, name_, ending_->exit});
}

void ActorCell::drop() noexcept {
  give_up(Exit{ExitReason::kLost,
               Error(ErrorCode::kAborted, "the executor of actor '" + name_ + "' closed")});
  release();
}

void ActorCell::give_up(Exit exit) {
  if (ending_ != nullptr && !ending_->exit.failure()) ending_->exit = exit;
  if (state() != ActorState::kStopping) {
    request_exit(std::move(exit), StopMode::kNow);
  } else {
    reject_in_flight();
  }
  finish();
}

}  // namespace millrace::actors
