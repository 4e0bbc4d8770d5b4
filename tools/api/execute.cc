#include "millrace/tools/api/execute.h"

#include <string>
#include <utility>
#include <vector>

namespace millrace {

using devices::Argument;
using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::Executable;

Future<Buffers> execute(const Device& device, const Future<Executable>& executable,
                        std::span<const Argument> arguments, const CallOptions& call) {
  if (executable.ready()) {
    const Result<Executable>& compiled = executable.result();
    if (!compiled) return compiled.error();
    return device.execute(*compiled, arguments, {.call = call});
  }
  // Inline, since all it does is to enter the device's queue.
  return executable.then(
      inline_executor(),
      [device, call, kept = std::vector<Argument>(arguments.begin(), arguments.end())](
          Result<Executable> compiled) -> Future<Buffers> {
        if (!compiled) return compiled.error();
        return device.execute(*compiled, std::span<const Argument>(kept), {.call = call});
      });
}

Future<Buffers> execute(const Device& device, const Future<Executable>& executable,
                        std::initializer_list<Argument> arguments, const CallOptions& call) {
  return execute(device, executable, std::span<const Argument>(arguments.begin(), arguments.size()),
                 call);
}

Future<Buffer> pick(const Future<Buffers>& buffers, std::size_t index) {
  return buffers.then(inline_executor(), [index](Result<Buffers> all) -> Result<Buffer> {
    if (!all) return std::unexpected(all.error());
    if (index >= all->size()) {
      return fail(ErrorCode::kOutOfRange, "result " + std::to_string(index) +
                                              " was asked for, but there are " +
                                              std::to_string(all->size()) + " (counted from 0)");
    }
    return (*all)[index];
  });
}

Future<devices::HostArray> fetch(const Device& device, const Future<Buffers>& buffers,
                                 std::size_t index, const CallOptions& call) {
  return device.fetch(Argument(pick(buffers, index)), call);
}

}  // namespace millrace
