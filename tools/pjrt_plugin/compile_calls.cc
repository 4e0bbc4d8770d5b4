// Programs in, executables out; and executables to bytes and back. Read next: executable.h.
#include <string>
#include <string_view>
#include <utility>

#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/executable.h"

namespace millrace::devices::pjrt::abi {

// Bytes that a caller was given.
struct SerializedExecutable {
  std::string bytes;
};

}  // namespace millrace::devices::pjrt::abi

namespace millrace::pjrt_plugin {
namespace {

Result<std::string> read_code(const abi::Program* program) {
  if (program == nullptr || program->struct_size < abi::kStructSize<abi::Program> ||
      program->code == nullptr || program->format == nullptr)
    return fail(ErrorCode::kInvalidArgument, "there is no program, or no format of it");
  const std::string_view format(program->format, program->format_size);
  if (format != "mlir") {
    return fail(ErrorCode::kUnimplemented,
                "a program of the format '" + std::string(format) +
                    "' cannot be compiled: 'mlir' can, as text or as a portable artifact");
  }
  return std::string(program->code, program->code_size);
}

std::string_view options_of(const char* bytes, std::size_t size) {
  return bytes == nullptr ? std::string_view() : std::string_view(bytes, size);
}

}  // namespace

void add_compilation(abi::Api& api) {
  add<&abi::ClientCompileArgs::executable, "executable">(
      api, [](abi::ClientCompileArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        MILLRACE_TRY(std::string code, read_code(a.program));
        MILLRACE_TRY(auto compiled, CompiledProgram::compile(
                                        *client.body, std::move(code),
                                        options_of(a.compile_options, a.compile_options_size)));
        a.executable = new abi::LoadedExecutable(std::move(compiled));
        return {};
      });
  // Without a client: on one that is made for it, of the topology's devices.
  add<&abi::CompileArgs::executable, "executable">(api, [](abi::CompileArgs& a) -> Status {
    MILLRACE_GIVEN(topology, topology);
    MILLRACE_TRY(std::string code, read_code(a.program));
    Ref<ClientBody> body;
    if (a.client != nullptr) {
      MILLRACE_GIVEN(client, client);
      body = client.body;
    } else {
      body =
          make_ref<ClientBody>(CreateOptions{.devices = static_cast<int>(topology.devices.size()),
                                             .platform_name = topology.platform_name});
    }
    MILLRACE_TRY(auto compiled,
                 CompiledProgram::compile(*body, std::move(code),
                                          options_of(a.compile_options, a.compile_options_size)));
    a.executable = new abi::Executable(std::move(compiled));
    return {};
  });
  // One of this client is the same program once more, another one is compiled anew.
  add<&abi::ClientLoadArgs::loaded_executable, "loaded_executable">(
      api, [](abi::ClientLoadArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        MILLRACE_GIVEN(executable, executable);
        const std::string_view options = options_of(a.compile_options, a.compile_options_size);
        std::shared_ptr<const CompiledProgram> program = executable.program;
        if (&program->body() != client.body.get() ||
            (!options.empty() && options != program->written_options())) {
          MILLRACE_TRY(const std::string bytes, program->serialize());
          MILLRACE_TRY(program, CompiledProgram::load(*client.body, bytes, options));
        }
        a.loaded_executable = new abi::LoadedExecutable(std::move(program));
        return {};
      });
  add<&abi::ExecutableSerializeArgs::serialized_executable_deleter,
      "serialized_executable_deleter">(api, [](abi::ExecutableSerializeArgs& a) -> Status {
    MILLRACE_GIVEN(executable, executable);
    MILLRACE_TRY(std::string bytes, executable.program->serialize());
    a.serialized_executable = new abi::SerializedExecutable{std::move(bytes)};
    a.serialized_bytes = a.serialized_executable->bytes.data();
    a.serialized_bytes_size = a.serialized_executable->bytes.size();
    a.serialized_executable_deleter = [](abi::SerializedExecutable* owner) { delete owner; };
    return {};
  });
  add<&abi::ExecutableDeserializeAndLoadArgs::loaded_executable, "loaded_executable">(
      api, [](abi::ExecutableDeserializeAndLoadArgs& a) -> Status {
        MILLRACE_GIVEN(client, client);
        if (a.serialized_executable == nullptr)
          return fail(ErrorCode::kInvalidArgument, "the bytes of an executable are null");
        MILLRACE_TRY(
            auto compiled,
            CompiledProgram::load(
                *client.body, {a.serialized_executable, a.serialized_executable_size},
                options_of(a.overridden_compile_options, a.overridden_compile_options_size)));
        a.loaded_executable = new abi::LoadedExecutable(std::move(compiled));
        return {};
      });
}

}  // namespace millrace::pjrt_plugin
