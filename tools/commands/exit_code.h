// Exit codes of the command, and how an error becomes one of them.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include "millrace/core/base/error.h"

namespace millrace::commands {

class Console;

enum class ExitCode : int {
  kOk = 0,
  kFailure = 1,
  kUsage = 2,            // options or environment variables that make no sense
  kDevice = 3,           // no such device, a plugin that does not load, a device that failed
  kProgramRejected = 4,  // the program does not parse, verify or compile
  kDeadline = 124,
  kSignal = 128,  // plus the number of the signal
};

// Attached to an error by the code that knows what it means for the caller.
struct ExitWith {
  ExitCode code;
};

// The ExitWith of the error; else what its code and details say.
ExitCode exit_code(const Error& error);
ExitCode exit_code_of_signal(int signal);
// On stderr and, with json, as the last line of stdout:
// {"event":"error","code":…,"message":…,"exit":…}. Returns the exit code: `code`, or what the error
// means.
ExitCode tell_error(const Error& error, Console& console, bool json,
                    std::optional<ExitCode> code = {});

// Errors of the command line and of the environment.
std::unexpected<Error> usage_error(const std::string& message);

}  // namespace millrace::commands
