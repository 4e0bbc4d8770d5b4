#include "millrace/devices/operation.h"

#include <utility>

#include "millrace/devices/device_actor.h"

namespace millrace::devices {

void Seat::signal(Signal signal, bool inline_if_idle) {
  if (signals_.fetch_or(signal) != 0)
    return;              // whoever came first has put the seat into the mailbox
  operation->add_ref();  // for the stay in the mailbox
  device->deliver(*this, inline_if_idle);
}

bool Seat::wait_for(AsyncValue& value) {
  if (value.complete()) {
    static_cast<void>(value.error());  // looked at: the same error is in the results
    return true;
  }
  value.add_waiter(this);
  return false;
}

void Seat::on_complete(AsyncValue& /*value*/) noexcept { signal(kDone); }

void Seat::run() noexcept {
  Operation* const held = operation;
  const std::uint32_t signals = signals_.exchange(0);
  if (signals & kEnter) device->on_enter(*this);
  if (signals & kInputs) device->on_inputs(*this);
  // kArm only wakes the actor: it looks at every seat in its queue after the signals.
  if (signals & kLaunched) device->on_launched(*this);
  if (signals & kDone) device->on_done(*this);
  if (signals & kAbandon) device->on_abandon(*this);
  DeviceActor* const actor = device;
  if (signals & kWithdraw) device->on_withdraw(*this);
  actor->let_go(*held);
}

// Waits for one argument whose handle is not there yet; keeps the operation alive until then.
class Operation::InputWaiter final : public Waiter, public Pooled {
 public:
  InputWaiter(Operation& operation, Buffer& slot, Future<Buffer> future)
      : operation_(operation), slot_(slot), future_(std::move(future)) {
    operation.add_ref();
  }
  void start() { future_.cell()->add_waiter(this); }
  void on_complete(AsyncValue& /*value*/) noexcept override {
    if (const Result<Buffer>& result = future_.result()) {
      slot_ = *result;
    } else {
      operation_.fail(result.error());
    }
    Operation& operation = operation_;
    delete this;
    operation.input_done();
    operation.release();
  }

 private:
  Operation& operation_;
  Buffer& slot_;
  const Future<Buffer> future_;
};

void Operation::take_argument(const Argument& argument, Buffer& slot) {
  if (!argument.future().valid()) {
    slot = argument.buffer();
  } else if (argument.future().ready() && argument.future().result()) {
    slot = *argument.future().result();
  } else {
    pending_.fetch_add(1);
    (new InputWaiter(*this, slot, argument.future()))->start();
  }
}

void Operation::input_done() {
  if (pending_.fetch_sub(1) != 1) return;
  for (Seat& seat : seats_) seat.signal(Seat::kInputs);
}

void Operation::seat_at(std::span<Seat> seats, std::span<const Device> devices) {
  seats_ = seats;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    Seat& seat = seats[i];
    seat.operation = this;
    seat.device = devices[i].actor().get();
    seat.device->add_ref();
    seat.index = static_cast<int>(i);
    add_ref();  // until the seat has left
  }
}

void Operation::enter() {
  // Nobody signals kInputs for arguments that are there before anybody could have seen the seats.
  std::uint32_t only_us = 1;
  const bool waits = !pending_.compare_exchange_strong(only_us, 0);
  for (Seat& seat : seats_) seat.signal(Seat::kEnter, !spanning());
  if (waits) input_done();
}

void Operation::watch(const CallOptions& options) {
  if (options.deadline != kNoDeadline) {
    // Keeps the operation alive until it has run or was dropped.
    struct Expire {
      Operation* operation;
      explicit Expire(Operation* o) : operation(o) { operation->add_ref(); }
      Expire(Expire&& other) noexcept : operation(std::exchange(other.operation, nullptr)) {}
      ~Expire() {
        if (operation != nullptr) operation->release();
      }
      void operator()() const {
        operation->cancel(ErrorCode::kDeadlineExceeded, " did not end before its deadline");
      }
    };
    timers_ = &seats_[0].device->timers();
    timer_ = timers_->schedule(options.deadline, Expire(this));
  }
  if (options.stop.stop_possible()) stop_.emplace(options.stop, Cancel{this});
}

void Operation::left() {
  if (left_.fetch_add(1) + 1 == seats_.size() && timers_ != nullptr) timers_->cancel(timer_);
}

void Operation::Cancel::operator()() const {
  // A stop holds no reference, and its signals must not outlive the operation. This object may go
  // with it.
  Operation* const held = operation;
  if (!held->try_add_ref()) return;
  held->cancel(ErrorCode::kCancelled, " was stopped on request");
  held->release();
}

void Operation::cancel(ErrorCode code, std::string_view why) {
  const Error error(code, describe() + std::string(why));
  if (!decided()) fail(error);
  if (decision_.load() != Decision::kStarted) return;
  stop_started();
  // Started before, or meanwhile: the caller need not wait for what the device still does.
  if (!abandonable() || !complete_with(error)) return;
  for (Seat& seat : seats_) seat.signal(Seat::kAbandon);
}

void Operation::fail(const Error& error) {
  if (!decide(Decision::kFailed)) return;
  complete_with(error);
  for (Seat& seat : seats_) seat.signal(Seat::kWithdraw);
}

void Operation::vote(Seat& voter) {
  if (votes_.fetch_add(1) + 1 < seats_.size()) return;
  for (Seat& seat : seats_) {
    if (&seat != &voter) seat.signal(Seat::kArm);
  }
}

bool Operation::start(Seat& seat) { return call_client(seat); }

void Operation::destroy() {
  stop_.reset();  // waits for a stop request that is just being told, which still uses all of this
  for (Seat& seat : seats_) seat.device->release();
  delete this;
}

}  // namespace millrace::devices
