#include "millrace/tools/commands/command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "millrace/core/base/errno_code.h"
#include "millrace/devices/shape.h"
#include "millrace/transfer/formats/npy.h"

namespace millrace::commands {

namespace {

using devices::HostArray;
using devices::Shape;

std::string times(std::size_t n) { return n == 1 ? "once" : std::to_string(n) + " times"; }

constexpr std::size_t kFew = 8;
constexpr const char* kStdin = "-";          // stands for stdin, which is read once in a process
constexpr const char* kStdinName = "stdin";  // in words
constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr int kPollMilliseconds = 20;  // between two looks at the limits of a call

Result<std::string> read_stdin(const CallOptions& call) {
  std::string text;
  for (std::size_t done = 0;;) {
    pollfd polled{.fd = STDIN_FILENO, .events = POLLIN};
    ::poll(&polled, 1, kPollMilliseconds);
    if (call.stop.stop_requested())
      return fail(ErrorCode::kCancelled, "stopped while stdin was read");
    if (steady_clock().now() >= call.deadline)
      return fail(ErrorCode::kDeadlineExceeded, "stdin did not end before the deadline");
    if (polled.revents == 0) continue;
    text.resize(std::max(text.size(), done + kBlock));
    const ssize_t count = ::read(STDIN_FILENO, text.data() + done, text.size() - done);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count < 0) return fail(errno_code(errno), "reading stdin: " + errno_text(errno));
    done += static_cast<std::size_t>(count);
    if (count > 0) continue;
    text.resize(done);
    return text;
  }
}

// What would help, where a file is a pipe.
std::unexpected<Error> file_error(const std::string& file, const Error& error) {
  std::error_code none;
  if (!std::filesystem::is_fifo(file, none)) return std::unexpected(error);
  return std::unexpected(error.with_context("only stdin may be a pipe, and its name is -"));
}

Result<HostArray> read_array(const std::string& file, const transfer::NpyOptions& options,
                             const CallOptions& call) {
  if (file != kStdin) {
    Result<HostArray> array = transfer::read_npy_file(file, options);
    if (!array) return file_error(file, array.error());
    return array;
  }
  MILLRACE_TRY(const std::string bytes, read_stdin(call));
  transfer::MemorySource source(kStdinName, std::as_bytes(std::span(bytes)));
  return transfer::read_npy(source, options);
}

// "3 arguments (tensor<f32>, tensor<2xf32>, tensor<f32>)"; of many the first few.
std::string describe(std::span<const Shape> shapes) {
  if (shapes.empty()) return "no arguments";
  std::string text =
      std::to_string(shapes.size()) + (shapes.size() == 1 ? " argument (" : " arguments (");
  const char* separator = "";
  for (const Shape& shape : shapes.first(std::min(shapes.size(), kFew))) {
    text += separator + shape.to_string();
    separator = ", ";
  }
  if (shapes.size() > kFew) text += " and " + std::to_string(shapes.size() - kFew) + " more";
  return text + ")";
}

// The file of each argument, in order.
Result<std::vector<std::string>> input_files(const InputFlags& flags, const std::string& program,
                                             std::span<const Shape> shapes) {
  if (flags.folder.empty()) {
    if (flags.files.size() == shapes.size()) return flags.files;
    return usage_error(program + " takes " + describe(shapes) + ", but --input was given " +
                       times(flags.files.size()));
  }
  std::vector<std::string> files;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    files.push_back(flags.folder + "/" + std::to_string(i) + ".npy");
  }
  const std::string next = flags.folder + "/" + std::to_string(shapes.size()) + ".npy";
  std::error_code ignored;
  if (std::filesystem::exists(next, ignored)) {
    return usage_error(program + " takes " + describe(shapes) + ", but there is also " + next);
  }
  return files;
}

}  // namespace

Result<devices::Program> read_program(const std::string& file, const CallOptions& call) {
  if (file != kStdin) {
    Result<devices::Program> program = devices::Program::from_file(file);
    if (!program) return file_error(file, program.error());
    return program;
  }
  MILLRACE_TRY(std::string text, read_stdin(call));
  if (text.empty()) return fail(ErrorCode::kInvalidArgument, "the program on stdin is empty");
  return devices::Program::from_text(std::move(text), kStdinName);
}

Result<std::vector<HostArray>> read_inputs(const InputFlags& flags, const devices::Program& program,
                                           std::span<const Shape> shapes, const CallOptions& call) {
  MILLRACE_TRY(const std::vector<std::string> files, input_files(flags, program.name(), shapes));
  if (std::ranges::count(files, kStdin) > (program.name() == kStdinName ? 0 : 1))
    return usage_error("stdin can be read only once: let the others be files");
  std::vector<HostArray> arrays;
  for (std::size_t i = 0; i < files.size(); ++i) {
    MILLRACE_TRY(HostArray array, read_array(files[i], {.as = shapes[i].dtype()}, call));
    if (!devices::admits(shapes[i], array.shape())) {
      return fail(ErrorCode::kInvalidArgument, (files[i] == kStdin ? kStdinName : files[i]) +
                                                   " is " + array.shape().to_string() +
                                                   ", but argument " + std::to_string(i) + " of " +
                                                   program.name() + " is " + shapes[i].to_string());
    }
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace millrace::commands
