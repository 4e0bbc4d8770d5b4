#include "millrace/tools/commands/bad_end.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/tools/commands/console.h"
#include "millrace/tools/commands/exit_code.h"

namespace millrace::commands {
namespace {

using devices::pjrt::call_here;
using devices::pjrt::CallHere;

struct Watch {
  std::string command;
  bool json = false;
  pid_t process = 0;
};
// Never destroyed: it is looked at when everything else has been.
const Watch* watch = nullptr;
std::atomic<bool> ended{false};

bool is_watched() { return watch != nullptr && !ended.load() && ::getpid() == watch->process; }

void tell_of_exit() {
  if (!is_watched()) return;
  command_has_ended();  // should telling it end the process, too
  const CallHere here = call_here();
  const std::string who = here.function.empty() ? "a library that it uses"
                                                : std::string(here.function) + " of the plugin " +
                                                      std::string(here.plugin);
  Console console(watch->command);
  const ExitCode code = tell_error(
      Error(ErrorCode::kInternal, who + " ended the process with exit(), before the command had")
          .with_detail(ExitWith{ExitCode::kDevice}),
      console, watch->json);
  std::fflush(nullptr);
  ::_exit(static_cast<int>(code));
}

// A line that is put together without memory of its own: that may be what is broken.
class Line {
 public:
  void add(std::string_view text) {
    const std::size_t count = std::min(text.size(), sizeof text_ - size_);
    ::memcpy(text_ + size_, text.data(), count);
    size_ += count;
  }
  void write() const {
    const ssize_t written = ::write(STDERR_FILENO, text_, size_);
    static_cast<void>(written);  // there is nobody to tell
  }

 private:
  char text_[1024];
  std::size_t size_ = 0;
};

void tell_of_crash(int number) {
  const CallHere here = call_here();
  if (is_watched() && !here.function.empty()) {
    const char* const name = ::sigabbrev_np(number);
    Line line;
    line.add(watch->command);
    line.add(": error: SIG");
    line.add(name != nullptr ? name : "?");
    line.add(" in ");
    line.add(here.function);
    line.add(" of the plugin ");
    line.add(here.plugin);
    line.add("\n");
    line.write();
  }
  ::raise(number);  // its action is the default one again
}

}  // namespace

void watch_for_bad_ends(const std::string& command, bool json) {
  watch = new Watch{command, json, ::getpid()};
  std::atexit(&tell_of_exit);
  for (const int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action{};
    action.sa_handler = &tell_of_crash;
    action.sa_flags = SA_RESETHAND;
    ::sigaction(number, &action, nullptr);
  }
}

void command_has_ended() { ended.store(true); }

}  // namespace millrace::commands
