// Console: the two streams of a command: data goes to stdout, words go to stderr. What the terminal
// can do is found out once, from the descriptors and the environment. ExitCode: how a command ends,
// and how an error becomes such a code.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/core/base/clock.h"
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
  explicit Console(std::string command);

  const ConsoleTraits& traits() const { return traits_; }
  // This process is one of several that do the same: its errors and warnings say which one
  // ("rank 2 (host alpha, pid 4711)"), and data is that of the one that speaks for all.
  void be_one_of(std::string member, bool speaks) {
    member_ = std::move(member) + ": ";
    speaks_ = speaks;
  }
  // Thread-safe.
  void set_speaks(bool speaks) { speaks_ = speaks; }
  bool speaks() const { return speaks_; }
  // With what a terminal would take as a command printed as \xNN: errors hold words of others.
  static std::string for_terminal(std::string_view text);
  // The terminal's columns now; 80 where it cannot be asked.
  static int columns();

  // From now on, writes come in pieces of at most 4 KiB, and wait is called before each, with the
  // descriptor: it returns once the stream takes so much without waiting, or with the error of what
  // is not written. An empty function: writes may wait, as at the start.
  void set_wait(std::function<Status(int descriptor)> wait) { wait_ = std::move(wait); }

  // kDataLoss if stdout cannot take it (a full disk, a closed pipe).
  Status data(std::string_view text);
  void words(std::string_view text);  // as they are: line ends, control sequences
  // The same where stderr takes so much at once; else nothing is written, and it is false.
  bool words_at_once(std::string_view text);
  void error(const Error& error);  // "millrace train: error: message", one or two lines
  void warning(std::string_view text);

 private:
  Status write(int descriptor, std::string_view text) const;
  void line(std::string_view color, std::string_view kind, std::string_view text);

  std::string command_;
  std::string member_;  // in front of errors and warnings
  std::atomic<bool> speaks_ = true;
  ConsoleTraits traits_;
  std::function<Status(int)> wait_;
};

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
ExitCode report_error(const Error& error, Console& console, bool json,
                      std::optional<ExitCode> code = {});

// Errors of the command line and of the environment.
std::unexpected<Error> usage_error(const std::string& message);

// Ends of the process that the command does not decide: a plugin calls exit(), crashes, or keeps
// the process from ending, or a library ends it because it gets no memory. Each is reported, and
// none looks like the command's own end. They are in crash_report.cc.

// From here on, an exit() that is not the command's reports in which function of which plugin it
// came, as report_error() does, and ends the process with ExitCode::kDevice: a plugin that exits
// with 0 has not done what was asked for. The signal of a crash writes a line to stderr, with the
// function of a plugin that it came in, and then takes its course. A std::bad_alloc that is not
// caught ends the process with ExitCode::kFailure and words. Once per process; not for its
// children. command: "millrace run".
void watch_for_crashes(const std::string& command, bool json);
// What follows is the command's own end.
void command_has_ended(ExitCode code);
// By then the process ends, whatever keeps it: an exit handler that does not return, words that no
// reader takes. It writes a line to stderr and ends with the failure that the command has come to;
// for a command without one, also one that came to kOk and has an exit handler that does not
// return, with ExitCode::kDeadline (124).
void end_process_at(TimePoint when);

}  // namespace millrace::commands
