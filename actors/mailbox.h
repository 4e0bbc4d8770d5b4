// Mailbox: the queue of one actor. Many threads push, one slice at a time takes. It holds no lock
// and owns no memory of its own; the bound is admission.h, the loop that takes is run_slice.cc.
//
//  - MB-1 one word per list says what pushers must know: closed, idle, empty, or the newest entry.
//  - MB-2 the push that finds the actor asleep, and no other, must schedule it (kWake).
//  - MB-3 messages come out in the order of their pushes; urgent entries too, among themselves.
//  - MB-4 after close() nothing enters.
#pragma once

#include "millrace/actors/envelope.h"
#include "millrace/core/base/intrusive_stack.h"

namespace millrace::actors {

// The scheduled slice owns it; a change to idle or held ends the ownership. Made awake: its maker
// schedules the first slice. Thread-safety: push_ calls and leave_idle are thread-safe, others are
// the owner's.
class Mailbox {
 public:
  enum class Push : std::uint8_t {
    kQueued,  // the actor is awake or will be
    kWake,    // the caller must schedule the actor
    kClosed,  // not taken: the caller still owns the entry
  };
  struct Rest {  // what was left at close
    WorkQueue messages;
    WorkQueue urgent;
  };

  Push push(Envelope* message);
  // Ends of asynchronous handlers, continuations, stop requests: not bounded, before messages.
  Push push_urgent(Work* work);

  // Any thread: the ownership of an actor that sleeps by go_idle. False: it does not.
  bool leave_idle() { return messages_.replace(kIdle, kEmpty); }

  // The next message, or nullptr.
  Envelope* take();
  // The next urgent entry of those collected before, or nullptr.
  Work* take_urgent() { return pop(urgent_list_); }
  // Once those are taken.
  void collect_urgent();
  bool has_collected_urgent() const { return urgent_list_ != nullptr; }

  // Both give the ownership up, or return false because something has come meanwhile.
  bool go_idle();  // any push wakes
  bool go_held();  // only an urgent push wakes: the messages wait for a handler that has not ended
  Rest close();

 private:
  using Stack = IntrusiveStack<Work, &Work::next>;
  static constexpr Stack::Word kEmpty = 0;   // no entry, the actor is awake
  static constexpr Stack::Word kIdle = 1;    // no entry, the actor sleeps: wake it
  static constexpr Stack::Word kClosed = 2;  // final

  static void collect(Stack& stack, Work*& into);
  static Work* pop(Work*& list);
  static WorkQueue close(Stack& stack, Work*& list);

  // At most one of the two is idle: messages_ after go_idle, urgent_ after go_held.
  Stack messages_;
  Stack urgent_;
  // What was taken from them, linked, the oldest first.
  Work* message_list_ = nullptr;
  Work* urgent_list_ = nullptr;
};

}  // namespace millrace::actors
