// LoopSeat: who may run a loop now: its own thread, or one that waits for what the loop completes.
// Internal to event_loop_base.h.
#pragma once

#include <atomic>
#include <cstdint>

namespace millrace {

// Its holder sees all that the holder before has written. Thread-safety: as each group says.
class LoopSeat {
 public:
  enum class State : std::uint8_t {
    kOwn,      // the loop's thread -> kOffered
    kOffered,  // a thread that waits for the loop may take it -> kOwn, kTaken
    kTaken,    // that thread has it -> kOffered, kAwaited
    kAwaited,  // and the loop's thread sleeps until it is handed back -> kOwn
  };
  State state() const { return state_.load(); }

  // The loop's thread, which has it first.
  void offer() { state_.store(State::kOffered); }
  // False: another thread has it.
  bool regain() {
    State offered = State::kOffered;
    return state_.compare_exchange_strong(offered, State::kOwn) || offered == State::kOwn;
  }
  void await() {
    while (!regain()) {
      State taken = State::kTaken;
      if (!state_.compare_exchange_strong(taken, State::kAwaited)) continue;
      state_.wait(State::kAwaited);
      return;  // no other thread could take it meanwhile
    }
  }

  // Any other thread. False: it is not offered.
  bool take() {
    State offered = state_.load();
    return offered == State::kOffered && state_.compare_exchange_strong(offered, State::kTaken);
  }
  // The thread that has taken it.
  void give() {
    State taken = State::kTaken;
    if (state_.compare_exchange_strong(taken, State::kOffered)) return;
    state_.store(State::kOwn);
    state_.notify_one();
  }

 private:
  std::atomic<State> state_{State::kOwn};
};

}  // namespace millrace
