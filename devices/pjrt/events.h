// PJRT events as futures. An event is taken over: its future completes once, with the event's
// error if it has one, and the event is destroyed once, whatever thread the plugin calls back on
// and however often. Events that never come can be given up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/devices/buffer.h"
#include "millrace/devices/pjrt/plugin.h"

namespace millrace::devices::pjrt {

class CallGate;

// Whose an event is.
struct EventSource {
  std::uint64_t client = 0;  // a number that no other client of the process ever has; 0: none's
  DeviceId device{-1};
  // It comes when a buffer goes, however the device fares: it is given up with the client only.
  bool of_buffer = false;
  bool operator==(const EventSource&) const = default;
};

// Completes where the plugin calls back, whose thread may hold locks: there it wakes who waits, and
// runs continuations on `executor` (ForeignThreadScope). At once, on this thread, if the event is
// ready. what: a literal, for errors: the call that gave the event. keep: what the plugin uses
// until the event comes, also when it was given up; the caller has it besides until the future
// completes, so that what ends with it does not end on the plugin's thread. A plugin that takes no
// callback is waited for on this thread, or on `waits` where it is given; where it cannot be waited
// for either, the event and `keep` stay for ever. So does `keep` where it gives no event, which is
// kInternal. The executor is one that runs nothing inside of post(). frees: the client's, which
// outlives the event: with it no event is destroyed within its callback.
Future<void> take_event(const Plugin& plugin, abi::Event* event, Executor& executor,
                        std::string_view what, EventSource source = {}, Owner keep = nullptr,
                        Executor* waits = nullptr, CallGate* frees = nullptr);

// Its first half: nullopt, and nothing is taken, unless the event is ready.
std::optional<Future<void>> take_ready_event(const Plugin& plugin, abi::Event* event,
                                             std::string_view what);

// For what a plugin may use and does not say until when.
void keep_for_ever(Owner owner);

// Ends the futures of a source's events that have not come, with the call and `cause`, on their
// executors, also where a thread waits for the event since the plugin takes no callback. The events
// stay the plugin's: one that comes later, or whose callback has not returned yet, is destroyed,
// its error dropped, and their executors are used no more after this.
void give_up_events(const EventSource& source, const Error& cause);
// Until no callback of the client's events is under way, so for as long as the plugin needs for its
// part of it. Blocks.
void wait_for_callbacks(std::uint64_t client);
// Events of a client that were given up and have not come yet, by the calls that gave them:
// "PJRT_LoadedExecutable_Execute (2)"; empty if there are none.
std::string events_given_up(std::uint64_t client);

}  // namespace millrace::devices::pjrt
