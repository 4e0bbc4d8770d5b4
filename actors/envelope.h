// Envelope: one message on its way to an actor, and what is known about it without knowing its
// type. Written to by senders, read by admission.h (the bound), mailbox.h (the queue) and
// run_slice.cc (the loop). Read next: message_envelope.h, the typed one.
#pragma once

#include <cstddef>

#include "millrace/actors/message.h"
#include "millrace/core/async/async_value.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/base/pool.h"

namespace millrace::actors {

class Actor;
class ActorCell;

// One owner at a time: the sender, then the queue, then the actor's slice. Thread-safety: external.
// It is a Work where its handler answers later: run() is the end of that handler.
class Envelope : public Work, public Pooled {
 public:
  Envelope(const MessageType& type, std::size_t bytes) : type_(type), bytes_(bytes) {}
  virtual ~Envelope() = default;

  // Calls the handler. True: it is in flight and the envelope keeps itself until it ends; false: it
  // is over. May throw what the handler throws.
  virtual bool deliver(ActorCell& cell, Actor& actor) = 0;
  // Fails the wait for an answer. At any time before the answer, any thread that owns the envelope
  // or, in flight, the slice of its actor.
  virtual void reject(const Error& error) noexcept = 0;
  // In flight: passes on the result of the handler's future; loses quietly to an earlier rejection.
  virtual void answer(AsyncValue& value) noexcept = 0;

  void run() noexcept override {
    MILLRACE_CHECK(false, "an envelope that never was in flight ended");
  }
  void drop() noexcept override { delete this; }

  const MessageType& type() const { return type_; }
  std::size_t bytes() const { return bytes_; }

  // True once its sender has stopped, or its deadline has come, while it waited. Any thread.
  virtual bool withdrawn() const { return accepted && accepted->complete(); }

  // What a waiting sender holds: completes when the message is accepted. Empty otherwise.
  Ref<Cell<void>> accepted;

 private:
  const MessageType& type_;
  const std::size_t bytes_;
};

}  // namespace millrace::actors
