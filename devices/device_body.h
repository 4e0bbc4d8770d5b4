// DeviceBody: the part of a device that handles and calls share: constants, and the state that its
// actor publishes. Read next: device_actor.h, which decides.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "millrace/actors/actor_ref.h"
#include "millrace/core/async/environment.h"
#include "millrace/core/base/mutex.h"
#include "millrace/devices/client.h"
#include "millrace/devices/device_calls.h"
#include "millrace/devices/device_pass.h"
#include "millrace/devices/device_schedule.h"
#include "millrace/devices/launch_order.h"

namespace millrace::devices {

// Detail of the kUnavailable that a failed device gives: who, what, since when.
struct DeviceFailure {
  DeviceId device{};
  Error cause;
  TimePoint since;
};

// Called once when a device has failed: in a turn of its actor, or by the call that adds it. Must
// be short. Thread-safety: thread-safe.
class FailureListener {
 public:
  virtual void on_device_failed(const Error& reason) = 0;

 protected:
  ~FailureListener() = default;
};

struct DeviceActorOptions {
  Environment environment = {};
  DeviceLimits limits = {};
  // An idle actor runs on the thread that calls it, and its call of the client too where that may
  // not hurt (device_actor.h), so that a cheap launch needs no wake-up.
  bool inline_when_idle = false;
  // For clients whose calls may block: the driver thread of each device, by its index. Left out,
  // all share the environment's executor for what blocks.
  std::vector<Executor*> drivers = {};
};

class Operation;
class Seat;

// The turns of a device's actor (device_actor.h). Thread-safety: confined to turns.
class DeviceTurns {
 public:
  // held: a reference to the seat's operation for this to release, or nullptr: the caller keeps
  // one.
  virtual void on_signals(Seat& seat, std::uint32_t signals, Operation* held) = 0;
  virtual void on_failure(const Error& cause) = 0;
  virtual void on_restart(Promise<void> restarted) = 0;
  virtual void on_give_up(const Error& reason) = 0;

 protected:
  ~DeviceTurns() = default;
};

// Owned by Device handles, by calls that have not ended, and by its actor until that has stopped:
// close() ends it. The client outlives it. Thread-safety: thread-safe.
class DeviceBody final : public RefCounted {
 public:
  DeviceBody(Client& client, const DeviceInfo& info, const DeviceActorOptions& options,
             std::shared_ptr<LaunchSequencer> sequencer);

  Client& client() const { return client_; }
  const DeviceInfo& info() const { return info_; }
  DeviceId id() const { return info_.id; }
  std::string name() const;  // "device 0 (cpu)"
  LaunchSequencer& sequencer() const { return *sequencer_; }
  const Clock& clock() const { return *options_.environment.clock; }
  TimerQueue& timers() const { return *options_.environment.timers; }
  DeviceStats stats() const;
  // For the copy that a put makes; also after the client has gone.
  Result<Client::PutMemory> put_memory(const Shape& shape) const { return put_memory_(shape); }
  // kFailedPrecondition in the child of a fork that came after this was made: no thread runs it.
  // kUnavailable once closed: the client may have gone.
  Status check_there() const;
  // False once it has failed (until its restart), closes or is closed.
  bool is_open() const { return life_.load() == DeviceLife::kOpen; }
  // The first half of that.
  Status check_process() const;
  // Why calls that reach the actor no more are refused.
  Error gone_error() const;

  Future<void> close();
  Future<void> failed() const;
  // For listeners that live shorter than the device and come again and again: a continuation of
  // failed() would stay. A listener that ends leaves nothing behind.
  void add_listener(std::weak_ptr<FailureListener> listener);
  Future<void> restart();
  // For the last close, after kill() of the device, where a call of the client has not returned:
  // fails all waiting calls with `reason` at once, and close() too.
  void give_up(const Error& reason);
  // Asks the client to report the device's failure; once, and again after each restart.
  void watch_client();
  // A turn of the actor (actors/actor_cell.h). here: it may run within this call.
  void submit(Work* turn, bool here) { here ? cell_->submit(turn) : cell_->submit_elsewhere(turn); }
  // The turn that a signal of seat would get, within this call, if the actor is idle; false: it is
  // not. held: as on_signals() takes it, if this is true.
  bool try_signal(Seat& seat, std::uint32_t signals, Operation* held);
  DeviceTurns& turns() const { return *turns_; }
  PassGate& pass_gate() { return pass_gate_; }

 private:
  friend class DeviceActor;

  void report_failure(const Error& reason);
  // For the actor. busy: instead of that in stats.
  void publish(const DeviceStats& stats, Duration busy);

  Client& client_;
  const DeviceInfo info_;
  const DeviceActorOptions options_;
  const unsigned generation_ = millrace::detail::fork_generation();
  const Client::PutMemorySource put_memory_;
  const std::shared_ptr<LaunchSequencer> sequencer_;
  Ref<actors::ActorCell> cell_;
  DeviceTurns* turns_ = nullptr;

  mutable Mutex mutex_;
  Future<void> failed_ MILLRACE_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<FailureListener>> listeners_ MILLRACE_GUARDED_BY(mutex_);
  std::size_t most_listeners_ MILLRACE_GUARDED_BY(mutex_) = 8;  // then those gone are looked for
  Status end_ MILLRACE_GUARDED_BY(mutex_);                      // what close() gives

  std::atomic<DeviceLife> life_{DeviceLife::kOpen};  // that of the schedule
  // The DeviceStats of the last turn, word by word: numbers for people, which need not fit
  // together.
  using StatsWords = std::array<std::uint64_t, sizeof(DeviceStats) / sizeof(std::uint64_t)>;
  // What callers read lies above, what turns write below.
  alignas(64) std::array<std::atomic<std::uint64_t>, StatsWords().size()> published_{};
  PassGate pass_gate_;
};

}  // namespace millrace::devices
