// Operation: one call on its way through the queue of a device, or of several (a launch that spans
// them). Seat: its place in one of these queues. Internal to device_actor.h; read that first.
//
//  - OP-1 an operation is decided once: started (handed to the client) or failed (by an argument, a
//    stop, a deadline, a device that closes or fails). Any thread may fail it; only a device actor
//    starts it.
//  - OP-2 a seat leaves its queue exactly once, and the operation lives until all its seats have
//    left.
//  - OP-3 other threads reach a device actor only through Seat::signal, which never allocates.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "millrace/core/call_options.h"
#include "millrace/core/executor.h"
#include "millrace/core/timer_queue.h"
#include "millrace/devices/device.h"
#include "millrace/devices/pooled_array.h"

namespace millrace::devices {

class Operation;

class Seat final : public Work, public Waiter {
 public:
  enum class State : std::uint8_t {
    kOutside,   // -> kQueued, kInFlight, kLeft
    kQueued,    // -> kGranted, kInFlight, kLeft
    kGranted,   // holds credits, waits for the other devices of its operation -> kInFlight, kLeft
    kInFlight,  // -> kLeft
    kLeft,      // final
  };
  enum Signal : std::uint32_t {
    kEnter = 1,      // submitted
    kInputs = 2,     // the arguments are there
    kArm = 4,        // every device of the operation has agreed: take credits
    kLaunched = 8,   // another device of the operation has started it
    kDone = 16,      // what the operation waited for is there
    kAbandon = 32,   // the caller was cancelled, the device goes on
    kWithdraw = 64,  // the operation failed: leave the queue
  };

  Seat() = default;
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // Any thread; inline_if_idle lets an idle actor run here and now.
  void signal(Signal signal, bool inline_if_idle = false);
  // Waits for a future; kDone follows, or true: it is there already.
  bool wait_for(AsyncValue& value);

  void run() noexcept override;             // in the actor's slice
  void drop() noexcept override { run(); }  // the same: the actor knows that it is over
  void on_complete(AsyncValue& value) noexcept override;

  Operation* operation = nullptr;
  DeviceActor* device = nullptr;
  int index = 0;

  // Confined to the device's actor.
  State state = State::kOutside;
  bool voted = false;
  bool abandoned = false;
  std::size_t bytes = 0;
  Seat* previous = nullptr;
  Seat* following = nullptr;

 private:
  std::atomic<std::uint32_t> signals_{0};
};

// Thread-safety: as each method says.
class Operation : public Pooled {
 public:
  void add_ref() { refs_.fetch_add(1, std::memory_order_relaxed); }  // the caller holds one
  void release() {
    if (refs_.fetch_sub(1) == 1) destroy();
  }

  std::span<Seat> seats() const { return seats_; }
  bool spanning() const { return seats_.size() > 1; }
  // Any thread. True once all arguments are there.
  bool inputs_there() const { return pending_.load() == 0; }
  bool decided() const { return decision_.load() != Decision::kWaiting; }
  // Actors of the seats. vote: the seat's device agrees; the last one wakes the others. grant: it
  // has taken credits; true for the last one.
  void vote(Seat& voter);
  bool armed() const { return votes_.load() == seats_.size(); }
  bool grant() { return grants_.fetch_add(1) + 1 == seats_.size(); }

  // Any thread: fails it if it has not been started.
  void fail(const Error& error);
  // The actor of seat. begin: the right to start it; false if it has failed, kWithdraw follows.
  // start hands it to the client; advance comes after kDone. Both return true when the operation is
  // over on that device.
  bool begin() { return decide(Decision::kStarted); }
  bool start(Seat& seat);
  // Its call has not returned, and is waited for no longer.
  void give_up(const Error& error) { complete_with(error); }
  virtual bool advance(Seat& /*seat*/) { return true; }
  // A seat has left. The deadline holds until the last one has: other devices may run on.
  void left();

  enum class Kind : std::uint8_t { kLaunch, kPut, kCopy, kFetch, kCall };
  virtual Kind kind() const = 0;
  // Not in the queue: neither counted by the limits nor held up by them.
  bool immediate() const { return kind() == Kind::kFetch || kind() == Kind::kCall; }
  // On each device, once the arguments are there: what the limits count and, of a fetch, which they
  // do not count, what is held while it goes on for nobody (DeviceStats::abandoned_bytes).
  virtual std::size_t bytes() const = 0;
  virtual std::string describe() const = 0;  // for errors: "the put of tensor<4xf32>"

 protected:
  Operation() = default;
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // In this order, by the submitter, who holds the first reference and releases it after enter:
  // fills in the seats; puts each argument into its slot, now or when it is there; watches stop and
  // deadline; enters.
  void seat_at(std::span<Seat> seats, std::span<const Device> devices);
  void take_argument(const Argument& argument, Buffer& slot);
  void watch(const CallOptions& options);
  void enter();

  // Gives the error to the caller; false if there is a result already.
  virtual bool complete_with(const Error& error) = 0;
  // Calls the client. seat becomes kInFlight for as long as wait_for or this says: true = over at
  // once.
  virtual bool call_client(Seat& seat) = 0;
  // A stop or deadline may complete it although it was started; the device then goes on for nobody.
  virtual bool abandonable() const { return false; }
  // A stop or deadline has come after it was started: asks the device to end it early.
  virtual void stop_started() {}

 private:
  class InputWaiter;
  enum class Decision : std::uint8_t { kWaiting, kStarted, kFailed };
  struct Cancel {
    Operation* operation;
    void operator()() const;
  };

  bool decide(Decision decision) {
    Decision waiting = Decision::kWaiting;
    return decision_.compare_exchange_strong(waiting, decision);
  }
  // False once the last reference is gone: destroy() then waits for whoever asks.
  bool try_add_ref() {
    std::uint32_t refs = refs_.load();
    while (refs != 0 && !refs_.compare_exchange_weak(refs, refs + 1)) {
    }
    return refs != 0;
  }
  void input_done();
  void cancel(ErrorCode code, std::string_view why);
  void destroy();

  std::span<Seat> seats_;
  std::atomic<std::uint32_t> refs_{1};
  std::atomic<std::uint32_t> pending_{1};  // arguments, and one for the submitter
  std::atomic<std::uint32_t> votes_{0};
  std::atomic<std::uint32_t> grants_{0};
  std::atomic<std::uint32_t> left_{0};
  std::atomic<Decision> decision_{Decision::kWaiting};
  std::optional<std::stop_callback<Cancel>> stop_;
  TimerQueue* timers_ = nullptr;
  TimerQueue::Id timer_{};
};

}  // namespace millrace::devices
