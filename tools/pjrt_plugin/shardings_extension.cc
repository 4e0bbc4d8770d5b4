// The extension Shardings: how the arguments and results of a program lie on its devices. Read
// next: extensions.h.
#include "millrace/tools/pjrt_plugin/error.h"
#include "millrace/tools/pjrt_plugin/executable.h"
#include "millrace/tools/pjrt_plugin/extensions.h"

namespace millrace::pjrt_plugin {
namespace {

void give(const CompiledProgram::Shardings& shardings, abi::ExecutableShardingsArgs& a) {
  a.num_shardings = shardings.texts.size();
  a.shardings = shardings.texts.empty() ? nullptr : shardings.texts.data();
  a.sharding_sizes = shardings.texts.empty() ? nullptr : shardings.sizes.data();
}

}  // namespace

const abi::ShardingsExtension& shardings_extension() {
  static abi::ShardingsExtension extension = [] {
    abi::ShardingsExtension made{};
    made.struct_size = sizeof(made);
    made.type = abi::kShardingsExtension;
    made.of_parameters =
        extension_function<&abi::ExecutableShardingsArgs::sharding_sizes, "shardings_sizes",
                           "PJRT_Shardings_PJRT_Executable_ParameterShardings">(
            [](abi::ExecutableShardingsArgs& a) -> Status {
              MILLRACE_GIVEN(executable, executable);
              give(executable.program->argument_shardings(), a);
              return {};
            });
    made.of_outputs =
        extension_function<&abi::ExecutableShardingsArgs::sharding_sizes, "shardings_sizes",
                           "PJRT_Shardings_PJRT_Executable_OutputShardings">(
            [](abi::ExecutableShardingsArgs& a) -> Status {
              MILLRACE_GIVEN(executable, executable);
              give(executable.program->result_shardings(), a);
              return {};
            });
    return made;
  }();
  return extension;
}

}  // namespace millrace::pjrt_plugin
