// The checks of a launch that every backend makes before anything is donated.
#pragma once

#include "millrace/devices/client.h"

namespace millrace::devices {

// kInvalidArgument: the executable is of another client; wrong number of devices or arguments; a
// buffer, named, of another client, on another device or of another shape. kFailedPrecondition, as
// any use of it: a buffer that was donated or removed before. Costs no allocation if all is well.
Status check_launch(const ExecutableBody& executable, const Client& client,
                    const LaunchArguments& call);

// The same of the arguments of one of its devices.
Status check_arguments(const ExecutableBody& executable, const Client& client,
                       std::span<const Buffer> arguments, DeviceId device);

// The error of what a stop has cut off: kDeadlineExceeded if the launch's deadline had come by
// `now`, by the clock of the device, else kCancelled.
Error stopped_error(const ExecutableBody& executable, TimePoint deadline, TimePoint now);

// True for input i of a launch that takes the caller's buffer away.
bool donates(const ExecutableBody& executable, const LaunchArguments& call, std::size_t input);

}  // namespace millrace::devices
