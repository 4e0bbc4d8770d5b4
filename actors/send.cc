// How messages get into a mailbox, on the sender's thread: admitted and pushed, waiting for room,
// or refused.
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

namespace {

// Complete, one per thread: most tells are accepted at once and their futures are not looked at.
Future<void> accepted_now() {
  thread_local const Future<void> accepted = make_ready();
  return accepted;
}

}  // namespace

Future<void> ActorCell::send(Envelope* envelope, const CallOptions& options) {
  if (Status ok = detail::check_in_time(*this, envelope->type(), options); !ok) {
    refuse(envelope, ok.error());
    return ok.error();
  }
  Admission::Verdict verdict = admission_.try_admit(envelope->bytes());
  if (verdict == Admission::Verdict::kAdmitted) {
    push(envelope);
    return accepted_now();
  }
  const MessageType& type = envelope->type();
  auto accepted = make_ref<Cell<void>>();
  envelope->accepted = accepted;
  if (verdict == Admission::Verdict::kFull) verdict = admission_.wait(envelope);
  switch (verdict) {
    case Admission::Verdict::kAdmitted:
      envelope->accepted = nullptr;
      push(envelope);
      accepted->set({});
      break;
    case Admission::Verdict::kWaiting:
      detail::limit_call<void>(accepted, *this, type, options);
      break;
    case Admission::Verdict::kFull:
      refuse(envelope, full_error(type));
      break;
    case Admission::Verdict::kClosed:
      refuse(envelope, ending_->refusal);
      break;
  }
  return Future<void>(std::move(accepted));
}

Status ActorCell::try_send(Envelope* envelope) {
  switch (admission_.try_admit(envelope->bytes())) {
    case Admission::Verdict::kAdmitted:
      push(envelope);
      return {};
    case Admission::Verdict::kClosed:
      refuse(envelope, ending_->refusal);
      return std::unexpected(ending_->refusal);
    default:
      Error error = full_error(envelope->type());
      refuse(envelope, error);
      return std::unexpected(std::move(error));
  }
}

void ActorCell::send_ask(Envelope* envelope) {
  Admission::Verdict verdict = admission_.try_admit(envelope->bytes());
  if (verdict == Admission::Verdict::kFull) verdict = admission_.wait(envelope);
  switch (verdict) {
    case Admission::Verdict::kAdmitted:
      return push(envelope);
    case Admission::Verdict::kWaiting:
      return;
    case Admission::Verdict::kFull:
      return refuse(envelope, full_error(envelope->type()));
    case Admission::Verdict::kClosed:
      return refuse(envelope, ending_->refusal);
  }
}

void ActorCell::send_notice(Envelope* envelope) {
  if (admission_.admit_anyway(envelope->bytes()) == Admission::Verdict::kAdmitted) {
    push(envelope);
  } else {
    refuse(envelope, ending_->refusal);
  }
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

Error ActorCell::full_error(const MessageType& type) const {
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
