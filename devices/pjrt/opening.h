// Opening: a plugin's library is loaded, and its client made, on a thread that is lent for it,
// because none of these calls need ever return (hardware that does not answer, a peer that never
// comes). The caller waits for as long as it wants, and then leaves the thread to itself. Read
// next: plugin.cc (load), client.h.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/executor.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/error.h"
#include "millrace/core/base/mutex.h"

namespace millrace::devices::pjrt {

// How one may take part in it.
struct OpeningOptions {
  // A thread for this alone; where it is left in a call, it stays until the process ends.
  // nullptr: the caller's, which then waits for as long as the plugin likes.
  Executor* thread = nullptr;
  CallOptions call;  // by steady_clock()
};

// Such a thread, for all who wait for it. Value type; what it points to is thread-safe.
struct Opening {
  std::string plugin;  // for messages
  Future<void> ended;  // it has done what it is there for
  TimePoint begin = steady_clock().now();
  std::shared_ptr<std::atomic<std::thread::id>> thread =
      std::make_shared<std::atomic<std::thread::id>>();  // from the begin of its work on
  std::uint32_t number = 0;                              // of the plugin, once it has one
  // When it lasts longer than most do, a warning tells what is waited for.
  Duration patience = std::chrono::seconds(5);
  // Why it fails, if that is known before it has ended.
  struct Failure {
    Mutex mutex;
    std::optional<Error> error MILLRACE_GUARDED_BY(mutex);
  };
  std::shared_ptr<Failure> failure = std::make_shared<Failure>();
};

// The error of an opening that has not begun and that its caller would not wait for.
Status may_begin(const std::string& plugin, const CallOptions& call);

// Blocks until it has ended. The error of an opening that is given up (OpeningGivenUp of
// registry.h) names the plugin and the call that has not returned.
Status wait_for(const Opening& opening, const CallOptions& call);

}  // namespace millrace::devices::pjrt
