#include "millrace/devices/device_actor.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "millrace/actors/system.h"
#include "millrace/core/async/bridged_thread.h"
#include "millrace/core/exec/make_executor.h"
#include "millrace/devices/device_scope.h"
#include "millrace/devices/operation.h"

namespace millrace::devices {
namespace {

// Calls that a thread makes for operations of others, before the driver goes on with them.
constexpr int kCallsInARow = 16;

// How many calls this thread has made since it last came from a caller's own code.
constinit thread_local int calls_in_a_row = 0;

Seat& seat_of(DevicePlace& place) { return static_cast<Seat&>(place); }

Executor& driver_of(const Client& client, DeviceId device, const DeviceActorOptions& options) {
  if (!client.calls_may_block()) return *options.environment.compute;
  const auto i = static_cast<std::size_t>(index(device));
  return i < options.drivers.size() ? *options.drivers[i] : *options.environment.blocking;
}

// For DeviceStats::busy. Where the client measures it, this clock stands still, so that no launch
// reads the time for it.
const Clock& clock_of_schedule(const DeviceBody& body) {
  static const auto* const still = new ManualClock;  // never destroyed: actors may outlive main
  if (body.client().busy_time(body.id())) return *still;
  return body.clock();
}

}  // namespace

DeviceActor::DeviceActor(Ref<DeviceBody> body)
    : body_(std::move(body)),
      calls_may_block_(body_->client_.calls_may_block()),
      driver_(driver_of(body_->client_, body_->id(), body_->options_)),
      schedule_(body_->options_.limits, clock_of_schedule(*body_)) {
  body_->cell_ = Ref<actors::ActorCell>::share(&cell());
  body_->turns_ = this;
  const MutexLock lock(body_->mutex_);
  body_->failed_ = failed_promise_.future();
}

// What is still there when the actor was given up or has lost its executor.
DeviceActor::~DeviceActor() {
  const Error gone = refusal_ ? *refusal_ : body_->gone_error();
  while (DevicePlace* const place = schedule_.any()) {
    Seat& seat = seat_of(*place);
    seat.operation->fail(gone);
    if (seat.started) seat.operation->give_up(gone);
    leave(seat);
  }
  publish();
  if (failed_promise_.valid()) failed_promise_.set_value();
  for (Promise<void>& restarted : restarts_) restarted.set_error(gone);
  if (ends()) set_life(DeviceLife::kClosed);
}

void DeviceActor::set_life(DeviceLife to) {
  schedule_.set_life(to);
  body_->life_.store(to);
}

bool DeviceActor::ends() const {
  return schedule_.life() == DeviceLife::kClosing || schedule_.life() == DeviceLife::kGivenUp;
}

void DeviceActor::on_signals(Seat& seat, std::uint32_t signals, Operation* held) {
  if (signals & Seat::kEnter) on_enter(seat);
  if (signals & Seat::kInputs) on_inputs(seat);
  if (signals & Seat::kArm) schedule_.arm(seat);
  if ((signals & Seat::kLaunched) && seat.state == Seat::State::kGranted) {
    seat.started = true;
    schedule_.begun(seat);
  }
  if (signals & (Seat::kReturned | Seat::kOver)) body_->pass_gate_.call_returned();
  if (signals & Seat::kReturned) {
    schedule_.begun(seat);
    if (std::exchange(seat.done, false)) on_done(seat);
  }
  if (signals & Seat::kOver) leave(seat);
  if (signals & Seat::kDone) on_done(seat);
  if (signals & Seat::kAbandon) schedule_.abandon(seat);
  if ((signals & Seat::kWithdraw) && !seat.started && seat.state != Seat::State::kOutside &&
      seat.state != Seat::State::kLeft) {
    leave(seat);
  }
  if (held != nullptr) held->release();
  after_each_turn();
}

void DeviceActor::on_enter(Seat& seat) {
  Operation& operation = *seat.operation;
  if (refusal_) operation.fail(*refusal_);
  if (operation.decided()) return leave(seat);
  seat.inputs = operation.inputs_there();
  if (seat.inputs) seat.bytes = operation.bytes();
  schedule_.enter(seat);
}

void DeviceActor::on_inputs(Seat& seat) {
  if (seat.inputs || seat.state != Seat::State::kQueued || seat.operation->decided()) return;
  schedule_.inputs_came(seat, seat.operation->bytes());
}

void DeviceActor::on_done(Seat& seat) {
  if (seat.state == Seat::State::kCalling) {
    seat.done = true;
  } else if (seat.state == Seat::State::kRunning) {
    seat.operation->calls_again() ? schedule_.make_ready(seat) : leave(seat);
  }
}

void DeviceActor::leave(Seat& seat) {
  schedule_.leave(seat);
  seat.operation->left();
  seat.operation->release();
}

void DeviceActor::after_each_turn() {
  dispatch();
  restart_if_due();
  publish();
  if (schedule_.life() == DeviceLife::kClosing && schedule_.empty() && ended_.valid())
    ended_.set_value();
}

void DeviceActor::dispatch() {
  while (DevicePlace* const place = schedule_.vote()) {
    if (seat_of(*place).operation->vote(seat_of(*place))) schedule_.arm(*place);
  }
  while (DevicePlace* const place = schedule_.grant()) {
    if (!place->spanning || seat_of(*place).operation->grant()) schedule_.make_ready(*place);
  }
  while (DevicePlace* const place = schedule_.take_seat()) {
    Seat& seat = seat_of(*place);
    if (seat.started || seat.operation->begin()) return hand_out(seat);
    schedule_.pass(seat);  // failed this moment: kWithdraw follows
  }
}

void DeviceActor::hand_out(Seat& seat) {
  seat.started = true;
  seat.operation->add_ref();  // the call's
  if (may_call_here(seat)) {
    ++calls_in_a_row;
    actors::ActorCell::after_turn(&seat.call());
  } else {
    calls_in_a_row = 0;  // of the driver, where that is this thread
    driver_.submit(&seat.call());
  }
}

// DA-1.
bool DeviceActor::may_call_here(const Seat& seat) const {
  if (ForeignThreadScope::here() || is_bridged_or_inside_call()) return false;
  if (running_loop() != nullptr && (calls_may_block_ || !seat.operation->is_short())) return false;
  const bool submitted_here = seat.operation->entering_here();
  if (submitted_here) calls_in_a_row = 0;
  const PoolExecutor* const pool = current_pool();
  if (pool == &driver_) return calls_in_a_row < kCallsInARow;
  if (calls_may_block_) {
    return body_->options_.inline_when_idle && submitted_here && !seat.operation->limited() &&
           pool == nullptr;
  }
  return calls_in_a_row < kCallsInARow && (submitted_here || pool == nullptr);
}

void DeviceActor::publish() {
  // At the end the client's busy time is published too: it is not asked again.
  const DeviceLife life = schedule_.life();
  if (life == DeviceLife::kGivenUp) {
    body_->publish(schedule_.stats(), busy_at_end_);
  } else if (life == DeviceLife::kClosing && schedule_.empty()) {
    const DeviceStats& now = schedule_.stats();
    body_->publish(now, body_->client_.busy_time(body_->id()).value_or(now.busy));
  } else {
    body_->publish(schedule_.stats(), schedule_.stats().busy);
  }
  body_->pass_gate_.set_busy(life == DeviceLife::kOpen && schedule_.caller() != nullptr);
}

void DeviceActor::refuse(Error reason) {
  refusal_ = std::move(reason);
  schedule_.for_each_waiting([this](DevicePlace& place) {
    Operation& operation = *seat_of(place).operation;
    operation.fail(*refusal_);  // it leaves when kWithdraw comes round
    // A launch that spans devices, which another device's thread has begun.
    if (calls_may_block_) operation.give_up(*refusal_);
  });
}

void DeviceActor::on_failure(const Error& cause) {
  if (schedule_.life() != DeviceLife::kOpen) return;
  set_life(DeviceLife::kFailed);
  Error reason = Error(ErrorCode::kUnavailable, body_->name() + " has failed: " + cause.message())
                     .with_detail(DeviceFailure{body_->id(), cause, body_->clock().now()});
  body_->failed().ignore();  // every call fails with it too: it need not be looked at here
  failed_promise_.set_error(reason);
  body_->report_failure(reason);
  refuse(std::move(reason));
  // A call that may not return is waited for no longer.
  if (DevicePlace* const caller = calls_may_block_ ? schedule_.caller() : nullptr) {
    Operation& operation = *seat_of(*caller).operation;
    operation.give_up(cause.with_context(operation.describe() + " has not ended"));
  }
  after_each_turn();
}

Future<void> DeviceActor::on_stop(const actors::Exit& /*exit*/) {
  if (!ends()) set_life(DeviceLife::kClosing);
  if (failed_promise_.valid()) failed_promise_.set_value();
  if (!refusal_) refuse(Error(ErrorCode::kUnavailable, body_->name() + " is closed"));
  restart_if_due();
  publish();
  if (schedule_.life() == DeviceLife::kGivenUp || schedule_.empty()) return {};
  return ended_.future();
}

void DeviceActor::on_give_up(const Error& reason) {
  if (schedule_.life() == DeviceLife::kGivenUp) return;
  const bool closing = schedule_.life() == DeviceLife::kClosing;
  set_life(DeviceLife::kGivenUp);
  busy_at_end_ = body_->client_.busy_time(body_->id()).value_or(schedule_.stats().busy);
  {
    const MutexLock lock(body_->mutex_);
    body_->end_ = std::unexpected(reason);
  }
  schedule_.for_each_begun(
      [&reason](DevicePlace& place) { seat_of(place).operation->give_up(reason); });
  refuse(reason);
  if (!closing) {
    context().stop();
  } else if (ended_.valid()) {
    ended_.set_value();
  }
}

void DeviceActor::on_restart(Promise<void> restarted) {
  restarts_.push_back(std::move(restarted));
  after_each_turn();
}

// What the failure has ended still has to leave; the last one comes by here again.
void DeviceActor::restart_if_due() {
  if (restarts_.empty() || (schedule_.life() == DeviceLife::kFailed && !schedule_.empty())) return;
  const Status status = try_restart();
  for (Promise<void>& restarted : std::exchange(restarts_, {})) restarted.set(status);
}

Status DeviceActor::try_restart() {
  if (ends()) return std::unexpected(*refusal_);
  if (schedule_.life() == DeviceLife::kOpen) {
    return fail(ErrorCode::kFailedPrecondition,
                body_->name() + " was not restarted: it has not failed");
  }
  {
    const DeviceScope scope(body_->client_, body_->id());
    MILLRACE_TRY_STATUS(body_->client_.restart(body_->id()));
  }
  set_life(DeviceLife::kOpen);
  refusal_.reset();
  failed_promise_ = Promise<void>();
  {
    const MutexLock lock(body_->mutex_);
    body_->failed_ = failed_promise_.future();
  }
  body_->watch_client();
  return {};
}

std::vector<Device> make_devices(Client& client, const DeviceActorOptions& options,
                                 std::size_t most) {
  auto sequencer = std::make_shared<LaunchSequencer>();
  std::vector<Device> devices;
  const std::span<const DeviceInfo> all = client.devices();
  for (const DeviceInfo& info : all.first(std::min(most, all.size()))) {
    auto body = make_ref<DeviceBody>(client, info, options, sequencer);
    actors::spawn_alone<DeviceActor>(options.environment, body->name(),
                                     {.inline_when_idle = options.inline_when_idle}, body);
    body->watch_client();
    devices.emplace_back(std::move(body));
  }
  return devices;
}

}  // namespace millrace::devices
