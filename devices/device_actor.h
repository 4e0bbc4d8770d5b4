// DeviceActor: the actor that orders work on a device and holds its limits; the same in front of
// every Client. Its state is a DeviceSchedule; calls come as operations (operation.h), each with a
// seat in the queue, whose signals are the actor's turns.
//
//   enter --turn--> queued, granted, has the seat --call--> the client --turn--> runs, left
//
//  - DA-1 no turn makes a call of the client that may block, but restart. The operation that has
//    the seat makes it after the turn, inside a DeviceScope: on this thread where that is harmless,
//    else on the device's driver. It is harmful on the thread of a user's loop or a plugin, inside
//    another call, on a pool that serves other work, and on the thread of a loop of ours unless it
//    is a short put. Where calls may block, a thread other than the driver calls only for the
//    operation that it submits, if that has neither deadline nor stop; the client's pending frees
//    come with that call. Such callers enter one after the other (device_pass.h). Exempt: restart,
//    in a turn and a DeviceScope, because the device has failed and nothing of it is in flight;
//    busy_time, failed, kill and put_memory, on any thread, because they never wait for the device.
//  - DA-2 a call that does not return keeps the seat and its credits. All other work ends by turns:
//    it fails, is closed or given up.
// A runtime, or a test, begins with make_devices(). Read next: device_schedule.h, then
// operation.h.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "millrace/actors/actor.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"
#include "millrace/devices/device_schedule.h"

namespace millrace::devices {

// Owned by its cell; its body holds what other threads may read. Thread-safety: confined to turns.
class DeviceActor final : public actors::Actor, public DeviceTurns {
 public:
  explicit DeviceActor(Ref<DeviceBody> body);
  ~DeviceActor() override;
  // Refuses everything; completes when nothing is in flight, or when it is given up.
  Future<void> on_stop(const actors::Exit& exit) override;

  void on_signals(Seat& seat, std::uint32_t signals, Operation* held) override;
  void on_failure(const Error& cause) override;
  void on_restart(Promise<void> restarted) override;
  void on_give_up(const Error& reason) override;

 private:
  void on_enter(Seat& seat);
  void on_inputs(Seat& seat);
  void on_done(Seat& seat);
  void leave(Seat& seat);
  void set_life(DeviceLife to);
  bool ends() const;
  void refuse(Error reason);
  void after_each_turn();
  void dispatch();
  void hand_out(Seat& seat);
  bool may_call_here(const Seat& seat) const;
  void restart_if_due();
  Status try_restart();
  void publish();

  const Ref<DeviceBody> body_;
  const bool calls_may_block_;
  Executor& driver_;
  DeviceSchedule schedule_;
  std::optional<Error> refusal_;  // why, unless the device is open
  Duration busy_at_end_{};        // of one that was given up
  std::vector<Promise<void>> restarts_;
  Promise<void> failed_promise_;
  Promise<void> ended_;  // while it closes
};

// A Device for each device of client, or for so many of the first, with one order of the launches
// that span them. The client and what options.environment points to outlive them; close() of each
// ends its actor.
std::vector<Device> make_devices(Client& client, const DeviceActorOptions& options,
                                 std::size_t most = ~std::size_t{0});

}  // namespace millrace::devices
