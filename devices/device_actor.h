// DeviceActor: the one place that orders work on a device and holds its limits; the same in front
// of every Client. Calls come as operations (operation.h), each with a seat in the queue; the actor
// hands them to the client in order, as credits allow, and takes the credits back when the device
// is done.
//
//  - DA-1 only the actor's slice calls the client for this device, inside a DeviceScope.
//  - DA-2 first in, first out, with two exceptions: an operation that still waits for an argument
//    is overtaken; fetches wait for nothing but their bytes, other calls (Operation::immediate())
//    for nothing.
//  - DA-3 launches that span devices keep their order on every device. Such a launch first asks for
//    the agreement of all its devices (it is the first of its kind there, arguments included) and
//    takes credits only then; credits are held only while others wait for work that is already
//    inside a device. So neither crossed submissions nor limits can close a circle of waiting.
//  - DA-4 credits never exceed the limits, except that one operation alone always fits.
//  - DA-5 once its client has said that the device has failed, nothing waits for a call of the
//    client that does not return: until it does, whoever brings something runs the slice.
// Read next: device_actor.cc (order and limits) and device_actor_life.cc, then launch_operation.h.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "millrace/actors/mailbox.h"
#include "millrace/core/bridged_thread.h"
#include "millrace/core/environment.h"
#include "millrace/core/mutex.h"
#include "millrace/devices/device.h"
#include "millrace/devices/operation.h"

namespace millrace::devices {

// Detail of the kUnavailable that a failed device gives: who, what, since when.
struct DeviceFailure {
  DeviceId device{};
  Error cause;
  TimePoint since;
};

// Told, once, that a device has failed: on its actor's slice, or by the call that adds it. Must be
// short. Thread-safety: thread-safe.
class FailureListener {
 public:
  virtual void on_device_failed(const Error& reason) = 0;

 protected:
  ~FailureListener() = default;
};

struct DeviceActorOptions {
  Environment environment;
  DeviceLimits limits;
  // An idle actor runs on the thread that calls it, so that a cheap launch needs no wake-up. Not
  // for clients whose calls may block; without it every slice runs on the environment's executor.
  bool inline_when_idle = false;
  // For clients whose calls may block: the driver thread of each device, by its index. Left out,
  // all share the environment's executor for what blocks.
  std::vector<Executor*> drivers;
};

// Seats in order; intrusive.
class SeatList {
 public:
  bool empty() const { return first_ == nullptr; }
  Seat* first() const { return first_; }
  std::size_t size() const { return size_; }
  void push_back(Seat& seat);
  void remove(Seat& seat);

 private:
  Seat* first_ = nullptr;
  Seat* last_ = nullptr;
  std::size_t size_ = 0;
};

// Owned by Device handles, by operations and, while it is scheduled, by its executor. The client
// outlives it. Thread-safety: the first block of methods is thread-safe, the rest is confined to
// the actor's slice.
class DeviceActor final : public RefCounted, public Work {
 public:
  enum class State : std::uint8_t {
    kOpen,     // -> kFailed, kClosing
    kFailed,   // the device is gone: everything is refused with the reason -> kOpen (restarted),
               // kClosing
    kClosing,  // refuses, waits for what is in flight -> kClosed
    kClosed,   // final
  };

  DeviceActor(Client& client, const DeviceInfo& info, const DeviceActorOptions& options,
              std::shared_ptr<LaunchSequencer> sequencer);

  Client& client() const { return client_; }
  const DeviceInfo& info() const { return info_; }
  DeviceId id() const { return info_.id; }
  LaunchSequencer& sequencer() const { return *sequencer_; }
  TimerQueue& timers() const { return *options_.environment.timers; }
  DeviceStats stats() const;
  // kFailedPrecondition in the child of a fork that came after this was made: no thread runs it.
  Status check_process() const;
  Future<void> close();
  Future<void> failed() const;
  // For those who may be gone long before the device is, and come again and again: a continuation
  // of failed() would stay. A listener that is gone leaves nothing behind.
  void add_listener(std::weak_ptr<FailureListener> listener);
  Future<void> restart();
  // For the end of all, after kill() of the device, where a call of the client has not returned:
  // everything that waits here ends with `reason` at once, close() too. Where the slice's own
  // thread is in that call, the slice is taken from it and run here; when it comes back, it stands
  // still for good, since nothing of the actor is its own any more.
  void give_up(const Error& reason);
  // Something is there for the slice.
  void deliver(Work& work, bool inline_if_idle);

  // The slice, and the seats' signals in it.
  void run() noexcept override;
  void drop() noexcept override;
  void on_enter(Seat& seat);
  void on_inputs(Seat& seat);
  void on_launched(Seat& seat);
  void on_done(Seat& seat);
  void on_abandon(Seat& seat);
  void on_withdraw(Seat& seat);
  // Its last reference may go, and with it buffers: a call of the client, too.
  void let_go(Operation& operation);

