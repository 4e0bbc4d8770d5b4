// PjrtClientOptions: what a PjrtClient is made with. Read next: client.h.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "millrace/core/async/executor.h"
#include "millrace/core/async/key_value_store.h"
#include "millrace/core/async/timer_queue.h"
#include "millrace/core/base/clock.h"
#include "millrace/core/observe/trace.h"
#include "millrace/devices/client.h"
#include "millrace/devices/pjrt/key_values.h"

namespace millrace::devices::pjrt {

struct PjrtClientOptions {
  Executor* completions = nullptr;  // where events' futures complete; outlives the client
  // Where calls are made that other threads than device actors want: what waits for an event, and
  // what frees unless `frees` is there. nullptr: on those threads, which then may block.
  Executor* driver = nullptr;
  // One thread for what frees, which no other call holds up; outlives the client. The futures
  // of what was lent to a buffer complete there.
  Executor* frees = nullptr;
  Attributes settings;  // create options, as the plugin defines them
  // For the plugin's parts in other processes. It is used no more once the client was destroyed or
  // given up, or stays for buffers that are held.
  KeyValueStore* store = nullptr;
  std::string store_prefix;               // before its keys
  std::shared_ptr<KeyValues> key_values;  // of `store`, unless create() is to make them
  const Clock* clock = &steady_clock();
  TraceRecorder* trace = nullptr;
  bool profile = false;  // what the plugin's own profiler records goes to trace at the close
  // For close(), on the clock above; nullptr: it waits for every event and call, however long that
  // takes.
  TimerQueue* timers = nullptr;
  Duration close_timeout = std::chrono::seconds(30);
  // Called with the reason why create() fails before what was made is destroyed, which may take
  // long; on its thread.
  std::function<void(const Error&)> on_failure;
};

inline std::shared_ptr<KeyValues> make_key_values(const PjrtClientOptions& options) {
  return std::make_shared<KeyValues>(*options.store, *options.clock, options.store_prefix);
}

}  // namespace millrace::devices::pjrt
