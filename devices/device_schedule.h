// DeviceSchedule: which call on a device comes next. Pure: no threads, no locks, no client; the
// device's actor (device_actor.h) owns it and follows it.
//
//   kOutside -> kQueued -> kReady -> kCalling -> kRunning -> kLeft
//              waits for   waits for holds the   the device
//              credits     the seat  seat        works on it
//
//  - DS-1 one call at a time holds the seat: it alone calls the client. Others queue for it, in the
//    order in which they became ready.
//  - DS-2 first in, first out, with two exceptions: a call that still waits for an argument is
//    overtaken; calls that are not counted (fetches and questions) wait for their argument alone.
//  - DS-3 launches that span devices keep their order on every device. Such a launch first asks for
//    the vote of all its devices (each votes when it is the first spanning launch there, with its
//    arguments complete) and takes credits only then. Credits are held only while others wait for
//    work that is already inside a device. So neither crossed submissions nor limits can deadlock.
//  - DS-4 credits never exceed the limits, except that one call alone always fits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/core/base/clock.h"
#include "millrace/devices/device_calls.h"

namespace millrace::devices {

// One call's place on one device. The caller of the schedule fills in the first block before
// enter(), and the flags as they come true.
struct DevicePlace {
  enum class Kind : std::uint8_t { kLaunch, kPut, kCopy, kFetch, kCall };
  enum class State : std::uint8_t {
    kOutside,  // -> kQueued, kReady, kLeft
    kQueued,   // -> kGranted, kReady, kLeft
    kGranted,  // has credits, waits for the other devices of its launch, or to be withdrawn
               // -> kReady, kRunning (another device has launched it), kLeft
    kReady,    // -> kCalling, kLeft
    kCalling,  // -> kRunning, kGranted (had failed before its turn came), kLeft
    kRunning,  // -> kReady (the client is called again), kLeft
    kLeft,     // final
  };

  Kind kind = Kind::kLaunch;
  bool spanning = false;
  std::size_t bytes = 0;  // from the moment that inputs is true
  bool inputs = false;    // the arguments are complete
  bool voted = false;     // this device agrees to a spanning launch
  bool armed = false;     // all of its devices do

  State state = State::kOutside;  // written by the schedule alone, like the rest
  bool abandoned = false;
  DevicePlace* previous = nullptr;
  DevicePlace* following = nullptr;

  // Counted by the limits, and held up by them.
  bool counted() const { return kind != Kind::kFetch && kind != Kind::kCall; }
};

// Thread-safety: external.
class DeviceSchedule {
 public:
  // The clock, for DeviceStats::busy, outlives this.
  DeviceSchedule(const DeviceLimits& limits, const Clock& clock) : limits_(limits), clock_(clock) {}

  void enter(DevicePlace& place);
  // Arguments of a call that is not counted have come.
  void inputs_came(DevicePlace& place);
  // A spanning launch whose turn to vote it is: the caller sets voted. nullptr: none.
  DevicePlace* next_to_vote();
  // The next call that gets credits: kGranted now. nullptr: none may have any.
  DevicePlace* grant();
  // What was granted and waits for no other device, or what runs and wants to call the client
  // again.
  void make_ready(DevicePlace& place) { move(place, State::kReady); }
  // The call that takes the seat: kCalling now. nullptr: the seat is held, or no call is ready.
  DevicePlace* take_seat();
  // A call that took the seat and had failed before: it waits to be withdrawn.
  void pass(DevicePlace& place) { move(place, State::kGranted); }
  // The device works on it: the holder of the seat has called, or another device's call has begun
  // this spanning launch.
  void begun(DevicePlace& place) { move(place, State::kRunning); }
  // The caller was cancelled, the device works on.
  void abandon(DevicePlace& place);
  // From any state but kLeft, whether it was begun or not.
  void leave(DevicePlace& place);

  // The calls that the device does not have yet, in order; then those that it has. For ending them
  // all; calls must not leave meanwhile.
  template <class F>
  void for_each_waiting(F f) const {
    for (const List* list : {&queue_, &aside_, &ready_}) list->for_each(f);
  }
  template <class F>
  void for_each_begun(F f) const {
    begun_.for_each(f);
  }
  // Any call; nullptr: none.
  DevicePlace* any() const;
  bool empty() const { return any() == nullptr; }
  DevicePlace* caller() const { return caller_; }  // the holder of the seat
  // busy is that of the credits.
  const DeviceStats& stats() const { return now_; }

 private:
  using State = DevicePlace::State;
  struct List {
    void push_back(DevicePlace& place);
    void remove(DevicePlace& place);
    template <class F>
    void for_each(F f) const {
      for (DevicePlace* place = first; place != nullptr;) {
        DevicePlace* const following = place->following;
        f(*place);
        place = following;
      }
    }
    DevicePlace* first = nullptr;
    DevicePlace* last = nullptr;
  };

  static bool may_move(State from, State to);
  List* list_of(const DevicePlace& place, State state);
  void move(DevicePlace& place, State to);
  bool has_credits(const DevicePlace& place) const;

  const DeviceLimits limits_;
  const Clock& clock_;
  List queue_;  // counted: kQueued, kGranted
  List aside_;  // not counted: the same
  List ready_;
  List begun_;  // kCalling, kRunning
  DevicePlace* caller_ = nullptr;
  TimePoint busy_since_{};
  DeviceStats now_;
};

}  // namespace millrace::devices
