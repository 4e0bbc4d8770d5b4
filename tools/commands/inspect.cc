// `millrace inspect`: what a program is made of and, with --ops, where the time of a run of it
// goes.
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "millrace/core/make_executor.h"
#include "millrace/devices/program.h"
#include "millrace/tools/commands/command.h"
#include "millrace/tools/commands/inputs.h"
#include "millrace/tools/inspect/op_times.h"
#include "millrace/tools/inspect/program_facts.h"

namespace millrace::commands {

namespace {

std::unexpected<Error> rejected(const Error& error, const std::string& file) {
  return std::unexpected(
      error.with_context(file).with_detail(ExitWith{ExitCode::kProgramRejected}));
}

// The given arrays, or made ones.
class Inputs {
 public:
  Status read(const InspectFlags& flags, std::span<const devices::Shape> shapes) {
    if (!flags.inputs.files.empty() || !flags.inputs.folder.empty()) {
      MILLRACE_TRY(given_, read_inputs(flags.inputs, flags.file, shapes));
      for (const auto& array : given_) addresses_.push_back(array->data.get());
      return {};
    }
    for (std::size_t i = 0; i < shapes.size(); ++i)
      made_.push_back(inspect::random_bytes(shapes[i], static_cast<std::uint32_t>(i)));
    for (const auto& bytes : made_) addresses_.push_back(bytes.data());
    return {};
  }
  std::span<const void* const> addresses() const { return addresses_; }

 private:
  std::vector<std::shared_ptr<transfer::NpyArray>> given_;
  std::vector<std::vector<std::byte>> made_;
  std::vector<const void*> addresses_;
};

Result<std::string> time_ops(const devices::Program& program, const InspectFlags& flags) {
  MILLRACE_TRY(const RuntimeOptions options, runtime_options(flags.threads, {}));
  const auto timed = inspect::TimedProgram::create(program, flags.deterministic);
  if (!timed) return rejected(timed.error(), flags.file);
  Inputs inputs;
  MILLRACE_TRY_STATUS(inputs.read(flags, timed->inputs()));
  // This thread is one of them.
  const int threads = compute_threads(options);
  const auto executor = threads > 1
                            ? make_executor(default_compute_backend(), threads - 1, "millrace-dev0")
                            : nullptr;
  const auto parallel =
      executor != nullptr ? make_parallel_on(*executor, threads) : make_serial_parallel();
  MILLRACE_TRY(const inspect::OpTimes times,
               timed->run(inputs.addresses(), flags.repeat, *parallel, {}));
  return flags.json ? times.to_json() + "\n" : times.to_text();
}

}  // namespace

Result<ExitCode> inspect_command(const InspectFlags& flags, Console& console) {
  MILLRACE_TRY(const devices::Program program, devices::Program::from_file(flags.file));
  if (flags.ops) {
    MILLRACE_TRY(const std::string text, time_ops(program, flags));
    MILLRACE_TRY_STATUS(console.data(text));
    return ExitCode::kOk;
  }
  const auto facts = inspect::inspect(program);
  if (!facts) return rejected(facts.error(), flags.file);
  MILLRACE_TRY_STATUS(console.data(flags.json ? facts->to_json() + "\n" : facts->to_text()));
  return ExitCode::kOk;
}

}  // namespace millrace::commands
