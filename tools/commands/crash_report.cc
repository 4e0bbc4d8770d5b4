#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <new>
#include <string_view>

#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/tools/commands/console.h"

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
constexpr int kNotEnded = -1;
std::atomic<int> ended_with{kNotEnded};
std::terminate_handler before_us = &std::abort;

bool is_of_this_process() { return watch != nullptr && ::getpid() == watch->process; }
bool is_watched() { return is_of_this_process() && ended_with.load() == kNotEnded; }

void report_exit() {
  if (!is_watched()) return;
  command_has_ended(ExitCode::kDevice);  // should the report end the process, too
  const CallHere here = call_here();
  const std::string who = here.function.empty() ? "a library that it uses"
                                                : std::string(here.function) + " of the plugin " +
                                                      std::string(here.plugin);
  Console console(watch->command);
  const ExitCode code = report_error(
      Error(ErrorCode::kInternal, who + " ended the process with exit(), before the command had")
          .with_detail(ExitWith{ExitCode::kDevice}),
      console, watch->json);
  std::fflush(nullptr);
  ::_exit(static_cast<int>(code));
}

// Writes a line without memory of its own, which may be what is broken, and where it need not be
// waited for.
void write_line(std::initializer_list<std::string_view> words, int descriptor = STDERR_FILENO) {
  char text[1024];
  std::size_t size = 0;
  for (const std::string_view word : words) {
    const std::size_t count = std::min(word.size(), sizeof text - size);
    ::memcpy(text + size, word.data(), count);
    size += count;
  }
  pollfd stream{.fd = descriptor, .events = POLLOUT};
  if (::poll(&stream, 1, 0) != 1) return;
  // There is no stream left to report a failure on.
  [[maybe_unused]] const ssize_t written = ::write(descriptor, text, size);
}

void report_crash(int number) {
  const CallHere here = call_here();
  // What aborts has mostly said why.
  if (is_watched() && (number != SIGABRT || !here.function.empty())) {
    const char* const name = ::sigabbrev_np(number);
    const std::string_view known = name != nullptr ? name : "?";
    if (here.function.empty()) {
      write_line({watch->command, ": error: SIG", known,
                  " outside of any function of a plugin: in Millrace, in a library that it uses, "
                  "or on a thread of a plugin\n"});
    } else {
      write_line({watch->command, ": error: SIG", known, " in ", here.function, " of the plugin ",
                  here.plugin, "\n"});
    }
  }
  ::raise(number);  // its action is the default one again
}

// A library that ends the process because it gets no memory (oneTBB does), or code of ours that
// cannot run without: no crash.
void report_termination() {
  bool is_memory = false;
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    is_memory = is_watched();
  } catch (...) {
    is_memory = false;
  }
  if (!is_memory) before_us();
  command_has_ended(ExitCode::kFailure);
  constexpr std::string_view kWords = "no memory is left";
  if (watch->json) {
    write_line(
        {R"({"event":"error","code":"RESOURCE_EXHAUSTED","message":")", kWords, "\",\"exit\":1}\n"},
        STDOUT_FILENO);
  }
  write_line({watch->command, ": error: ", kWords, "\n"});
  ::_exit(static_cast<int>(ExitCode::kFailure));
}

void end_now(int /*number*/) {
  const int code = ended_with.load();
  if (is_of_this_process()) {
    const std::string_view what =
        code == kNotEnded
            ? "it has not ended within a second after --deadline"
            : "an exit handler of a library has not returned within a second after --deadline";
    constexpr std::string_view kEnd = ", so the process does not wait for it";
    // A command that has failed already has printed its own event.
    if (watch->json && code <= 0) {
      write_line({R"({"event":"error","code":"DEADLINE_EXCEEDED","message":")", what, kEnd,
                  "\",\"exit\":124}\n"},
                 STDOUT_FILENO);
    }
    write_line({watch->command, ": error: ", what, kEnd, "\n"});
  }
  ::_exit(code > 0 ? code : static_cast<int>(ExitCode::kDeadline));
}

}  // namespace

void watch_for_crashes(const std::string& command, bool json) {
  watch = new Watch{command, json, ::getpid()};
  std::atexit(&report_exit);
  before_us = std::set_terminate(&report_termination);
  for (const int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV}) {
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) != 0 || before.sa_handler != SIG_DFL) continue;
    struct sigaction action{};
    action.sa_handler = &report_crash;
    action.sa_flags = SA_RESETHAND;
    ::sigaction(number, &action, nullptr);
  }
}

void command_has_ended(ExitCode code) { ended_with.store(static_cast<int>(code)); }

void end_process_at(TimePoint when) {
  struct sigaction action{};
  action.sa_handler = &end_now;
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  timer_t timer{};
  if (::sigaction(SIGALRM, &action, nullptr) != 0 ||
      ::timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) {
    return;
  }
  const auto left = std::max(when - steady_clock().now(), Duration(1));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
  itimerspec value{};
  value.it_value.tv_sec = seconds.count();
  value.it_value.tv_nsec = std::chrono::nanoseconds(left - seconds).count();
  ::timer_settime(timer, 0, &value, nullptr);
}

}  // namespace millrace::commands
