// Completion of the command line for bash, made from the options themselves, so it cannot differ
// from them.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace millrace::commands {

// A script that bash sources; it completes the command `app` and its subcommands.
std::string bash_completion(const CLI::App& app);

}  // namespace millrace::commands
