// Ends of the process that the command has no say in: a plugin calls exit(), or crashes. Nobody
// takes them for the command's own.
#pragma once

#include <string>

namespace millrace::commands {

// From here on. exit() by anybody else tells in which function of which plugin it came, as
// tell_error() does, and ends the process with ExitCode::kDevice: a plugin that exits with 0 has
// not done what was asked for. A signal of a crash inside a plugin's function tells it in a line on
// stderr, and then does what it does. Once per process; not for its children. command: "millrace
// run".
void watch_for_bad_ends(const std::string& command, bool json);
// What follows is the command's own end.
void command_has_ended();

}  // namespace millrace::commands
