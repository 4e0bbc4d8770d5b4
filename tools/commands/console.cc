#include "millrace/tools/commands/console.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "millrace/core/base/json_text.h"
#include "millrace/core/base/memory_left.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"
#include "millrace/devices/registry.h"

namespace millrace::commands {

namespace {

constexpr std::string_view kRed = "\x1b[1;31m";
constexpr std::string_view kYellow = "\x1b[1;33m";
constexpr std::string_view kPlain = "\x1b[0m";

// A pipe that is writable takes as much at once.
constexpr std::size_t kPiece = 4096;

bool is_set(const devices::Variables& variables, const char* name) {
  return !variables(name).value_or("").empty();
}

}  // namespace

ConsoleTraits console_traits(bool terminal, const devices::Variables& variables) {
  const bool can = terminal && variables("TERM").value_or("dumb") != "dumb";
  return {.bar = can && !is_set(variables, "CI"), .color = can && !is_set(variables, "NO_COLOR")};
}

Console::Console(std::string command)
    : command_(std::move(command)),
      traits_(console_traits(::isatty(STDERR_FILENO) == 1, devices::process_variables())) {}

int Console::columns() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

Status Console::write(int descriptor, std::string_view text) const {
  while (!text.empty()) {
    if (wait_) MILLRACE_TRY_STATUS(wait_(descriptor));
    const std::size_t size = wait_ ? std::min(text.size(), kPiece) : text.size();
    const ssize_t written = ::write(descriptor, text.data(), size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      return fail(ErrorCode::kDataLoss,
                  std::string("cannot write to stdout: ") + ::strerror(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status Console::data(std::string_view text) {
  return speaks_ ? write(STDOUT_FILENO, text) : Status();
}

// A failure of the stream for failures cannot be reported.
void Console::words(std::string_view text) { static_cast<void>(write(STDERR_FILENO, text)); }

bool Console::words_at_once(std::string_view text) {
  // What poll() calls writable takes this much without waiting, if it is a pipe.
  if (text.size() > PIPE_BUF) return false;
  pollfd stream{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  if (::poll(&stream, 1, 0) != 1 || (stream.revents & POLLOUT) == 0) return false;
  words(text);
  return true;
}

std::string Console::for_terminal(std::string_view text) {
  std::string shown;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find('\n', begin);
    shown += devices::printable(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return shown;
    shown += '\n';
    begin = end + 1;
  }
}

void Console::error(const Error& error) { line(kRed, "error:", error.message()); }
void Console::warning(std::string_view text) { line(kYellow, "warning:", text); }

void Console::line(std::string_view color, std::string_view kind, std::string_view text) {
  std::string shown(kind);
  if (traits_.color) shown = std::string(color) + shown + std::string(kPlain);
  words(command_ + ": " + shown + " " + member_ + for_terminal(text) + "\n");
}

ExitCode exit_code(const Error& error) {
  // What was being done when the memory ran out has done nothing wrong.
  if (error.detail<MemoryShortage>() != nullptr) return ExitCode::kFailure;
  if (const auto* with = error.detail<ExitWith>()) return with->code;
  if (error.detail<devices::DeviceFailure>() != nullptr) return ExitCode::kDevice;
  if (error.code() == ErrorCode::kDeadlineExceeded) return ExitCode::kDeadline;
  return ExitCode::kFailure;
}

ExitCode exit_code_of_signal(int signal) {
  return static_cast<ExitCode>(static_cast<int>(ExitCode::kSignal) + signal);
}

ExitCode report_error(const Error& error, Console& console, bool json,
                      std::optional<ExitCode> code) {
  const ExitCode exit = code.value_or(exit_code(error));
  if (json) {
    const nlohmann::ordered_json event = {{"event", "error"},
                                          {"code", std::string(to_string(error.code()))},
                                          {"message", error.message()},
                                          {"exit", static_cast<int>(exit)}};
    static_cast<void>(console.data(json_text(event) + "\n"));
  }
  console.error(error);
  return exit;
}

std::unexpected<Error> usage_error(const std::string& message) {
  return std::unexpected(
      Error(ErrorCode::kInvalidArgument, message).with_detail(ExitWith{ExitCode::kUsage}));
}

}  // namespace millrace::commands
