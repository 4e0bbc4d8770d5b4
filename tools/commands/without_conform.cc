// `millrace conform` where the client of PJRT plugins is not built.
#include "millrace/tools/commands/command.h"

namespace millrace::commands {

Result<ExitCode> conform_command(const ConformFlags& /*flags*/, Console& /*console*/) {
  return std::unexpected(
      Error(ErrorCode::kUnimplemented,
            "conform checks PJRT plugins, and this millrace was built without their client "
            "(-DMILLRACE_PLUGIN_CLIENT=OFF)"));
}

}  // namespace millrace::commands
