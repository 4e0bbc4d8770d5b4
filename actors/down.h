// Down: the notice that an actor is gone, and why. Reasons are a closed list; an Error says more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"

namespace millrace::actors {

// Unique in its system, never used again.
using ActorId = std::uint64_t;

enum class ExitReason : std::uint8_t {
  kStopped,      // asked to stop, by itself or by others
  kClosed,       // its system closed
  kFailed,       // a handler or hook failed: an error it gave, or an exception
  kKilled,       // declared failed from outside
  kLost,         // its executor closed under it
  kUnreachable,  // of another process: that is lost, or of an epoch that has ended
};
inline std::string_view to_string(ExitReason reason) {
  constexpr std::string_view kWords[] = {"stopped", "closed with its system", "failed",
                                         "killed",  "lost its executor",      "out of reach"};
  return kWords[static_cast<std::size_t>(reason)];
}

// Why an actor ends. error is set for all but kStopped and kClosed.
struct Exit {
  ExitReason reason = ExitReason::kStopped;
  std::optional<Error> error = {};

  bool failure() const { return reason != ExitReason::kStopped && reason != ExitReason::kClosed; }
};

struct Down {
  ActorId id = 0;
  std::string name = {};
  Exit exit = {};
};

// The typed fact in errors of tell and ask: which actor is gone, or has dropped a reply.
struct ActorGone {
  ActorId id = 0;
  std::string name = {};
  ExitReason reason = ExitReason::kStopped;
};

enum class ActorState : std::uint8_t {
  kStarting,  // on_start has not completed; messages wait -> kRunning, kStopping, kStopped
              // (executor lost)
  kRunning,   // handles messages -> kStopping, kStopped (executor lost)
  kStopping,  // refuses messages; its last handlers and on_stop end -> kStopped
  kStopped,   // final; the Actor object is gone
};
inline std::string_view to_string(ActorState state) {
  constexpr std::string_view kWords[] = {"starting", "running", "stopping", "stopped"};
  return kWords[static_cast<std::size_t>(state)];
}

}  // namespace millrace::actors
