// PjrtClient: programs, compiled and loaded.
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "millrace/core/observe/log.h"
#include "millrace/devices/cache/build_id.h"
#include "millrace/devices/pjrt/calls_under_way.h"
#include "millrace/devices/pjrt/client.h"
#include "millrace/devices/pjrt/executable.h"
#include "millrace/devices/pjrt/program_facts.h"

namespace millrace::devices::pjrt {
namespace {

std::string to_text(const Attributes& attributes) {
  std::string text;
  const auto add = [&text](const auto& value) {
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_same_v<Value, std::string>) {
      text += value;
    } else if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>) {
      for (const std::int64_t one : value) text += std::to_string(one) + " ";
    } else {
      text += std::to_string(value);
    }
  };
  for (const auto& [name, value] : attributes) {
    text += name + "=";
    std::visit(add, value);
    text += "\n";
  }
  return text;
}

// Options of XLA's compilers that no client is told of.
std::string compiler_variables() {
  std::string text;
  for (const char* name : {"XLA_FLAGS", "LIBTPU_INIT_ARGS"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) text += std::string(name) + "=" + value + "\n";
  }
  return text;
}

}  // namespace

Result<std::string> PjrtClient::written_options(const Program& program,
                                                const CompileOptions& options) {
  std::vector<std::int64_t> ids;
  if (!is_portable(options)) {
    const auto count =
        static_cast<std::size_t>(options.replicas) * static_cast<std::size_t>(options.partitions);
    if (options.devices.size() != count) {
      return fail(ErrorCode::kInvalidArgument,
                  "compiling " + program.name() + " for " + std::to_string(options.replicas) +
                      " replicas of " + std::to_string(options.partitions) + " partitions takes " +
                      std::to_string(count) + " devices, not " +
                      std::to_string(options.devices.size()));
    }
    for (const DeviceId device : options.devices) {
      MILLRACE_TRY_STATUS(opened().find(device));
      ids.push_back(opened().global_id(device));
    }
  }
  // PJRT has no word for it: XLA's own flags do it on some devices.
  if (options.deterministic && !told_of_determinism_.exchange(true)) {
    MILLRACE_LOG(kWarning, "pjrt",
                 program.name() +
                     " is compiled without the determinism that was asked for: the plugin " +
                     plugin().name() +
                     " is not told of it, since PJRT has no such option; where XLA makes it, "
                     "XLA_FLAGS=--xla_gpu_deterministic_ops=true asks for it");
  }
  return write_compile_options(options, ids);
}

Result<Executable> PjrtClient::compile(const Program& program, const CompileOptions& options) {
  const CallsFor mine(this);
  MILLRACE_TRY(const std::string written, written_options(program, options));
  constexpr std::string_view kFormat = "mlir";
  abi::Program code;
  code.struct_size = abi::kStructSize<abi::Program>;
  code.code = const_cast<char*>(program.code().data());  // PJRT reads it only
  code.code_size = program.code().size();
  code.format = kFormat.data();
  code.format_size = kFormat.size();
  abi::ClientCompileArgs args;
  args.client = get();
  args.program = &code;
  args.compile_options = written.data();
  args.compile_options_size = written.size();
  if (const Status compiled = plugin().call(args); !compiled)
    return std::unexpected(compiled.error().with_context("cannot compile " + program.name()));
  MILLRACE_TRY_STATUS(
      plugin().require<abi::ClientCompileArgs>(args.executable != nullptr, "executable"));
  return PjrtExecutable::create(*this, args.executable, &program, &options);
}

Result<Executable> PjrtClient::load(std::string_view serialized) {
  return load_as(serialized, nullptr, nullptr);
}

Result<Executable> PjrtClient::load_compiled(std::string_view serialized, const Program& program,
                                             const CompileOptions& options) {
  return load_as(serialized, &program, &options);
}

Result<Executable> PjrtClient::load_as(std::string_view serialized, const Program* program,
                                       const CompileOptions* options) {
  const CallsFor mine(this);
  std::string written;
  if (program != nullptr) {
    MILLRACE_TRY(written, written_options(*program, *options));
  }
  abi::ExecutableDeserializeAndLoadArgs args;
  args.client = get();
  args.serialized_executable = serialized.data();
  args.serialized_executable_size = serialized.size();
  args.overridden_compile_options = program != nullptr ? written.data() : nullptr;
  args.overridden_compile_options_size = written.size();
  if (const Status loaded = plugin().call(args); !loaded) {
    return std::unexpected(loaded.error().with_context(
        "cannot load " + (program != nullptr ? program->name() : "a program")));
  }
  MILLRACE_TRY_STATUS(plugin().require<abi::ExecutableDeserializeAndLoadArgs>(
      args.loaded_executable != nullptr, "executable"));
  return PjrtExecutable::create(*this, args.loaded_executable, program, options);
}

std::string PjrtClient::compiler_identity() const {
  std::string identity = opened().platform_name() + "\n" + opened().platform_version() + "\n" +
                         plugin().build() + "\n" + host_processor() + "\n" + compiler_variables();
  identity += to_text(attributes()) + to_text(options().settings);
  for (const DeviceInfo& info : devices()) {
    identity += std::to_string(opened().global_id(info.id)) + " " + std::to_string(info.process) +
                " " + info.kind + "\n";
  }
  return identity;
}

}  // namespace millrace::devices::pjrt
