#include "millrace/tools/commands/exit_code.h"

#include <nlohmann/json.hpp>
#include <string>

#include "millrace/devices/device_actor.h"
#include "millrace/tools/commands/console.h"

namespace millrace::commands {

ExitCode exit_code(const Error& error) {
  if (const auto* told = error.detail<ExitWith>()) return told->code;
  if (error.detail<devices::DeviceFailure>() != nullptr) return ExitCode::kDevice;
  if (error.code() == ErrorCode::kDeadlineExceeded) return ExitCode::kDeadline;
  return ExitCode::kFailure;
}

ExitCode exit_code_of_signal(int signal) {
  return static_cast<ExitCode>(static_cast<int>(ExitCode::kSignal) + signal);
}

std::string error_json(const Error& error, ExitCode code) {
  return nlohmann::ordered_json{{"event", "error"},
                                {"code", std::string(to_string(error.code()))},
                                {"message", error.message()},
                                {"exit", static_cast<int>(code)}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ExitCode tell_error(const Error& error, Console& console, bool json, std::optional<ExitCode> code) {
  const ExitCode exit = code.value_or(exit_code(error));
  if (json) static_cast<void>(console.data(error_json(error, exit) + "\n"));
  console.error(error);
  return exit;
}

std::unexpected<Error> usage_error(const std::string& message) {
  return std::unexpected(
      Error(ErrorCode::kInvalidArgument, message).with_detail(ExitWith{ExitCode::kUsage}));
}

}  // namespace millrace::commands
