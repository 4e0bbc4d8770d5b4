// Operation: one call on its way through the queue of a device, or of several (a launch that spans
// them). Seat: its place in one of these queues. Internal to device.cc and device_actor.h;
// read that first.
//
//  - OP-1 an operation is decided once: started (handed to the client) or failed (by an argument, a
//    stop, a deadline, a device that closes or fails). Any thread may fail it; only a device actor
//    starts it.
//  - OP-2 a seat leaves its queue exactly once, and the operation lives until all its seats have
//    left. A turn that ends a seat releases the operation before the device can end: what a call
//    holds of its client is gone when close() completes.
//  - OP-3 operations reach a device actor by Seat::signal and DeviceBody::try_signal alone; neither
//    allocates.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/devices/device_body.h"
#include "millrace/devices/device_schedule.h"
#include "millrace/devices/pooled_array.h"

namespace millrace::devices {

class Operation;

// A DevicePlace with its entries: signals, which are turns of the actor, and the call of the
// client, which follows a turn. Thread-safety: signal and wait_for are thread-safe; the place
// belongs to the actor.
class Seat final : public DevicePlace, public Work, public Waiter {
 public:
  enum Signal : std::uint32_t {
    kEnter = 1,      // submitted
    kInputs = 2,     // the arguments are complete
    kArm = 4,        // every device of the operation has agreed: take credits
    kLaunched = 8,   // another device of the operation has started it
    kReturned = 16,  // the client has returned, kDone follows
    kOver = 32,      // the client has returned, and nothing is left to wait for
    kDone = 64,      // what the operation waited for has completed
    kAbandon = 128,  // the caller was cancelled, the device works on
    kWithdraw = 256  // the operation failed: leave the queue
  };

  Seat() = default;
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  // here: the turn may run on this thread, if the actor is idle (DeviceActorOptions).
  void signal(Signal signal, bool here = true);
  // The same; the caller's reference to the operation goes with it, and this may be gone after it.
  void signal_last(Signal signal, bool here = true);
  // Waits for a future; kDone follows, or true: it is complete already.
  bool wait_for(AsyncValue& value);

  // Calls the client, on this thread, and says so by kReturned or kOver.
  Work& call() { return call_; }

  void run() noexcept override;   // a turn
  void drop() noexcept override;  // the actor is gone
  void on_complete(AsyncValue& value) noexcept override;
  bool is_brief() const override { return true; }  // DA-1: on such a thread a turn calls nothing

  Operation* operation = nullptr;
  DeviceBody* device = nullptr;
  int index = 0;
  bool started = false;  // the actor's: the client has been called
  bool done = false;     // the actor's: kDone has come before kReturned

 private:
  class Call final : public Work {
   public:
    explicit Call(Seat& seat) : seat_(seat) {}
    void run() noexcept override;
    void drop() noexcept override;

   private:
    Seat& seat_;
  };

  std::atomic<std::uint32_t> signals_{0};
  Call call_{*this};
};

// Thread-safety: as each method says.
class Operation : public Pooled {
 public:
  using Kind = DevicePlace::Kind;
  // Most puts of a loop are in place. A copy of 1 MiB that no cache has takes 0.14 ms, two wake-ups
  // of threads 0.07 to 0.11 ms (two cores). Collectives of 256 KiB over two processes take 94 us in
  // place of 164, of 1 MiB over four 2.4 ms in place of 3.2, over two as long as with 64 KiB here
  // (bench_processes --part rank, medians of five).
  static constexpr std::size_t kShortBytes = std::size_t{1} << 20;

  void add_ref() { refs_.fetch_add(1, std::memory_order_relaxed); }  // the caller holds one
  void release() {
    if (refs_.fetch_sub(1) == 1) destroy();
  }

  std::span<Seat> seats() const { return seats_; }
  bool spanning() const { return seats_.size() > 1; }
  // Any thread. True once all arguments are complete.
  bool inputs_there() const { return pending_.load() == 0; }
  bool decided() const { return decision_.load() != Decision::kWaiting; }
  // With a stop or a deadline.
  bool limited() const { return timers_ != nullptr || stop_.has_value(); }
  // Its call takes no longer than to hand it to another thread does, where calls do not block.
  bool is_short() const { return kind() == Kind::kPut && bytes() <= kShortBytes; }
  // This thread is in enter().
  bool entering_here() const { return entering_ == this; }
  // Actors of the seats. vote: the seat's device agrees; the last one wakes the others, and true.
  // grant: it has taken credits; true for the last one.
  bool vote(Seat& voter);
  bool grant() { return grants_.fetch_add(1) + 1 == seats_.size(); }

