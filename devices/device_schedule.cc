#include "millrace/devices/device_schedule.h"

#include <algorithm>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::devices {

void DeviceSchedule::List::push_back(DevicePlace& place) {
  place.previous = last;
  place.following = nullptr;
  (last == nullptr ? first : last->following) = &place;
  last = &place;
}

void DeviceSchedule::List::remove(DevicePlace& place) {
  (place.previous == nullptr ? first : place.previous->following) = place.following;
  (place.following == nullptr ? last : place.following->previous) = place.previous;
}

bool DeviceSchedule::may_move(State from, State to) {
  constexpr auto set = [](auto... states) { return ((1U << static_cast<unsigned>(states)) | ...); };
  using enum DevicePlace::State;
  constexpr unsigned kNext[] = {
      set(kQueued, kReady, kLeft),     // kOutside
      set(kGranted, kReady, kLeft),    // kQueued
      set(kReady, kRunning, kLeft),    // kGranted
      set(kCalling, kLeft),            // kReady
      set(kRunning, kGranted, kLeft),  // kCalling
      set(kReady, kLeft),              // kRunning
      0,                               // kLeft
  };
  return (kNext[static_cast<std::size_t>(from)] & set(to)) != 0;
}

DeviceSchedule::List* DeviceSchedule::list_of(const DevicePlace& place, State state) {
  switch (state) {
    case State::kQueued:
    case State::kGranted:
      return place.counted() ? &queue_ : &aside_;
    case State::kReady:
      return &ready_;
    case State::kCalling:
    case State::kRunning:
      return &begun_;
    case State::kOutside:
    case State::kLeft:
      break;
  }
  return nullptr;
}

void DeviceSchedule::move(DevicePlace& place, State to) {
  MILLRACE_CHECK(may_move(place.state, to), "a call's place on a device has no such step");
  List* const from = list_of(place, place.state);
  List* const into = list_of(place, to);
  if (from != into) {
    if (from != nullptr) from->remove(place);
    if (into != nullptr) into->push_back(place);
    if (from != nullptr && from != &begun_) --now_.queued;
    if (into != nullptr && into != &begun_) ++now_.queued;
  }
  if (place.state == State::kCalling) caller_ = nullptr;
  if (to == State::kCalling) caller_ = &place;
  place.state = to;
}

void DeviceSchedule::enter(DevicePlace& place) {
  move(place, !place.counted() && place.inputs ? State::kReady : State::kQueued);
}

void DeviceSchedule::inputs_came(DevicePlace& place) {
  if (!place.counted() && place.state == State::kQueued) move(place, State::kReady);
}

DevicePlace* DeviceSchedule::next_to_vote() {
  for (DevicePlace* place = queue_.first; place != nullptr; place = place->following) {
    if (place->spanning) return place->inputs && !place->voted ? place : nullptr;
  }
  return nullptr;
}

bool DeviceSchedule::has_credits(const DevicePlace& place) const {
  if (place.kind == DevicePlace::Kind::kLaunch &&
      now_.launches_in_flight >= std::max(limits_.launches, 1)) {
    return false;
  }
  return now_.bytes_in_flight == 0 || now_.bytes_in_flight + place.bytes <= limits_.bytes;
}

DevicePlace* DeviceSchedule::grant() {
  bool spanning_ahead = false;
  for (DevicePlace* place = queue_.first; place != nullptr; place = place->following) {
    const bool waits_for_others = place->spanning && (spanning_ahead || !place->armed);
    spanning_ahead = spanning_ahead || place->spanning;
    if (place->state == State::kGranted || !place->inputs || waits_for_others) continue;
    if (!has_credits(*place)) return nullptr;
    move(*place, State::kGranted);
    now_.bytes_in_flight += place->bytes;
    now_.peak_bytes_in_flight = std::max(now_.peak_bytes_in_flight, now_.bytes_in_flight);
    if (place->kind == DevicePlace::Kind::kLaunch && now_.launches_in_flight++ == 0)
      busy_since_ = clock_.now();
    return place;
  }
  return nullptr;
}

DevicePlace* DeviceSchedule::take_seat() {
  DevicePlace* const next = caller_ == nullptr ? ready_.first : nullptr;
  if (next != nullptr) move(*next, State::kCalling);
  return next;
}

void DeviceSchedule::abandon(DevicePlace& place) {
  if (place.state != State::kCalling && place.state != State::kRunning) return;  // it ended
  if (std::exchange(place.abandoned, true)) return;
  now_.abandoned_bytes += place.bytes;
}

void DeviceSchedule::leave(DevicePlace& place) {
  const State from = place.state;
  move(place, State::kLeft);
  const bool begun = from == State::kCalling || from == State::kRunning;
  if (begun && place.kind != DevicePlace::Kind::kCall) {
    // In the order of Kind.
    constexpr std::uint64_t DeviceStats::* kCounts[] = {
        &DeviceStats::launches, &DeviceStats::puts, &DeviceStats::copies, &DeviceStats::fetches};
    ++(now_.*kCounts[static_cast<std::size_t>(place.kind)]);
  }
  if (place.abandoned) now_.abandoned_bytes -= place.bytes;
  if (!place.counted() || from == State::kOutside || from == State::kQueued) return;
  now_.bytes_in_flight -= place.bytes;
  if (place.kind == DevicePlace::Kind::kLaunch && --now_.launches_in_flight == 0)
    now_.busy += clock_.now() - busy_since_;
}

DevicePlace* DeviceSchedule::any() const {
  for (const List* list : {&queue_, &aside_, &ready_, &begun_}) {
    if (list->first != nullptr) return list->first;
  }
  return nullptr;
}

}  // namespace millrace::devices
