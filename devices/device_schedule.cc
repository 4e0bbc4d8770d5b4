#include "millrace/devices/device_schedule.h"

#include <algorithm>
#include <concepts>
#include <utility>

#include "millrace/core/base/check.h"

namespace millrace::devices {

namespace {

template <class State>
constexpr unsigned set_of(std::same_as<State> auto... states) {
  return ((1U << static_cast<unsigned>(states)) | ... | 0U);
}

template <class State, std::size_t kStates>
bool is_edge(const unsigned (&next)[kStates], State from, State to) {
  return (next[static_cast<std::size_t>(from)] & set_of<State>(to)) != 0;
}

}  // namespace

void PlaceList::insert_after(DevicePlace* previous, DevicePlace& place) {
  DevicePlace*& before = previous == nullptr ? first_ : (previous->*links_).following;
  DevicePlace* const following = before;
  place.*links_ = {previous, following};
  before = &place;
  (following == nullptr ? last_ : (following->*links_).previous) = &place;
}

void PlaceList::insert(DevicePlace& place) {
  DevicePlace* previous = last_;
  while (previous != nullptr && previous->number > place.number)
    previous = (previous->*links_).previous;
  insert_after(previous, place);
}

void PlaceList::remove(DevicePlace& place) {
  const auto [previous, following] = place.*links_;
  (previous == nullptr ? first_ : (previous->*links_).following) = following;
  (following == nullptr ? last_ : (following->*links_).previous) = previous;
}

void DeviceSchedule::set_life(DeviceLife to) {
  using enum DeviceLife;
  constexpr unsigned kNext[] = {
      set_of<DeviceLife>(kFailed, kClosing, kGivenUp),  // kOpen
      set_of<DeviceLife>(kOpen, kClosing, kGivenUp),    // kFailed
      set_of<DeviceLife>(kGivenUp, kClosed),            // kClosing
      set_of<DeviceLife>(kClosed),                      // kGivenUp
      0,                                                // kClosed
  };
  MILLRACE_CHECK(is_edge(kNext, life_, to), "a device's life has no such step");
  life_ = to;
}

bool DeviceSchedule::may_move(State from, State to) {
  using enum DevicePlace::State;
  constexpr unsigned kNext[] = {
      set_of<State>(kQueued, kReady, kLeft),            // kOutside
      set_of<State>(kQueued, kGranted, kReady, kLeft),  // kQueued
      set_of<State>(kReady, kRunning, kLeft),           // kGranted
      set_of<State>(kCalling, kLeft),                   // kReady
      set_of<State>(kRunning, kGranted, kLeft),         // kCalling
      set_of<State>(kReady, kLeft),                     // kRunning
      0,                                                // kLeft
  };
  return is_edge(kNext, from, to);
}

PlaceList* DeviceSchedule::list_of(const DevicePlace& place, State state) {
  switch (state) {
    case State::kQueued:
      if (!place.waits_for_credits_alone()) return &waiting_;
      return place.waits_for_processes ? &uncounted_ : &queue_;
    case State::kGranted:
      return &granted_;
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
  PlaceList* const from = place.list;
  PlaceList* const into = list_of(place, to);
  if (from != into) {
    if (from != nullptr) from->remove(place);
    if (into != nullptr) into == &queue_ ? into->insert(place) : into->push_back(place);
    if (from != nullptr && from != &begun_) --now_.queued;
    if (into != nullptr && into != &begun_) ++now_.queued;
    place.list = into;
  }
  const auto waits = [](State state) {
    return state == State::kQueued || state == State::kGranted;
  };
  if (place.spanning && waits(place.state) != waits(to))
    waits(to) ? spanning_.insert(place) : spanning_.remove(place);
  if (place.state == State::kCalling) caller_ = nullptr;
  if (to == State::kCalling) caller_ = &place;
  place.state = to;
}

void DeviceSchedule::enter(DevicePlace& place) {
  place.number = ++entered_;
  move(place, !place.counted() && place.inputs ? State::kReady : State::kQueued);
}

void DeviceSchedule::inputs_came(DevicePlace& place, std::size_t bytes) {
  place.inputs = true;
  place.bytes = bytes;
  if (place.state == State::kQueued) move(place, place.counted() ? State::kQueued : State::kReady);
}

DevicePlace* DeviceSchedule::vote() {
  DevicePlace* const first = spanning_.first();
  if (first == nullptr || !first->inputs || std::exchange(first->voted, true)) return nullptr;
  return first;
}

void DeviceSchedule::arm(DevicePlace& place) {
  place.armed = true;
  if (place.state == State::kQueued) move(place, State::kQueued);
}

bool DeviceSchedule::has_credits(const DevicePlace& place) const {
  if (place.kind == DevicePlace::Kind::kLaunch &&
      now_.launches_in_flight >= std::max(limits_.launches, 1)) {
    return false;
  }
  return now_.bytes_in_flight == 0 || now_.bytes_in_flight + place.bytes <= limits_.bytes;
}

DevicePlace* DeviceSchedule::grant() {
  if (DevicePlace* const uncounted = uncounted_.first()) {
    move(*uncounted, State::kGranted);
    return uncounted;
  }
  DevicePlace* const place = queue_.first();
  if (place == nullptr || !has_credits(*place)) return nullptr;
  move(*place, State::kGranted);
  now_.bytes_in_flight += place->bytes;
  now_.peak_bytes_in_flight = std::max(now_.peak_bytes_in_flight, now_.bytes_in_flight);
  if (place->kind == DevicePlace::Kind::kLaunch && now_.launches_in_flight++ == 0)
    busy_since_ = clock_.now();
  return place;
}

DevicePlace* DeviceSchedule::take_seat() {
  DevicePlace* const next = caller_ == nullptr ? ready_.first() : nullptr;
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
  if (from == State::kOutside || from == State::kQueued) return;
  if (!place.counted() || place.waits_for_processes) return;
  now_.bytes_in_flight -= place.bytes;
  if (place.kind == DevicePlace::Kind::kLaunch && --now_.launches_in_flight == 0)
    now_.busy += clock_.now() - busy_since_;
}

DevicePlace* DeviceSchedule::any() const {
  for (const PlaceList* list : {&waiting_, &queue_, &uncounted_, &granted_, &ready_, &begun_}) {
    if (list->first() != nullptr) return list->first();
  }
  return nullptr;
}

}  // namespace millrace::devices
