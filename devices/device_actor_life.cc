// DeviceActor's life: failure and who is told of it, restart, close, and being given up.
#include <algorithm>
#include <string>
#include <utility>

#include "millrace/core/bridged_thread.h"
#include "millrace/core/check.h"
#include "millrace/devices/device_actor.h"

namespace millrace::devices {

std::string DeviceActor::name() const {
  return "device " + std::to_string(index(id())) + " (" + info_.kind + ")";
}

void DeviceActor::watch_client() {
  client_failed_ = client_.failed(id());
  if (!client_failed_.valid()) return;
  add_ref();
  client_failed_.cell()->add_waiter(&failure_waiter_);
}

void DeviceActor::FailureWaiter::on_complete(AsyncValue& value) noexcept {
  if (value.error() != nullptr) {
    actor_.client_failed_now_.store(true);
    actor_.control_.signal(Control::kFail);
  }
  actor_.release();
}

void DeviceActor::refuse(Error reason) {
  refusal_ = std::move(reason);
  for (const SeatList* list : {&queue_, &immediate_}) {
    for (Seat* seat = list->first(); seat != nullptr; seat = seat->following) {
      seat->operation->fail(*refusal_);  // it leaves when kWithdraw comes round
    }
  }
}

void DeviceActor::on_failure(const Error& cause) {
  if (state_ != State::kOpen) return;
  set_state(State::kFailed);
  const TimePoint now = options_.environment.clock->now();
  Error reason = Error(ErrorCode::kUnavailable, name() + " has failed: " + cause.message())
                     .with_detail(DeviceFailure{id(), cause, now});
  failed().ignore();  // every call tells it too: it need not be looked at here
  failed_promise_.set_error(reason);
  tell_listeners(reason);
  refuse(std::move(reason));
  if (!calls_may_block_) return;
  // Launches that span devices, which the thread of another device has begun.
  for (Seat* seat = queue_.first(); seat != nullptr; seat = seat->following) {
    if (seat->operation->decided()) seat->operation->give_up(*refusal_);
  }
}

// failed_ is complete already: who is not in the list now finds that.
void DeviceActor::tell_listeners(const Error& reason) {
  std::vector<std::weak_ptr<FailureListener>> told;
  {
    MutexLock lock(mutex_);
    told.swap(listeners_);
  }
  for (const auto& listener : told) {
    if (const auto alive = listener.lock()) alive->on_device_failed(reason);
  }
}

void DeviceActor::add_listener(std::weak_ptr<FailureListener> listener) {
  Future<void> failed;
  {
    MutexLock lock(mutex_);
    failed = failed_;
    if (!failed.ready()) {
      if (listeners_.size() >= most_listeners_) {
        std::erase_if(listeners_, [](const auto& one) { return one.expired(); });
        most_listeners_ = std::max<std::size_t>(8, 2 * listeners_.size());
      }
      listeners_.push_back(std::move(listener));
      return;
    }
  }
  const auto alive = listener.lock();
  if (alive && !failed.result()) alive->on_device_failed(failed.result().error());
}

void DeviceActor::on_close() {
  if (state_ == State::kClosing || state_ == State::kClosed) return;
  set_state(State::kClosing);
  if (failed_promise_.valid()) failed_promise_.set_value();
  if (!refusal_) refuse(Error(ErrorCode::kUnavailable, name() + " is closed"));
}

Future<void> DeviceActor::failed() const {
  MutexLock lock(mutex_);
  return failed_;
}

Status DeviceActor::check_process() const {
  if (millrace::detail::fork_generation() == generation_) [[likely]]
    return {};
  return fail(ErrorCode::kFailedPrecondition,
              name() +
                  " belongs to the process that this one was forked from, where its threads are: "
                  "fork before the first runtime is made, or exec");
}

Future<void> DeviceActor::restart() {
  if (const Status here = check_process(); !here) return here.error();
  Promise<void> promise;
  Future<void> restarted = promise.future();
  {
    MutexLock lock(mutex_);
    restarts_.push_back(std::move(promise));
  }
  control_.signal(Control::kRestart);
  return restarted;
}

// What the failure has ended still has to leave; the last one comes by here again.
void DeviceActor::restart_if_done() {
  if (!restart_wanted_) return;
  const bool busy = !queue_.empty() || !immediate_.empty() || seats_in_flight_ != 0;
  if (state_ == State::kFailed && busy && !executor_lost_) return;
  restart_wanted_ = false;
  const Status status = try_restart();
  std::vector<Promise<void>> restarts;
  {
    MutexLock lock(mutex_);
    restarts.swap(restarts_);
  }
  for (Promise<void>& promise : restarts) promise.set(status);
}

Status DeviceActor::try_restart() {
  if (state_ == State::kOpen) {
    return fail(ErrorCode::kFailedPrecondition, name() + " was not restarted: it has not failed");
  }
  if (state_ != State::kFailed || executor_lost_) return std::unexpected(*refusal_);
  MILLRACE_TRY_STATUS(client_.restart(id()));
  set_state(State::kOpen);
  client_failed_now_.store(false);
  refusal_.reset();
  failed_promise_ = Promise<void>();
  {
    MutexLock lock(mutex_);
    failed_ = failed_promise_.future();
  }
  watch_client();
  return {};
}

void DeviceActor::close_if_done() {
  if (state_ != State::kClosing || !queue_.empty() || !immediate_.empty() || seats_in_flight_ != 0)
    return;
  set_state(State::kClosed);
  publish();
  if (closed_promise_.valid()) closed_promise_.set_value();  // else it was given up
}

void DeviceActor::set_state(State state) {
  const bool allowed =
      (state_ == State::kOpen && (state == State::kFailed || state == State::kClosing)) ||
      (state_ == State::kFailed && (state == State::kOpen || state == State::kClosing)) ||
      (state_ == State::kClosing && state == State::kClosed);
  MILLRACE_CHECK(allowed, "a device actor goes open <-> failed -> closing -> closed");
  state_ = state;
}

Future<void> DeviceActor::close() {
  if (const Status here = check_process(); !here) return here.error();
  control_.signal(Control::kClose);
  return closed_;
}

void DeviceActor::give_up(const Error& reason) {
  {
    MutexLock lock(mutex_);
    given_up_ = reason;
  }
  std::uint64_t number = call_.load();
  while ((number & kBorrowed) != 0) {
    call_.wait(number);
    number = call_.load();
  }
  if (number == 0 || !call_.compare_exchange_strong(number, 0)) {
    // It waits for what another device's thread is to end, or came back this moment.
    control_.signal(Control::kGiveUp);
    return;
  }
  executor_lost_ = true;
  if (calling_ != nullptr) calling_->operation->give_up(reason);
  if (!refusal_) refuse(reason);
  do {
    slice();
  } while (!mailbox_.go_idle());
  end_given_up();
  release();
}

void DeviceActor::end_given_up() {
  if (!closed_promise_.valid()) return;
  std::optional<Error> reason;
  {
    MutexLock lock(mutex_);
    reason = given_up_;
  }
  if (!refusal_) refuse(*reason);
  closed_promise_.set_error(*std::move(reason));
}

}  // namespace millrace::devices
