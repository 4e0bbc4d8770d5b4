// PJRT events as futures. An event is taken over: its future completes once, with the event's
// error if it has one, and the event is destroyed once, whatever thread the plugin calls back on
// and however often.
#pragma once

#include "millrace/core/executor.h"
#include "millrace/core/future.h"
#include "millrace/devices/pjrt/plugin.h"

namespace millrace::devices::pjrt {

// Completes on `executor`: the plugin's thread, which may hold locks of its own, only posts. At
// once, on this thread, if the event is ready. what: for errors, e.g. the call that gave the event.
Future<void> take_event(const Plugin& plugin, abi::Event* event, Executor& executor,
                        std::string_view what);

}  // namespace millrace::devices::pjrt
