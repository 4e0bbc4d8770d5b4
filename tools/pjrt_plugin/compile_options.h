// What PJRT_Client_Compile is asked for besides the program: XLA's CompileOptionsProto. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/program.h"

namespace millrace::pjrt_plugin {

// Options by name that begin with "xla_" are XLA's own, for its passes and its files: they are
// accepted and mean nothing here. kInvalidArgument for bytes that are no such message, another
// name, devices that a client of so many does not have or that are named twice; kUnimplemented for
// a layout of an argument that is not row-major.
Result<devices::CompileOptions> read_compile_options(std::string_view bytes,
                                                     std::size_t num_devices);

// XLA's DeviceAssignmentProto. Empty for a portable program.
std::string write_device_assignment(const devices::CompileOptions& options);

}  // namespace millrace::pjrt_plugin
