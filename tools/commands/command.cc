#include "millrace/tools/commands/command.h"

#include <utility>

#include "millrace/core/blocking.h"
#include "millrace/devices/cpu/ir/attribute.h"
#include "millrace/devices/cpu/read/read_program.h"
#include "millrace/devices/registry.h"
#include "millrace/tools/api/version.h"
#include "millrace/tools/trace/trace_file.h"

namespace millrace::commands {

namespace {

// Plugins are told how many devices a program is compiled for, and make of one for more whatever
// they like; the embedded device refuses it itself.
Status check_one_device(const devices::Program& program) {
  const auto module = devices::cpu::read::read_program(program.code());
  if (!module) return {};  // the plugin's to read
  for (const devices::cpu::ir::NamedAttribute& a : module->attributes()) {
    const auto* count = a.value.as<devices::cpu::ir::IntegerAttr>();
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

}  // namespace

std::string version_text() {
  std::string known;
  for (const std::string& name : devices::ClientRegistry().names())
    known += (known.empty() ? "" : ", ") + name;
  return "millrace " + std::string(version()) + "\ncompiler: " + std::string(compiler()) + ", " +
         std::string(build_type()) + "\ndevices: " + known;
}

Result<RuntimeOptions> runtime_options(std::optional<int> threads, std::optional<int> devices,
                                       const std::vector<std::string>& plugins,
                                       const std::string& compilation_cache) {
  Result<RuntimeOptions> options = RuntimeOptions::from_env();
  if (!options) return std::unexpected(options.error().with_detail(ExitWith{ExitCode::kUsage}));
  for (const std::string& plugin : plugins) {
    Result<devices::pjrt::PluginEntry> entry = devices::pjrt::parse_plugin(plugin);
    if (!entry) return std::unexpected(entry.error().with_detail(ExitWith{ExitCode::kUsage}));
    // Of what is built in the name cannot be taken.
    if (const Status free = devices::ClientRegistry().add(entry->name, {}); !free) {
      return std::unexpected(
          free.error().with_context("--plugin " + plugin).with_detail(ExitWith{ExitCode::kUsage}));
    }
    options->plugins.push_back(*std::move(entry));
  }
  if (!compilation_cache.empty()) {
    auto cache = devices::CompilationCacheOptions::parse(compilation_cache);
    if (!cache) {
      return std::unexpected(cache.error()
                                 .with_context("--compilation-cache")
                                 .with_detail(ExitWith{ExitCode::kUsage}));
    }
    options->compilation_cache = *std::move(cache);
  }
  if (threads) options->threads = *threads;
  if (devices) options->devices = devices;
  return options;
}

Result<Runtime> open_runtime(const RuntimeOptions& options, const Limits& limits) {
  Result<Runtime> runtime = Runtime::create(options, limits.call());
  if (runtime || runtime.error().detail<trace::TraceNotWritten>() != nullptr) return runtime;
  if (runtime.error().detail<devices::OpeningGivenUp>() != nullptr)
    return std::unexpected(limits.at_end(runtime.error(), "before there was a device"));
  return std::unexpected(runtime.error().with_detail(ExitWith{ExitCode::kDevice}));
}

Result<ExitCode> with_runtime(const RuntimeOptions& options, const Limits& limits,
                              EndInTime::Options end_options, Console& console,
                              const std::function<Result<ExitCode>(const Runtime&)>& work) {
  MILLRACE_TRY(Runtime opened, open_runtime(options, limits));
  const bool json = end_options.json;
  EndInTime end(limits, opened.client().calls_teller(), console, std::move(end_options));
  const Runtime runtime = std::move(opened);  // goes before `end` does
  Result<ExitCode> code = close_runtime(runtime, work(runtime), console);
  if (!code) code = tell_error(code.error(), console, json);
  end.told(*code);
  return code;
}

Result<ExitCode> close_runtime(const Runtime& runtime, Result<ExitCode> code, Console& console) {
  const Status closed = wait_blocking(runtime.close());
  const trace::TraceFile* const file = runtime.trace_file();
  if (file == nullptr) return code;  // what closing could not do is logged
  if (file->lost() > 0) {
    console.warning("the trace lacks " + std::to_string(file->lost()) +
                    " events, which came faster than they were written");
  }
  if (code && !closed) return std::unexpected(closed.error());
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
