#include "millrace/devices/launch_check.h"

#include <algorithm>
#include <string>

namespace millrace::devices {
namespace {

bool fits(const Shape& wanted, const Buffer& input, const Client& client, DeviceId device) {
  if (!input) return false;
  const BufferBody& body = *input.body();
  return &body.client() == &client && body.device() == device &&
         (wanted.dtype() == DType::kInvalid || admits(wanted, body.shape())) && !body.removed();
}

// The error of an input that does not fit. Apart from what every launch runs through.
[[gnu::cold, gnu::noinline]] Status misfit_error(const ExecutableBody& executable,
                                                 const Client& client, std::size_t i,
                                                 const Buffer& input, DeviceId device) {
  const std::string argument = "argument " + std::to_string(i) + " of " + executable.name();
  if (!input) return fail(ErrorCode::kInvalidArgument, argument + " is an empty Buffer");
  const Shape& wanted = executable.input_shapes()[i];
  std::string why;
  ErrorCode code = ErrorCode::kInvalidArgument;
  if (&input.body()->client() != &client) {
    why = "belongs to another client";
  } else if (input.device() != device) {
    why = "is on " + name_of(input.device()) + ", the launch on " + name_of(device) +
          ": copy it there first";
  } else if (wanted.dtype() != DType::kInvalid && !admits(wanted, input.shape())) {
    why = misfit(wanted, input.shape());
  } else {
    why = "was donated or removed before";
    code = ErrorCode::kFailedPrecondition;
  }
  return fail(code, argument + ", a " + input.shape().to_string() + ", " + why);
}

[[gnu::cold, gnu::noinline]] Status count_error(const ExecutableBody& executable,
                                                std::size_t wanted, const char* what,
                                                std::size_t given) {
  return fail(ErrorCode::kInvalidArgument,
              "a launch of " + executable.name() + " takes " + std::to_string(wanted) + " " + what +
                  (wanted == 1 ? ", not " : "s, not ") + std::to_string(given));
}

}  // namespace

Status check_arguments(const ExecutableBody& executable, const Client& client,
                       std::span<const Buffer> inputs, DeviceId device) {
  const std::span<const Shape> shapes = executable.input_shapes();
  if (inputs.size() != shapes.size()) [[unlikely]]
    return count_error(executable, shapes.size(), "argument", inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!fits(shapes[i], inputs[i], client, device)) [[unlikely]]
      return misfit_error(executable, client, i, inputs[i], device);
  }
  return {};
}

Status check_launch(const ExecutableBody& executable, const Client& client,
                    const LaunchArguments& call) {
  const auto devices = static_cast<std::size_t>(executable.devices_per_launch());
  if (call.devices.size() != devices || call.arguments.size() != devices) [[unlikely]]
    return count_error(executable, devices, "device", call.devices.size());
  for (std::size_t d = 0; d < devices; ++d) {
    MILLRACE_TRY_STATUS(check_arguments(executable, client, call.arguments[d], call.devices[d]));
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
