// What a user meant whose command line of `millrace launch` cannot be read: where the options of
// launch end and the program begins.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
}

namespace millrace::commands {

// words: those behind "launch", in which `launch` has found an error or a --help. Empty: the
// program and its arguments are not what is wrong, or the --help is that of launch.
std::string launch_hint(const CLI::App& launch, std::span<const std::string> words);

}  // namespace millrace::commands
