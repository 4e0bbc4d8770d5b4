#include "millrace/actors/down.h"

namespace millrace::actors {

std::string_view to_string(ExitReason reason) {
  constexpr std::string_view kWords[] = {"stopped", "closed with its system", "failed", "killed",
                                         "lost its executor"};
  return kWords[static_cast<std::size_t>(reason)];
}

std::string_view to_string(ActorState state) {
  constexpr std::string_view kWords[] = {"starting", "running", "stopping", "stopped"};
  return kWords[static_cast<std::size_t>(state)];
}

}  // namespace millrace::actors
