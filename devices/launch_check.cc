#include "millrace/devices/launch_check.h"

#include <algorithm>
#include <string>

#include "millrace/devices/shape_pattern.h"

namespace millrace::devices {
namespace {

Status check_inputs(const ExecutableBody& executable, const Client& client,
                    std::span<const Buffer> inputs, DeviceId device) {
  const std::span<const Shape> shapes = executable.input_shapes();
  if (inputs.size() != shapes.size()) {
    return fail(ErrorCode::kInvalidArgument,
                "a launch of " + executable.name() + " takes " + std::to_string(shapes.size()) +
                    (shapes.size() == 1 ? " argument, not " : " arguments, not ") +
                    std::to_string(inputs.size()));
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Buffer& input = inputs[i];
    if (!input) {
      return fail(ErrorCode::kInvalidArgument, "argument " + std::to_string(i) + " of " +
                                                   executable.name() + " is an empty Buffer");
    }
    std::string why;
    if (&input.body()->client() != &client) {
      why = "belongs to another client";
    } else if (input.device() != device) {
      why = "is on device " + std::to_string(index(input.device())) + ", the launch on device " +
            std::to_string(index(device)) + ": copy it there first";
    } else if (shapes[i].dtype() != DType::kInvalid && !admits(shapes[i], input.shape())) {
      why = misfit(shapes[i], input.shape());
    } else if (input.removed()) {
      why = "was donated or removed before";
    } else {
      continue;
    }
    return fail(ErrorCode::kInvalidArgument, "argument " + std::to_string(i) + " of " +
                                                 executable.name() + ", a " +
                                                 input.shape().to_string() + ", " + why);
  }
  return {};
}

}  // namespace

Status check_launch(const ExecutableBody& executable, const Client& client,
                    const LaunchArguments& call) {
  const auto devices = static_cast<std::size_t>(executable.devices_per_launch());
  if (call.devices.size() != devices || call.arguments.size() != devices) {
    return fail(ErrorCode::kInvalidArgument,
                "a launch of " + executable.name() + " takes " + std::to_string(devices) +
                    (devices == 1 ? " device, not " : " devices, not ") +
                    std::to_string(call.devices.size()));
  }
  for (std::size_t d = 0; d < devices; ++d) {
    MILLRACE_TRY_STATUS(check_inputs(executable, client, call.arguments[d], call.devices[d]));
  }
  return {};
}

Error stopped_error(const ExecutableBody& executable, TimePoint deadline, TimePoint now) {
  if (now >= deadline) {
    return Error(ErrorCode::kDeadlineExceeded,
                 executable.name() + " was stopped on the device: its deadline had come");
  }
  return Error(ErrorCode::kCancelled, executable.name() + " was stopped on request");
}

bool donates(const ExecutableBody& executable, const LaunchArguments& call, std::size_t input) {
  return executable.donated_inputs()[input] &&
         std::ranges::find(call.non_donatable, static_cast<int>(input)) == call.non_donatable.end();
}

}  // namespace millrace::devices
