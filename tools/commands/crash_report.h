// Ends of the process that the command does not decide: a plugin calls exit(), crashes, or keeps
// the process from ending, or a library ends it because it gets no memory. Each is reported, and
// none looks like the command's own end.
#pragma once

#include <string>

#include "millrace/core/base/clock.h"
#include "millrace/tools/commands/exit_code.h"

namespace millrace::commands {

// From here on, an exit() that is not the command's reports in which function of which plugin it
// came, as tell_error() does, and ends the process with ExitCode::kDevice: a plugin that exits with
// 0 has not done what was asked for. The signal of a crash writes a line to stderr, with the
// function of a plugin that it came in, and then takes its course. A std::bad_alloc that is not
// caught ends the process with ExitCode::kFailure and words. Once per process; not for its
// children. command: "millrace run".
void watch_for_crashes(const std::string& command, bool json);
// What follows is the command's own end.
void command_has_ended(ExitCode code);
// By then the process ends, whatever keeps it: an exit handler that does not return, words that no
// reader takes. It writes a line to stderr and ends with the failure that the command has come to;
// for a command without one, also one that came to kOk and has an exit handler that hangs, with
// ExitCode::kDeadline (124).
void end_process_at(TimePoint when);

}  // namespace millrace::commands
