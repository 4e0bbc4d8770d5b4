#include "millrace/devices/operation.h"

#include <exception>
#include <new>
#include <utility>

#include "millrace/core/async/future.h"
#include "millrace/devices/device_scope.h"

namespace millrace::devices {

constinit thread_local const Operation* Operation::entering_ = nullptr;

void Seat::signal(Signal signal, bool here) {
  operation->add_ref();
  signal_last(signal, here);
}

void Seat::signal_last(Signal signal, bool here) {
  // The turn that an earlier signal has submitted sees this one, too.
  if (signals_.fetch_or(signal) != 0) return operation->release();
  device->submit(this, here);
}

bool Seat::wait_for(AsyncValue& value) {
  if (value.complete()) {
    static_cast<void>(value.error());  // looked at: the same error is in the results
    return true;
  }
  operation->add_ref();
  value.add_waiter(this);
  return false;
}

void Seat::on_complete(AsyncValue& /*value*/) noexcept {
  operation->awaited();
  signal_last(kDone);
}

void Seat::run() noexcept { device->turns().on_signals(*this, signals_.exchange(0), operation); }

// A seat that has entered is the actor's, which ends it.
void Seat::drop() noexcept {
  Operation* const held = operation;
  if ((signals_.exchange(0) & kEnter) != 0) {
    held->fail(device->gone_error());
    held->left();
    held->release();
  }
  held->release();
}

void Seat::Call::run() noexcept {
  Operation& operation = *seat_.operation;
  bool over = false;
  {
    const DeviceScope scope(seat_.device->client(), seat_.device->id());
    try {
      over = operation.call_client(seat_);
    } catch (const std::bad_alloc&) {
      operation.give_up(operation.no_memory());
      over = true;
    }
  }
  const Signal signal = over ? kOver : kReturned;
  if (!seat_.device->try_signal(seat_, signal, &operation)) seat_.signal_last(signal);
}

// The driver has closed.
void Seat::Call::drop() noexcept {
  Operation& operation = *seat_.operation;
  operation.give_up(seat_.device->gone_error());
  seat_.signal_last(kOver);
}

void Operation::take_argument(const Argument& argument, Buffer& slot) {
  if (!argument.future().valid()) {
    slot = argument.buffer();
  } else if (argument.future().ready() && argument.future().result()) {
    slot = *argument.future().result();
  } else {
    pending_.fetch_add(1);
    argument.future()
        .then(inline_executor(),
              [held = Ref<Operation>::share(this), &slot](const Result<Buffer>& result) mutable {
                if (result) {
                  slot = *result;
                } else {
                  held->fail(result.error());
                }
                held.detach()->input_done();
              })
        .ignore();
  }
}

void Operation::input_done(bool here) {
  if (pending_.fetch_sub(1) != 1) return release();
  signal_all(Seat::kInputs, here);
}

void Operation::signal_all(Seat::Signal signal, bool here) {
  for (Seat& seat : seats_.first(seats_.size() - 1)) seat.signal(signal, here);
  seats_.back().signal_last(signal, here);
}

void Operation::seat_at(Seat& seat, DeviceBody& device) {
  DeviceBody* const devices[] = {&device};
  seat_at({&seat, 1}, devices);
}

void Operation::seat_at(std::span<Seat> seats, std::span<DeviceBody* const> devices) {
  seats_ = seats;
  for (std::size_t i = 0; i < seats.size(); ++i) {
    Seat& seat = seats[i];
    seat.operation = this;
    seat.device = devices[i];
    seat.device->add_ref();
    seat.index = static_cast<int>(i);
    seat.kind = kind();
    seat.spanning = seats.size() > 1;
    add_ref();  // until the seat has left
  }
}

void Operation::enter() {
  // Arguments that are there before other threads could have seen the seats need no kInputs.
  std::uint32_t only_us = 1;
  const bool waits = !pending_.compare_exchange_strong(only_us, 0);
  // Inside of another call of this thread it would wait for itself.
  std::optional<Pass> pass;
  if (entering_ == nullptr && !spanning() && !waits && !limited())
    pass.emplace(seats_[0].device->pass_gate());
  const Operation* const outer = std::exchange(entering_, this);
  // One that spans devices enters under its sequencer's lock: nothing runs there.
  for (Seat& seat : seats_) {
    if (spanning() || !seat.device->try_signal(seat, Seat::kEnter, nullptr))
      seat.signal(Seat::kEnter, !spanning());
  }
  entering_ = outer;
  if (!waits) return;
  add_ref();
  input_done(!spanning());
}

void Operation::watch(const CallOptions& options) {
  if (options.deadline != kNoDeadline) {
    timers_ = &seats_[0].device->timers();
    timer_ = timers_->schedule(options.deadline, [held = Ref<Operation>::share(this)]() mutable {
      held.detach()->cancel(ErrorCode::kDeadlineExceeded, " did not end before its deadline");
    });
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
}

void Operation::cancel(ErrorCode code, std::string_view why) {
  const Error error(code, describe() + std::string(why));
  if (decide(Decision::kFailed)) {
    complete_with(error);
    return signal_all(Seat::kWithdraw);
  }
  if (decision_.load() != Decision::kStarted) return release();
  stop_started();
  // Started before, or meanwhile: the caller need not wait for what the device still does.
  if (!abandonable() || !complete_with(error)) return release();
  signal_all(Seat::kAbandon);
}

void Operation::fail(const Error& error) {
  if (!decide(Decision::kFailed)) return;
  complete_with(error);
  add_ref();
  signal_all(Seat::kWithdraw);
}

bool Operation::vote(Seat& voter) {
  if (votes_.fetch_add(1) + 1 < seats_.size()) return false;
  for (Seat& seat : seats_) {
    if (&seat != &voter) seat.signal(Seat::kArm);
  }
  return true;
}

Error Operation::no_memory() const {
  return detail::exception_to_error(std::current_exception()).with_context(describe());
}

void Operation::destroy() {
  stop_.reset();  // waits for a stop callback that runs just now, and uses all of this
  for (Seat& seat : seats_) seat.device->release();
  delete this;
}

}  // namespace millrace::devices
