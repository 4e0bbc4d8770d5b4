// Console: the two streams of a command: data goes to stdout, words go to stderr. What the terminal
// can do is found out once, from the descriptors and the environment.
#pragma once

#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/registry.h"

namespace millrace::commands {

struct ConsoleTraits {
  bool bar = false;    // a line may be redrawn: stderr is a terminal that can, and this is no CI
  bool color = false;  // and NO_COLOR is not set
};

// Pure: terminal says whether stderr is one.
ConsoleTraits console_traits(bool terminal, const devices::Variables& variables);

// Thread-safety: external. Writes are whole lines at once, so that words of several processes do
// not mix.
class Console {
 public:
  explicit Console(std::string command)
      : Console(std::move(command), devices::process_variables()) {}
  Console(std::string command, const devices::Variables& variables);

  const ConsoleTraits& traits() const { return traits_; }
  // With what a terminal would take as a command told as \xNN: errors hold words of others.
  static std::string for_terminal(std::string_view text);
  // The terminal's columns now; 80 where it cannot be asked.
  static int columns();

  // kDataLoss if stdout cannot take it (a full disk, a closed pipe).
  Status data(std::string_view text);
  void words(std::string_view text);  // as they are: line ends, control sequences
  void error(const Error& error);     // "millrace train: error: message", one or two lines
  void warning(std::string_view text);

 private:
  void line(std::string_view color, std::string_view kind, std::string_view text);

  std::string command_;
  ConsoleTraits traits_;
};

}  // namespace millrace::commands
