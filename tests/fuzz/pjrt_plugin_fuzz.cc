// What callers of the PJRT plugin give as bytes: compile options, topologies, serialized
// executables. None ends the process; what is read is written again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "millrace/tools/pjrt_plugin/compile_options.h"
#include "millrace/tools/pjrt_plugin/executable.h"
#include "millrace/tools/pjrt_plugin/topology.h"

using namespace millrace::pjrt_plugin;  // NOLINT(google-build-using-namespace)

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static ClientBody* const body =
      millrace::make_ref<ClientBody>(CreateOptions{.devices = 4, .threads = 1}).detach();
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto options = read_compile_options(bytes, 4)) {
    const std::string written = write_device_assignment(*options);
    if (options->on_any_one() != written.empty()) std::abort();
  }
  if (const auto topology = parse_topology(bytes)) {
    if (!parse_topology(serialize_topology(**topology))) std::abort();
  }
  // With the line before it, so that the fuzzer need not find its length.
  std::string whole = "millrace executable 1 0 " + std::to_string(size) + "\n";
  whole.append(bytes);
  static_cast<void>(CompiledProgram::load(*body, whole, {}));
  static_cast<void>(CompiledProgram::load(*body, bytes, {}));
  return 0;
}
