#include "millrace/tools/commands/command.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "millrace/core/async/blocking.h"
#include "millrace/core/net/job.h"
#include "millrace/core/net/peer_loss.h"
#include "millrace/devices/cpu/backends.h"
#include "millrace/devices/stablehlo/ir/attribute.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/tools/api/installed_plugins.h"
#include "millrace/tools/api/version.h"
#include "millrace/tools/trace/trace_file.h"

namespace millrace::commands {

namespace {

// Plugins learn how many devices a program is compiled for, and make of one for more whatever
// they like; the embedded device refuses it itself.
Status check_one_device(const devices::Program& program) {
  const auto module = devices::stablehlo::read_program(program.code());
  if (!module) return {};  // the plugin's to read
  for (const devices::stablehlo::ir::NamedAttribute& a : module->attributes()) {
    const auto* count = a.value.as<devices::stablehlo::ir::IntegerAttr>();
    if ((a.name != "mhlo.num_replicas" && a.name != "mhlo.num_partitions") || count == nullptr ||
        count->value <= 1) {
      continue;
    }
    return std::unexpected(
        Error(ErrorCode::kUnimplemented,
              program.name() + " has " + std::string(a.name) + " = " +
                  std::to_string(count->value) +
                  ", and this command takes programs of one device: Runtime::compile with as many "
                  "CompileOptions::devices, and launch_spanning(), run it on several")
            .with_detail(ExitWith{ExitCode::kProgramRejected}));
  }
  return {};
}

// Those whose names are not taken by others.
Status add_installed_plugins(RuntimeOptions& options) {
  MILLRACE_TRY(const KnownBackends known, find_backends(options));
  const std::vector<std::string> taken = known.registry.names();
  for (devices::pjrt::PluginEntry& plugin : installed_plugins(options.variables)) {
    if (std::ranges::find(taken, plugin.name) == taken.end())
      options.plugins.push_back(std::move(plugin));
  }
  return {};
}

}  // namespace

std::string version_text() {
  std::string known;
  for (const std::string& name : devices::cpu::backends().names())
    known += (known.empty() ? "" : ", ") + name;
  return "millrace " + std::string(version()) + "\ncompiler: " + std::string(compiler()) + ", " +
         std::string(build_type()) + "\ndevices: " + known;
}

Result<RuntimeOptions> runtime_options(const RuntimeFlags& flags) {
  const auto usage = [](const Error& error) {
    return std::unexpected(error.with_detail(ExitWith{ExitCode::kUsage}));
  };
  Result<RuntimeOptions> options = RuntimeOptions::from_env();
  if (!options) return usage(options.error());
  for (const std::string& plugin : flags.plugins.given) {
    Result<devices::pjrt::PluginEntry> entry = devices::pjrt::parse_plugin(plugin);
    if (!entry) return usage(entry.error());
    // A plugin cannot take the name of what is built in.
    if (const Status free = devices::cpu::backends().add(entry->name, {}); !free)
      return usage(free.error().with_context("--plugin " + plugin));
    options->plugins.push_back(*std::move(entry));
  }
  if (flags.plugins.find) MILLRACE_TRY_STATUS(add_installed_plugins(*options));
  if (!flags.compilation_cache.empty()) {
    auto cache = devices::CompilationCacheOptions::parse(flags.compilation_cache);
    if (!cache) return usage(cache.error().with_context("--compilation-cache"));
    options->compilation_cache = *std::move(cache);
  }
  if (flags.threads) options->threads = *flags.threads;
  if (flags.devices) options->devices = flags.devices;
  if (!flags.trace.empty()) options->trace_file = flags.trace;
  return options;
}

Result<Runtime> open_runtime(const RuntimeOptions& options, const Limits& limits) {
  Result<Runtime> runtime = Runtime::create(options, limits.call());
  if (runtime || runtime.error().detail<trace::TraceNotWritten>() != nullptr) return runtime;
  if (runtime.error().detail<devices::OpeningGivenUp>() != nullptr ||
      !check_in_time(limits.call(), steady_clock(), "an opening"))
    return std::unexpected(limits.at_end(runtime.error(), "before there was a device"));
  // No threads, descriptors or memory: not the device's fault.
  if (runtime.error().code() == ErrorCode::kResourceExhausted) return runtime;
  return std::unexpected(runtime.error().with_detail(ExitWith{ExitCode::kDevice}));
}

constexpr std::chrono::milliseconds kEndsByName(500);
constexpr std::chrono::seconds kEndsFirst(1);

namespace {

// Where another rank has ended this one's work, the job's first failure is to be that rank's: its
// process may take longer to its end than this one.
void let_named_rank_end(const Runtime& runtime, const Error& error, const Limits& limits) {
  const net::JobMember* const named = net::named_in(error);
  if (runtime.mesh() == nullptr || named == nullptr || named->rank == runtime.mesh()->rank())
    return;
  CallOptions call = limits.call();
  call.deadline = std::min(call.deadline, steady_clock().now() + kEndsFirst);
  static_cast<void>(wait_until(runtime.job()->failure(), call));
}

}  // namespace

Result<ExitCode> with_runtime(const RuntimeOptions& options, Limits& limits, Console& console,
                              const std::function<Result<ExitCode>(const Runtime&)>& work) {
  MILLRACE_TRY(const Runtime runtime, open_runtime(options, limits));
  limits.opened(runtime.client().call_report());
  if (net::Job* const job = runtime.job()) {
    // Calls that need the rank that has failed end by its name. What has not ended then does as by
    // the SIGTERM that launch sends at once to those alone who cannot hear of it. One that has got
    // a signal ends already, and a second one would kill it.
    job->failure()
        .then(inline_executor(),
              [&limits](const Result<void>& failed) {
                if (!failed) limits.terminate_after(kEndsByName);
              })
        .ignore();
  }
  Result<ExitCode> code = work(runtime);
  if (!code) let_named_rank_end(runtime, code.error(), limits);
  const Status closed = wait_blocking(runtime.close(limits.call()));
  if (const trace::TraceFile* const file = runtime.trace_file()) {
    if (file->lost() > 0) {
      console.warning("the trace lacks " + std::to_string(file->lost()) +
                      " events, which came faster than they were written");
    }
    // Without a trace, what closing could not do is logged.
    if (code && !closed) code = std::unexpected(closed.error());
  }
  if (!code) code = report_error(code.error(), console, limits.json());
  limits.set_outcome(*code);
  return code;
}

Future<devices::Executable> compile_program(const Runtime& runtime, const devices::Program& program,
                                            const devices::CompileOptions& options,
                                            const CallOptions& call) {
  using Compiled = Result<devices::Executable>;
  if (runtime.client().calls_may_block() && options.devices.size() == 1) {
    if (Status one = check_one_device(program); !one) return std::move(one).error();
  }
  return runtime.compile(program, options, call)
      .then(inline_executor(), [](Compiled compiled) -> Compiled {
        if (compiled) return compiled;
        const ErrorCode code = compiled.error().code();
        if (code == ErrorCode::kCancelled || code == ErrorCode::kDeadlineExceeded) return compiled;
        return std::unexpected(compiled.error().with_detail(ExitWith{ExitCode::kProgramRejected}));
      });
}

}  // namespace millrace::commands
