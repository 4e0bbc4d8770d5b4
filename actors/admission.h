// Admission: the bound of a mailbox, in bytes. A message that does not fit waits outside, in order,
// until the messages before it are done; the sender's future completes when it is admitted. It is
// no ByteGate, whose lock each message would take twice: here none takes a lock while none waits.
//
//  - AD-1 admitted bytes never exceed the limit, except that one message alone always fits.
//  - AD-2 no message overtakes one that waits, so the messages of one sender stay in order.
//  - AD-3 a message waits only while another is admitted, whose release lets the next one in.
//  - AD-4 a withdrawn message leaves the line: withdrawn ones in it never outnumber the others, and
//    take no room from them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "millrace/actors/envelope.h"
#include "millrace/core/base/mutex.h"

namespace millrace::actors {

// Owned by an ActorCell. Thread-safety: thread-safe, except that release, flush, next_waiting
// and close belong to the actor's slice.
class Admission {
 public:
  enum class Verdict : std::uint8_t {
    kAdmitted,  // counted: push it
    kWaiting,   // taken into the line
    kFull,      // no room, or (in wait) the line is full too: the caller keeps the message
    kClosed,    // the caller keeps the message
  };

  // Limits above 4 GiB are 4 GiB.
  Admission(std::size_t limit_bytes, std::size_t waiting_limit_bytes)
      : limit_bytes_(limited(limit_bytes)), waiting_limit_bytes_(limited(waiting_limit_bytes)) {}
  ~Admission();

  // Never waits: kAdmitted, kFull or kClosed.
  Verdict try_admit(std::size_t bytes) { return admit(bytes, false); }
  // Admits without asking for room: for notices of the system. kAdmitted or kClosed.
  Verdict admit_anyway(std::size_t bytes) { return admit(bytes, true); }
  // Admits the message or puts it into the line.
  Verdict wait(Envelope* message);

  // The message is done: releases its room now, or, where it is at most an eighth of the limit and
  // no message waits, after some more messages or a flush(): senders write the same word. True: a
  // message waits, call next_waiting until it gives nullptr.
  bool release(std::size_t bytes);
  // Releases the room that release() has kept; before the actor rests (AD-3). True: as there.
  bool flush();
  // The first in line, now admitted, if there is room. Push it before the next call (AD-2).
  Envelope* next_waiting();
  // A message was withdrawn (Envelope::withdrawn) that may be in the line. Any thread.
  void withdraw();
  // Refuses from now on; returns the envelopes that waited, in order.
  WorkQueue close();

  // close() was called.
  bool closed() const { return (word_.load() & kClosedBit) != 0; }

  struct Load {
    std::size_t messages = 0;  // admitted and not done, the one in its handler included
    std::size_t bytes = 0;
    std::size_t waiting_bytes = 0;
  };
  Load load() const;
  // After a flush.
  bool empty() const { return messages_of(word_.load()) == 0; }
  std::size_t limit_bytes() const { return limit_bytes_; }

 private:
  Verdict admit(std::size_t bytes, bool anyway);
  Verdict enter_line(Envelope* message, WorkQueue& withdrawn);
  // The word: closed, a message waits, 22 bits of messages, 40 bits of bytes.
  static constexpr std::uint64_t kClosedBit = 1ull << 63;
  static constexpr std::uint64_t kWaitingBit = 1ull << 62;
  static constexpr int kBytesBits = 40;
  static constexpr std::uint64_t kOneMessage = 1ull << kBytesBits;
  static constexpr std::uint64_t kBytesMask = kOneMessage - 1;
  static constexpr std::uint64_t kMostMessages = 1ull << 21;  // the other half is for admit_anyway

  static std::uint64_t messages_of(std::uint64_t word) {
    return (word & ~(kClosedBit | kWaitingBit)) >> kBytesBits;
  }
  // The messages that wait outside; made for the first one: most actors never have any.
  struct Line : Pooled {
    mutable Mutex mutex;
    WorkQueue queue MILLRACE_GUARDED_BY(mutex);
    std::size_t bytes MILLRACE_GUARDED_BY(mutex) = 0;
    std::size_t messages MILLRACE_GUARDED_BY(mutex) = 0;
    // At most so many have been withdrawn since the line was last looked through.
    std::size_t withdrawn MILLRACE_GUARDED_BY(mutex) = 0;

    bool fits(std::size_t more, std::size_t limit) const MILLRACE_REQUIRES(mutex) {
      return queue.empty() || bytes + more <= limit;
    }
    void push(Envelope* message) MILLRACE_REQUIRES(mutex);
    Envelope* pop() MILLRACE_REQUIRES(mutex);
    // Takes those out that were withdrawn; the caller drops them, without the lock.
    WorkQueue take_withdrawn() MILLRACE_REQUIRES(mutex);
  };
  Line& line();

  static std::uint32_t limited(std::size_t bytes) {
    return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, UINT32_MAX));
  }
  static std::uint64_t share_of(std::size_t bytes);
  bool fits(std::uint64_t word, std::uint64_t share) const;

  // What is done and still counted in word_; the slice alone writes it. First, so that it shares no
  // cache line with what senders write (actor_cell.h).
  static constexpr int kDoneAtOnce = 16;
  std::atomic<std::uint64_t> done_{0};
  int done_messages_ = 0;
  std::atomic<bool> sender_waits_{false};  // a hint: the bit in word_ is the truth

  std::atomic<std::uint64_t> word_{0};
  const std::uint32_t limit_bytes_;
  const std::uint32_t waiting_limit_bytes_;
  std::atomic<Line*> line_{nullptr};
};

}  // namespace millrace::actors
