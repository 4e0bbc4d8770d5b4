// The umbrella header: #include <millrace/millrace.h>. It has what a program needs that puts data
// on devices and runs programs there; the names of the devices room are at hand without their
// namespace. A program that wants less to compile includes single headers:
// "millrace/core/async/future.h", ...
#pragma once

#include "millrace/core/async/blocking.h"     // IWYU pragma: export
#include "millrace/core/async/combinators.h"  // IWYU pragma: export
#include "millrace/core/async/coroutine.h"    // IWYU pragma: export
#include "millrace/core/async/future.h"       // IWYU pragma: export
#include "millrace/core/base/error.h"         // IWYU pragma: export
#include "millrace/devices/buffer.h"          // IWYU pragma: export
#include "millrace/devices/device.h"          // IWYU pragma: export
#include "millrace/devices/program.h"         // IWYU pragma: export
#include "millrace/devices/shape.h"           // IWYU pragma: export
#include "millrace/tools/api/execute.h"       // IWYU pragma: export
#include "millrace/tools/api/runtime.h"       // IWYU pragma: export

namespace millrace {

using devices::Argument;
using devices::Buffer;
using devices::Buffers;
using devices::CompileOptions;
using devices::Device;
using devices::DType;
using devices::Executable;
using devices::HostArray;
using devices::HostView;
using devices::Program;
using devices::Shape;

}  // namespace millrace
