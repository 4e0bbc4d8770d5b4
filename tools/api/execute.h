// execute and fetch of pending values: calls are chained without waiting.
//
//   Future<Executable> step = runtime.compile(program);
//   Future<Buffers> y = execute(device, step, {x, weights});
//   Future<HostArray> out = fetch(device, y, 0);
#pragma once

#include <cstddef>

#include "millrace/core/async/call_options.h"
#include "millrace/core/async/future.h"
#include "millrace/core/base/braced.h"
#include "millrace/devices/device.h"

namespace millrace {

// Runs the program once it is compiled: Device::execute, with its errors; an error of the
// compilation is the result. What must run after something else takes its outputs: two calls that
// share nothing keep no order here.
Future<devices::Buffers> execute(const devices::Device& device,
                                 const Future<devices::Executable>& executable,
                                 const ListOf<devices::Argument>& arguments,
                                 const CallOptions& call = {});

// Device::execute, for a program that is compiled already.
Future<devices::Buffers> execute(const devices::Device& device,
                                 const devices::Executable& executable,
                                 const ListOf<devices::Argument>& arguments,
                                 const CallOptions& call = {});

// One of several results that may not be there yet: kOutOfRange, with both numbers, if there is
// none of that index.
Future<devices::Buffer> pick(const Future<devices::Buffers>& buffers, std::size_t index);
// The same, brought to the host by the device that has it.
Future<devices::HostArray> fetch(const devices::Device& device,
                                 const Future<devices::Buffers>& buffers, std::size_t index,
                                 const CallOptions& call = {});

}  // namespace millrace
