// `millrace inspect` where the CPU device, whose plans it shows, is not built.
#include "millrace/tools/commands/command.h"

namespace millrace::commands {

Result<ExitCode> inspect_command(const InspectFlags& /*flags*/, Console& /*console*/) {
  return std::unexpected(
      Error(ErrorCode::kUnimplemented,
            "inspect shows what the CPU device makes of a program, and this millrace was built "
            "without it (-DMILLRACE_CPU_DEVICE=OFF)"));
}

}  // namespace millrace::commands
