#include "millrace/tools/commands/exit_code.h"

#include <nlohmann/json.hpp>
#include <string>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/memory_left.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"
#include "millrace/tools/commands/console.h"

namespace millrace::commands {

ExitCode exit_code(const Error& error) {
  // What was being done when the memory ran out has done nothing wrong.
  if (error.detail<MemoryShortage>() != nullptr) return ExitCode::kFailure;
  if (const auto* told = error.detail<ExitWith>()) return told->code;
  if (error.detail<devices::DeviceFailure>() != nullptr) return ExitCode::kDevice;
  if (error.code() == ErrorCode::kDeadlineExceeded) return ExitCode::kDeadline;
  return ExitCode::kFailure;
}

ExitCode exit_code_of_signal(int signal) {
  return static_cast<ExitCode>(static_cast<int>(ExitCode::kSignal) + signal);
}

ExitCode tell_error(const Error& error, Console& console, bool json, std::optional<ExitCode> code) {
  const ExitCode exit = code.value_or(exit_code(error));
  if (json) {
    const nlohmann::ordered_json event = {{"event", "error"},
                                          {"code", std::string(to_string(error.code()))},
                                          {"message", error.message()},
                                          {"exit", static_cast<int>(exit)}};
    static_cast<void>(console.data(json_text(event) + "\n"));
  }
  console.error(error);
  return exit;
}

std::unexpected<Error> usage_error(const std::string& message) {
  return std::unexpected(
      Error(ErrorCode::kInvalidArgument, message).with_detail(ExitWith{ExitCode::kUsage}));
}

}  // namespace millrace::commands
