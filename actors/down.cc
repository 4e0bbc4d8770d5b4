#include "millrace/actors/down.h"

namespace millrace::actors {

std::string_view to_string(ExitReason reason) {
  switch (reason) {
    case ExitReason::kStopped:
      return "stopped";
    case ExitReason::kClosed:
      return "closed with its system";
    case ExitReason::kFailed:
      return "failed";
    case ExitReason::kKilled:
      return "killed";
    case ExitReason::kLost:
      return "lost its executor";
  }
  return "?";
}

std::string_view to_string(ActorState state) {
  switch (state) {
    case ActorState::kStarting:
      return "starting";
    case ActorState::kRunning:
      return "running";
    case ActorState::kStopping:
      return "stopping";
    case ActorState::kStopped:
      return "stopped";
  }
  return "?";
}

}  // namespace millrace::actors
