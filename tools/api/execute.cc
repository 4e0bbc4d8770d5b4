#include "millrace/tools/api/execute.h"

#include <string>
#include <utility>

#include "millrace/core/async/combinators.h"
#include "millrace/devices/device.h"
#include "millrace/devices/device_body.h"

namespace millrace {

using devices::Argument;
using devices::Buffer;
using devices::Buffers;
using devices::Device;
using devices::Executable;

Future<Buffers> execute(const Device& device, const Future<Executable>& executable,
                        const ListOf<Argument>& arguments, const CallOptions& call) {
  if (!executable.valid())
    return fail(ErrorCode::kInvalidArgument, "execute was given an empty Future of an Executable");
  if (executable.ready()) {
    const Result<Executable>& compiled = executable.result();
    if (!compiled) return compiled.error();
    return device.execute(*compiled, arguments, {.call = call});
  }
  if (!device) return fail(ErrorCode::kInvalidArgument, "execute was given an empty Device");
  const devices::DeviceBody& actor = *device.body();
  if (Status ok = check_in_time(call, actor.clock(), "execute"); !ok) return ok.error();
  // Inline, since all it does is to enter the device's queue.
  return with_options(executable, call, actor.timers())
      .then(inline_executor(),
            [device, call, arguments](Result<Executable> compiled) -> Future<Buffers> {
              if (!compiled) return compiled.error();
              return device.execute(*compiled, arguments, {.call = call});
            });
}

Future<Buffers> execute(const Device& device, const Executable& executable,
                        const ListOf<Argument>& arguments, const CallOptions& call) {
  return device.execute(executable, arguments, {.call = call});
}

Future<Buffer> pick(const Future<Buffers>& buffers, std::size_t index) {
  if (!buffers.valid())
    return fail(ErrorCode::kInvalidArgument, "pick was given an empty Future of Buffers");
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
  if (!buffers.valid())
    return fail(ErrorCode::kInvalidArgument, "fetch was given an empty Future of Buffers");
  return device.fetch(Argument(pick(buffers, index)), call);
}

}  // namespace millrace
