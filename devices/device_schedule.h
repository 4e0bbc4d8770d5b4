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
//  - DS-4 credits never exceed the limits, except that one call alone always fits. A launch that
//    waits for other processes takes none: these may wait for one behind it. What bounds such
//    launches are those that have begun (CE-3 in cpu/execution.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "millrace/core/base/clock.h"
#include "millrace/devices/device_calls.h"

namespace millrace::devices {

// The life of a device.
enum class DeviceLife : std::uint8_t {
  kOpen,     // -> kFailed, kClosing, kGivenUp
  kFailed,   // refuses calls until it is restarted -> kOpen, kClosing, kGivenUp
  kClosing,  // ends when the last call has left -> kGivenUp, kClosed
  kGivenUp,  // a call of the client has not returned: nothing is waited for -> kClosed
  kClosed,   // final
};

class PlaceList;
struct DevicePlace;

// The neighbours of a place in one list.
struct PlaceLinks {
  DevicePlace* previous = nullptr;
  DevicePlace* following = nullptr;
};

// One call's place on one device. The caller of the schedule fills in the first block before
// enter().
struct DevicePlace {
  enum class Kind : std::uint8_t { kLaunch, kPut, kCopy, kFetch, kCall };
  enum class State : std::uint8_t {
    kOutside,  // -> kQueued, kReady, kLeft
    kQueued,   // waits for arguments, votes or credits -> kQueued, kGranted, kReady, kLeft
    kGranted,  // has credits, waits for the other devices of its launch, or to be withdrawn
               // -> kReady, kRunning (another device has launched it), kLeft
    kReady,    // -> kCalling, kLeft
    kCalling,  // -> kRunning, kGranted (had failed before its turn came), kLeft
    kRunning,  // -> kReady (the client is called again), kLeft
    kLeft,     // final
  };

  Kind kind = Kind::kLaunch;
  bool spanning = false;
  bool waits_for_processes = false;  // a launch whose end is up to other processes, too
  bool inputs = false;               // the arguments are complete
  std::size_t bytes = 0;             // once they are

  // Written by the schedule alone.
  State state = State::kOutside;
  bool voted = false;  // this device agrees to a spanning launch
  bool armed = false;  // all of its devices do
  bool abandoned = false;
  std::uint64_t number = 0;  // in the order of entering
  PlaceList* list = nullptr;
  PlaceLinks links, spanning_links;

  // Counted by the limits, and held up by them.
  bool counted() const { return kind != Kind::kFetch && kind != Kind::kCall; }
  bool waits_for_credits_alone() const { return inputs && (!spanning || armed); }
};

// Places in the order of their numbers, or of their coming, linked by `links`. Thread-safety:
// external.
class PlaceList {
 public:
  explicit PlaceList(PlaceLinks DevicePlace::* links = &DevicePlace::links) : links_(links) {}

  DevicePlace* first() const { return first_; }
  // After all those with a smaller number; O(1) where that is the end.
  void insert(DevicePlace& place);
  void push_back(DevicePlace& place) { insert_after(last_, place); }
  void remove(DevicePlace& place);
  // f may remove the place that it is given.
  template <class F>
  void for_each(F f) const {
    for (DevicePlace* place = first_; place != nullptr;) {
      DevicePlace* const following = (place->*links_).following;
      f(*place);
      place = following;
    }
  }

 private:
  void insert_after(DevicePlace* previous, DevicePlace& place);

  PlaceLinks DevicePlace::* const links_;
  DevicePlace* first_ = nullptr;
  DevicePlace* last_ = nullptr;
};

// Every entry takes the same short time, however many calls wait, but where a call walks back over
// younger ones to its place: its arguments or votes were complete after theirs, or it spans devices
// and had failed before it was called. Thread-safety: external.
class DeviceSchedule {
 public:
  // The clock, for DeviceStats::busy, outlives this.
  DeviceSchedule(const DeviceLimits& limits, const Clock& clock) : limits_(limits), clock_(clock) {}
  DeviceSchedule(const DeviceSchedule&) = delete;  // places refer to its lists
  DeviceSchedule& operator=(const DeviceSchedule&) = delete;

  DeviceLife life() const { return life_; }
  void set_life(DeviceLife to);

  void enter(DevicePlace& place);
  // The arguments of a call that has entered are complete.
  void inputs_came(DevicePlace& place, std::size_t bytes);
  // A spanning launch whose turn to vote it is: voted now. nullptr: none.
  DevicePlace* vote();
  // All devices of a spanning launch have voted.
  void arm(DevicePlace& place);
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

  // The calls that the device does not have yet; then those that it has. For ending them all; calls
  // must not enter or leave meanwhile.
  template <class F>
  void for_each_waiting(F f) const {
    for (const PlaceList* list : {&waiting_, &queue_, &uncounted_, &granted_, &ready_})
      list->for_each(f);
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

  static bool may_move(State from, State to);
  PlaceList* list_of(const DevicePlace& place, State state);
  void move(DevicePlace& place, State to);
  bool has_credits(const DevicePlace& place) const;

  const DeviceLimits limits_;
  const Clock& clock_;
  DeviceLife life_ = DeviceLife::kOpen;
  std::uint64_t entered_ = 0;
  PlaceList waiting_;    // kQueued, for more than credits
  PlaceList queue_;      // kQueued, for credits alone: in the order of entering
  PlaceList uncounted_;  // kQueued, for nothing: they take no credits
  PlaceList granted_;
  PlaceList ready_;
  PlaceList begun_;                                   // kCalling, kRunning
  PlaceList spanning_{&DevicePlace::spanning_links};  // kQueued and kGranted ones that span devices
  DevicePlace* caller_ = nullptr;
  TimePoint busy_since_{};
  DeviceStats now_;
};

}  // namespace millrace::devices