 private:
  // Requests that concern the device itself.
  class Control final : public Work {
   public:
    enum Signal : std::uint32_t { kClose = 1, kFail = 2, kRestart = 4, kGiveUp = 8 };
    explicit Control(DeviceActor& actor) : actor_(actor) {}
    void signal(Signal signal);
    void run() noexcept override;
    void drop() noexcept override { run(); }

   private:
    DeviceActor& actor_;
    std::atomic<std::uint32_t> signals_{0};
  };
  // Hears from the client that the device has failed; one reference on the actor.
  class FailureWaiter final : public Waiter {
   public:
    explicit FailureWaiter(DeviceActor& actor) : actor_(actor) {}
    void on_complete(AsyncValue& value) noexcept override;

   private:
    DeviceActor& actor_;
  };

  ~DeviceActor() override;
  std::string name() const;  // "device 0 (cpu)"
  void set_state(State state);
  void watch_client();
  void refuse(Error reason);
  void on_failure(const Error& cause);
  void tell_listeners(const Error& reason);
  void on_close();
  void close_if_done();
  void restart_if_done();
  Status try_restart();
  void slice();
  void dispatch();
  bool may_run(Seat& seat, bool& spanning_ahead);
  bool has_credits(const Seat& seat) const;
  void take_credits(Seat& seat);
  void return_credits(const Seat& seat);
  void start(Seat& seat);
  template <class F>
  bool in_call(Seat* seat, F call);
  void end_given_up();
  void run_in_place_of_call();
  void run_borrowed();
  void leave(Seat& seat);
  void publish();

  friend std::vector<Device> make_devices(Client& client, const DeviceActorOptions& options);

  Client& client_;
  const DeviceInfo info_;
  const DeviceActorOptions options_;
  const unsigned generation_ = millrace::detail::fork_generation();
  Executor& executor_;
  const std::shared_ptr<LaunchSequencer> sequencer_;
  actors::Mailbox mailbox_;
  Control control_{*this};
  FailureWaiter failure_waiter_{*this};
  Future<void> client_failed_;

  // The call of a client whose calls may block that the slice is in, by a number of its own; 0:
  // none. Whoever sets a number back to 0 has the slice from then on: its thread, or give_up().
  // Whoever adds kBorrowed has it until he takes that away.
  static constexpr std::uint64_t kBorrowed = std::uint64_t{1} << 63;
  const bool calls_may_block_;
  std::atomic<std::uint64_t> call_{0};
  std::uint64_t calls_made_ = 0;
  Seat* calling_ = nullptr;  // whose call that is, if it is a seat's
  // The client has said that the device has failed: what comes waits for no call of it.
  std::atomic<bool> client_failed_now_{false};
  std::atomic<std::uint64_t> come_since_{0};  // what has come since
  std::uint64_t borrows_ = 0;
  bool borrowed_ = false;

  State state_ = State::kOpen;
  std::optional<Error> refusal_;  // why, once not open
  bool executor_lost_ = false;
  bool restart_wanted_ = false;
  Promise<void> failed_promise_;
  mutable Mutex mutex_;
  Future<void> failed_ MILLRACE_GUARDED_BY(mutex_) = failed_promise_.future();
  std::vector<Promise<void>> restarts_ MILLRACE_GUARDED_BY(mutex_);  // asked for, not answered
  std::vector<std::weak_ptr<FailureListener>> listeners_ MILLRACE_GUARDED_BY(mutex_);
  std::optional<Error> given_up_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t most_listeners_ MILLRACE_GUARDED_BY(mutex_) = 8;  // then those gone are looked for
  Promise<void> closed_promise_;
  const Future<void> closed_ = closed_promise_.future();

  SeatList queue_;      // in order: what wants credits
  SeatList immediate_;  // those that are not in the queue, and whose argument is not there yet
  std::size_t seats_in_flight_ = 0;
  TimePoint busy_since_{};
  DeviceStats now_;  // the slice's own numbers; published for stats()

  struct Published {
    std::atomic<std::uint64_t> launches{0}, puts{0}, copies{0}, fetches{0};
    std::atomic<int> launches_in_flight{0};
    std::atomic<std::size_t> bytes_in_flight{0}, peak_bytes_in_flight{0}, queued{0},
        abandoned_bytes{0};
    std::atomic<Duration::rep> busy{0};
  };
  Published published_;
};

// A Device for each device of client, with one order of the launches that span them. The client and
// what options.environment points to outlive them.
std::vector<Device> make_devices(Client& client, const DeviceActorOptions& options);

}  // namespace millrace::devices