  // Any thread: fails it if it has not been started.
  void fail(const Error& error);
  // The actor of seat: the right to start it; false if it has failed, kWithdraw follows.
  bool begin() { return decide(Decision::kStarted); }
  // Its call has not returned: stop waiting for it; or it ended for want of memory.
  void give_up(const Error& error) { complete_with(error); }
  // kResourceExhausted, from the std::bad_alloc that is being handled.
  Error no_memory() const;
  // Calls the client, in a DeviceScope, outside of every turn. True: it is over on that device;
  // else seat.wait_for() has been called, and kDone follows. It may throw std::bad_alloc before.
  virtual bool call_client(Seat& seat) = 0;
  // What the call has waited for is complete; on the completing thread, which must not call the
  // client.
  virtual void awaited() {}
  // After that, for the actor: call_client comes once more.
  virtual bool calls_again() const { return false; }
  // A seat has left. The deadline holds until the last one has: other devices may run on.
  void left();

  virtual Kind kind() const = 0;
  // On each device, once the arguments are complete: the bytes that the limits count. For a fetch,
  // which they do not count: the bytes held after a cancel (DeviceStats::abandoned_bytes).
  virtual std::size_t bytes() const = 0;
  virtual std::string describe() const = 0;  // for errors: "the put of tensor<4xf32>"

 protected:
  Operation() = default;
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // In this order, by the submitter, which holds the first reference and releases it after enter:
  // fills in the seats; puts each argument into its slot, now or when it completes; watches stop
  // and deadline; enters.
  void seat_at(std::span<Seat> seats, std::span<DeviceBody* const> devices);
  void seat_at(Seat& seat, DeviceBody& device);
  void take_argument(const Argument& argument, Buffer& slot);
  void watch(const CallOptions& options);
  void enter();

  // Completes the caller's future with the error; false if it has a result already.
  virtual bool complete_with(const Error& error) = 0;
  // A stop or deadline may complete it although it was started; the device then works on without a
  // caller.
  virtual bool abandonable() const { return false; }
  // A stop or deadline has come after it was started: asks the device to end it early.
  virtual void stop_started() {}

 private:
  enum class Decision : std::uint8_t { kWaiting, kStarted, kFailed };
  struct Cancel {
    Operation* operation;
    void operator()() const;
  };

  bool decide(Decision decision) {
    Decision waiting = Decision::kWaiting;
    return decision_.compare_exchange_strong(waiting, decision);
  }
  // False once the last reference is gone: destroy() then waits for the thread that asks.
  bool try_add_ref() {
    std::uint32_t refs = refs_.load();
    while (refs != 0 && !refs_.compare_exchange_weak(refs, refs + 1)) {
    }
    return refs != 0;
  }
  // These take the caller's reference. here: as in Seat::signal.
  void input_done(bool here = true);
  void signal_all(Seat::Signal signal, bool here = true);
  void cancel(ErrorCode code, std::string_view why);
  void destroy();

  static constinit thread_local const Operation* entering_;
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

// An operation whose caller has a Future<T>.
template <class T>
class ResultOperation : public Operation {
 protected:
  bool complete_with(const Error& error) override {
    return result_->try_set(std::unexpected(error));
  }
  // The last step of the submitter, once the seats and the arguments are taken; this may be gone
  // after it.
  Future<T> submitted(const CallOptions& options) {
    Future<T> future(result_);
    watch(options);
    enter();
    release();
    return future;
  }
  // All steps of an operation of one device with one argument.
  Future<T> submitted(DeviceBody& device, const Argument& argument, Buffer& slot,
                      const CallOptions& options) {
    seat_at(seat_, device);
    take_argument(argument, slot);
    return submitted(options);
  }

  const Ref<Cell<T>> result_ = make_ref<Cell<T>>();
  Seat seat_;  // of an operation of one device
};

}  // namespace millrace::devices
