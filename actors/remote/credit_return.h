// CreditReturn: when an actor's process says to a sender that its messages have their place in the
// mailbox, so that the sender may send more. Pure. Read next: send_window.h, the sender's end.
//
//  - CR-1 a sender that asks for its credit has it as soon as there is some.
//  - CR-2 without being asked it is sent for every kAtOnce bytes: few frames where messages are
//    small and slow, and no wait where they are fast.
#pragma once

#include <cstddef>
#include <utility>

namespace millrace::actors {

// Thread-safety: external.
class CreditReturn {
 public:
  static constexpr std::size_t kAtOnce = std::size_t{32} << 10;

  // A message has its place. What is to be sent now; 0: nothing.
  std::size_t admitted(std::size_t bytes) {
    kept_ += bytes;
    return wanted_ || kept_ >= kAtOnce ? take() : 0;
  }
  // The sender asks.
  std::size_t want() {
    wanted_ = true;
    return kept_ > 0 ? take() : 0;
  }
  // With a frame that goes to the sender in any case.
  std::size_t take() {
    if (kept_ > 0) wanted_ = false;
    return std::exchange(kept_, 0);
  }
  // As one that is new.
  bool empty() const { return kept_ == 0 && !wanted_; }

 private:
  std::size_t kept_ = 0;
  bool wanted_ = false;
};

}  // namespace millrace::actors
