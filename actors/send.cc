// How messages get into a mailbox, on the sender's thread: pushed, waiting for room, or refused.
#include "millrace/actors/actor_cell.h"
#include "millrace/actors/call_limits.h"

namespace millrace::actors {

std::unexpected<Error> detail::empty_ref(const char* call) {
  return fail(ErrorCode::kInvalidArgument, std::string(call) + " was called on an empty ActorRef");
}

Status detail::check_in_time(const ActorCell& cell, const MessageType& type,
                             const CallOptions& options) {
  const Status in_time =
      millrace::check_in_time(options, *cell.home().environment.clock, type.name);
  if (in_time) [[likely]]
    return {};
  return std::unexpected(in_time.error().with_context("actor '" + cell.name() + "'"));
}

Error detail::limit_error(const ActorCell& cell, const MessageType& type,
                          millrace::detail::WaitEnd end) {
  using millrace::detail::WaitEnd;
  if (end == WaitEnd::kDue) return cell.deadline_error(type);
  if (end == WaitEnd::kClosed)
    return millrace::detail::wait_error(end, "before the answer was there");
  return Error(ErrorCode::kCancelled, std::string(type.name) + " was stopped on request");
}

Future<void> detail::accepted_now() {
  thread_local const Future<void> accepted = make_ready();
  return accepted;
}

Future<void> ActorCell::send(Envelope* envelope, const CallOptions& options) {
  if (Status ok = detail::check_in_time(*this, envelope->type(), options); !ok) {
    refuse(envelope, ok.error());
    return ok.error();
  }
  Verdict verdict = admission_.try_admit(envelope->bytes());
  if (verdict == Verdict::kAdmitted) {
    push(envelope);
    return detail::accepted_now();
  }
  const MessageType& type = envelope->type();
  auto accepted = make_ref<Cell<void>>();
  envelope->accepted = accepted;
  if (verdict == Verdict::kFull) verdict = admission_.wait(envelope);
  if (verdict == Verdict::kAdmitted) envelope->accepted = nullptr;
  settle(envelope, verdict);
  if (verdict == Verdict::kAdmitted) accepted->set({});
  if (verdict == Verdict::kWaiting) detail::limit_call<void>(accepted, *this, type, options);
  return Future<void>(std::move(accepted));
}

Status ActorCell::try_send(Envelope* envelope) {
  const Verdict verdict = admission_.try_admit(envelope->bytes());
  Status status;
  if (verdict != Verdict::kAdmitted) status = std::unexpected(refusal(verdict, envelope->type()));
  settle(envelope, verdict);
  return status;
}

void ActorCell::send_ask(Envelope* envelope) {
  const Verdict verdict = admission_.try_admit(envelope->bytes());
  settle(envelope, verdict == Verdict::kFull ? admission_.wait(envelope) : verdict);
}

void ActorCell::send_notice(Envelope* envelope) {
  settle(envelope, admission_.admit_anyway(envelope->bytes()));
}

void ActorCell::settle(Envelope* envelope, Verdict verdict) {
  if (verdict == Verdict::kAdmitted) return push(envelope);
  if (verdict != Verdict::kWaiting) refuse(envelope, refusal(verdict, envelope->type()));
}

void ActorCell::push(Envelope* envelope) {
  switch (mailbox_.push(envelope)) {
    case Mailbox::Push::kQueued:
      return;
    case Mailbox::Push::kWake:
      return wake(inline_when_idle_);
    case Mailbox::Push::kClosed:  // admitted just before the end
      return refuse(envelope, ending_->refusal);
  }
}

void ActorCell::refuse(Envelope* envelope, const Error& error) {
  // A reply that travels in the message falls with it: it names this actor, not the sender.
  CurrentActor& current = current_actor();
  const CurrentActor before = current;
  current.gone = &error;
  envelope->reject(error);
  delete envelope;
  current = before;
}

Error ActorCell::refusal(Verdict verdict, const MessageType& type) const {
  if (verdict == Verdict::kClosed) return ending_->refusal;
  const Admission::Load load = admission_.load();
  return Error(ErrorCode::kResourceExhausted,
               std::string(type.name) + " to actor '" + name_ + "': its mailbox is full (" +
                   std::to_string(load.messages) + " messages, " + std::to_string(load.bytes) +
                   " of " + std::to_string(admission_.limit_bytes()) + " bytes, " +
                   std::to_string(load.waiting_bytes) +
                   " bytes wait outside); await the future of tell, or give it a larger mailbox");
}

Error ActorCell::deadline_error(const MessageType& type) const {
  const ActorSnapshot now = snapshot();
  const auto& busy = now.handler.message.empty() ? now.oldest_in_flight : now.handler;
  std::string text = std::string(type.name) + " to actor '" + name_ +
                     "': the deadline came first; the actor is " +
                     std::string(to_string(now.state));
  if (!busy.message.empty()) {
    text +=
        ", handling " + busy.message + " for " +
        std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(busy.age).count()) +
        " ms";
  }
  text += ", with " + std::to_string(now.messages) + " messages accepted and not done";
  return Error(ErrorCode::kDeadlineExceeded, std::move(text));
}

}  // namespace millrace::actors
