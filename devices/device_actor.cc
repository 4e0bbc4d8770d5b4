#include "millrace/devices/device_actor.h"

#include <algorithm>
#include <semaphore>
#include <string>
#include <utility>

#include "millrace/core/bridged_thread.h"
#include "millrace/core/check.h"
#include "millrace/devices/device_scope.h"

namespace millrace::devices {
namespace {

// Rounds of signals and dispatch before a slice lets others run.
constexpr int kRoundsPerSlice = 16;

template <class T>
void store(std::atomic<T>& to, T value) {
  to.store(value, std::memory_order_relaxed);  // numbers for people: they order nothing
}

}  // namespace

void SeatList::push_back(Seat& seat) {
  seat.previous = last_;
  seat.following = nullptr;
  (last_ == nullptr ? first_ : last_->following) = &seat;
  last_ = &seat;
  ++size_;
}

void SeatList::remove(Seat& seat) {
  (seat.previous == nullptr ? first_ : seat.previous->following) = seat.following;
  (seat.following == nullptr ? last_ : seat.following->previous) = seat.previous;
  --size_;
}

namespace {

Executor& executor_of(const Client& client, DeviceId device, const DeviceActorOptions& options) {
  if (!client.calls_may_block()) return *options.environment.compute;
  const auto i = static_cast<std::size_t>(index(device));
  return i < options.drivers.size() ? *options.drivers[i] : *options.environment.blocking;
}

}  // namespace

DeviceActor::DeviceActor(Client& client, const DeviceInfo& info, const DeviceActorOptions& options,
                         std::shared_ptr<LaunchSequencer> sequencer)
    : client_(client),
      info_(info),
      options_(options),
      executor_(executor_of(client, info.id, options)),
      sequencer_(std::move(sequencer)),
      calls_may_block_(client.calls_may_block()) {
  MILLRACE_CHECK(mailbox_.go_idle(), "a new mailbox is empty");
}

DeviceActor::~DeviceActor() {
  MILLRACE_CHECK(queue_.empty() && seats_in_flight_ == 0, "a device actor outlives its operations");
  if (failed_promise_.valid()) failed_promise_.set_value();
  if (closed_promise_.valid()) closed_promise_.set_value();
}

void DeviceActor::Control::signal(Signal signal) {
  if (signals_.fetch_or(signal) != 0) return;
  actor_.add_ref();
  actor_.deliver(*this, false);
}

void DeviceActor::Control::run() noexcept {
  const std::uint32_t signals = signals_.exchange(0);
  if (signals & kFail) actor_.on_failure(actor_.client_failed_.result().error());
  if (signals & kRestart) actor_.restart_wanted_ = true;
  if (signals & kClose) actor_.on_close();
  if (signals & kGiveUp) actor_.end_given_up();
  actor_.release();
}

void DeviceActor::deliver(Work& work, bool inline_if_idle) {
  // What the work does may let go of this.
  const Ref<DeviceActor> self = calls_may_block_ ? Ref<DeviceActor>::share(this) : nullptr;
  if (mailbox_.push_urgent(&work) != actors::Mailbox::Push::kWake) {
    if (self && client_failed_now_.load()) run_in_place_of_call();
    return;
  }
  add_ref();  // for the slice
  // On a loop that somebody else owns nothing is run nor copied: its sockets wait.
  if (inline_if_idle && options_.inline_when_idle && !client_.calls_may_block() &&
      DeviceScope::current() == nullptr && !on_bridged_thread()) {
    run();
  } else {
    executor_.submit(this);
  }
}

void DeviceActor::run() noexcept {
  {
    const DeviceScope scope(client_, id());
    for (int round = 0; round < kRoundsPerSlice; ++round) {
      slice();
      if (mailbox_.go_idle()) {
        release();
        return;
      }
    }
  }
  executor_.submit(this);
}

void DeviceActor::drop() noexcept {
  // The executor has closed. Nothing is handed to the client any more; what it still has will end.
  executor_lost_ = true;
  if (state_ == State::kOpen) set_state(State::kFailed);
  if (!refusal_)
    refuse(Error(ErrorCode::kUnavailable, name() + " lost its executor, which has closed"));
  do {
    slice();
  } while (!mailbox_.go_idle());
  release();
}

void DeviceActor::slice() {
  mailbox_.collect_urgent();
  while (Work* work = mailbox_.take_urgent()) work->run();
  dispatch();
  restart_if_done();
  close_if_done();
  publish();
}

void DeviceActor::on_enter(Seat& seat) {
  Operation& operation = *seat.operation;
  if (refusal_) operation.fail(*refusal_);
  if (operation.decided()) return leave(seat);
  seat.state = Seat::State::kQueued;
  if (!operation.immediate()) return queue_.push_back(seat);
  immediate_.push_back(seat);
  on_inputs(seat);
}

void DeviceActor::on_inputs(Seat& seat) {
  // What wants credits is found by dispatch.
  if (!seat.operation->immediate() || seat.state != Seat::State::kQueued) return;
  if (seat.operation->inputs_there()) start(seat);
}

void DeviceActor::dispatch() {
  bool spanning_ahead = false;
  for (Seat* seat = queue_.first(); seat != nullptr;) {
    Seat* const following = seat->following;
    if (may_run(*seat, spanning_ahead)) {
      seat->bytes = seat->operation->bytes();
      if (!has_credits(*seat)) return;
      take_credits(*seat);
      if (seat->operation->spanning() && !seat->operation->grant()) {
        seat->state = Seat::State::kGranted;
        spanning_ahead = true;
      } else {
        const std::uint64_t before = borrows_;
        start(*seat);
        if (borrows_ != before) return dispatch();  // others have been here: the queue is another
      }
    }
    seat = following;
  }
}

// True: seat wants credits now. DA-2 and DA-3.
bool DeviceActor::may_run(Seat& seat, bool& spanning_ahead) {
  Operation& operation = *seat.operation;
  if (operation.decided()) return false;  // kWithdraw or kLaunched is on its way
  const bool there = operation.inputs_there();
  if (!operation.spanning()) return there;
  if (spanning_ahead) return false;
  if (there && !seat.voted) {
    seat.voted = true;
    operation.vote(seat);
  }
  if (there && operation.armed() && seat.state == Seat::State::kQueued) return true;
  spanning_ahead = true;
  return false;
}

bool DeviceActor::has_credits(const Seat& seat) const {
  if (seat.operation->kind() == Operation::Kind::kLaunch &&
      now_.launches_in_flight >= std::max(options_.limits.launches, 1)) {
    return false;
  }
  return now_.bytes_in_flight == 0 || now_.bytes_in_flight + seat.bytes <= options_.limits.bytes;
}

void DeviceActor::take_credits(Seat& seat) {
  now_.bytes_in_flight += seat.bytes;
  now_.peak_bytes_in_flight = std::max(now_.peak_bytes_in_flight, now_.bytes_in_flight);
  if (seat.operation->kind() != Operation::Kind::kLaunch) return;
  if (now_.launches_in_flight++ == 0) busy_since_ = options_.environment.clock->now();
}

void DeviceActor::return_credits(const Seat& seat) {
  now_.bytes_in_flight -= seat.bytes;
  if (seat.operation->kind() != Operation::Kind::kLaunch) return;
  if (--now_.launches_in_flight == 0) now_.busy += options_.environment.clock->now() - busy_since_;
}

void DeviceActor::start(Seat& seat) {
  Operation& operation = *seat.operation;
  if (!operation.begin()) {  // failed this moment: kWithdraw gives the credits back
    seat.state = operation.immediate() ? Seat::State::kQueued : Seat::State::kGranted;
    return;
  }
  (operation.immediate() ? immediate_ : queue_).remove(seat);
  ++seats_in_flight_;
  // Before the call: whoever gives it up reads them.
  seat.state = Seat::State::kInFlight;
  if (operation.immediate()) seat.bytes = operation.bytes();
  if (in_call(&seat, [&] { return operation.start(seat); })) leave(seat);
}

// What call gives; does not return where the slice was given up meanwhile.
template <class F>
bool DeviceActor::in_call(Seat* seat, F call) {
  if (!calls_may_block_ || borrowed_) return call();
  const std::uint64_t number = ++calls_made_;
  calling_ = seat;
  call_.store(number);
  const bool over = call();
  std::uint64_t ours = number;
  while (!call_.compare_exchange_strong(ours, 0)) {
    if (ours == (number | kBorrowed)) {  // a moment
      call_.wait(ours);
      ours = number;
      continue;
    }
    std::binary_semaphore never(0);
    never.acquire();
  }
  return over;
}

// The client has failed, and the slice's thread may be in a call of it that does not return: then
// all that has come ends here. Nothing is lost between two who do this: the one that is second
// leaves it to the first, who looks again.
void DeviceActor::run_in_place_of_call() {
  const DeviceScope* const scope = DeviceScope::current();
  if (scope != nullptr && &scope->client() == &client_ && scope->device() == id()) return;
  come_since_.fetch_add(1);
  for (;;) {
    std::uint64_t number = call_.load();
    if (number == 0 || (number & kBorrowed) != 0) return;
    if (!call_.compare_exchange_strong(number, number | kBorrowed)) continue;
    const std::uint64_t come = come_since_.load();
    run_borrowed();
    call_.store(number);
    call_.notify_all();
    if (come_since_.load() == come) return;
  }
}

// The slice in the middle of a call: no other is begun.
void DeviceActor::run_borrowed() {
  if (!client_failed_.ready() || client_failed_.result()) return;  // of a life before
  borrowed_ = true;
  ++borrows_;
  const Error& cause = client_failed_.result().error();
  on_failure(cause);
  if (calling_ != nullptr) {
    Operation& operation = *calling_->operation;
    operation.give_up(cause.with_context(operation.describe() + " has not ended"));
  }
  mailbox_.collect_urgent();
  while (Work* work = mailbox_.take_urgent()) work->run();
  publish();
  borrowed_ = false;
}

void DeviceActor::let_go(Operation& operation) {
  in_call(nullptr, [&] {
    operation.release();
    return true;
  });
}

void DeviceActor::on_launched(Seat& seat) {
  queue_.remove(seat);
  ++seats_in_flight_;
  seat.state = Seat::State::kInFlight;
}

void DeviceActor::on_done(Seat& seat) {
  if (borrowed_) {
    seat.operation->give_up(*refusal_);
    return leave(seat);
  }
  if (in_call(&seat, [&] { return seat.operation->advance(seat); })) leave(seat);
}

void DeviceActor::on_abandon(Seat& seat) {
  if (seat.state != Seat::State::kInFlight) return;  // it ended meanwhile
  seat.abandoned = true;
  now_.abandoned_bytes += seat.bytes;
}

void DeviceActor::on_withdraw(Seat& seat) {
  if (seat.state == Seat::State::kQueued || seat.state == Seat::State::kGranted) leave(seat);
  // kOutside: kEnter is still to come and sees the same.
}

void DeviceActor::leave(Seat& seat) {
  Operation& operation = *seat.operation;
  const Operation::Kind kind = operation.kind();
  const Seat::State from = std::exchange(seat.state, Seat::State::kLeft);
  MILLRACE_CHECK(from != Seat::State::kLeft, "a seat leaves once (OP-2)");
  const bool counted = !operation.immediate();
  if (from == Seat::State::kQueued || from == Seat::State::kGranted) {
    (counted ? queue_ : immediate_).remove(seat);
  }
  if (from == Seat::State::kInFlight) {
    --seats_in_flight_;
    switch (kind) {
      case Operation::Kind::kLaunch:
        ++now_.launches;
        break;
      case Operation::Kind::kPut:
        ++now_.puts;
        break;
      case Operation::Kind::kCopy:
        ++now_.copies;
        break;
      case Operation::Kind::kFetch:
        ++now_.fetches;
        break;
      case Operation::Kind::kCall:
        break;
    }
    if (seat.abandoned) now_.abandoned_bytes -= seat.bytes;
  }
  if (counted && (from == Seat::State::kInFlight || from == Seat::State::kGranted))
    return_credits(seat);
  operation.left();
  let_go(operation);
}

void DeviceActor::publish() {
  store(published_.launches, now_.launches);
  store(published_.puts, now_.puts);
  store(published_.copies, now_.copies);
  store(published_.fetches, now_.fetches);
  store(published_.launches_in_flight, now_.launches_in_flight);
  store(published_.bytes_in_flight, now_.bytes_in_flight);
  store(published_.peak_bytes_in_flight, now_.peak_bytes_in_flight);
  store(published_.queued, queue_.size() + immediate_.size());
  store(published_.abandoned_bytes, now_.abandoned_bytes);
  store(published_.busy, now_.busy.count());
}

DeviceStats DeviceActor::stats() const {
  DeviceStats stats;
  stats.launches = published_.launches.load();
  stats.puts = published_.puts.load();
  stats.copies = published_.copies.load();
  stats.fetches = published_.fetches.load();
  stats.launches_in_flight = published_.launches_in_flight.load();
  stats.bytes_in_flight = published_.bytes_in_flight.load();
  stats.peak_bytes_in_flight = published_.peak_bytes_in_flight.load();
  stats.queued = published_.queued.load();
  stats.abandoned_bytes = published_.abandoned_bytes.load();
  stats.busy = client_.busy_time(id()).value_or(Duration(published_.busy.load()));
  return stats;
}

std::vector<Device> make_devices(Client& client, const DeviceActorOptions& options) {
  auto sequencer = std::make_shared<LaunchSequencer>();
  std::vector<Device> devices;
  for (const DeviceInfo& info : client.devices()) {
    auto actor = make_ref<DeviceActor>(client, info, options, sequencer);
    actor->watch_client();
    devices.emplace_back(std::move(actor));
  }
  return devices;
}

}  // namespace millrace::devices
