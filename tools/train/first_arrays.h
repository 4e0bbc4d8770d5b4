// What a run begins with on its first device, which broadcasts it to the others: parameters,
// momenta and state, in the order of init's outputs.
#pragma once

#include <cstdint>
#include <vector>

#include "millrace/core/call_options.h"
#include "millrace/core/coroutine.h"
#include "millrace/devices/device.h"
#include "millrace/tools/train/model.h"
#include "millrace/transfer/formats/safetensors.h"

namespace millrace::train {

// As init makes them from the seed.
Task<devices::Buffers> new_arrays(devices::Device device, devices::Executable init,
                                  std::uint64_t seed, CallOptions call);
// As a checkpoint has them. kNotFound or kDataLoss if it lacks one, or has it in another shape.
Task<devices::Buffers> saved_arrays(devices::Device device, std::vector<TensorSpec> arrays,
                                    transfer::SafetensorsFile file, CallOptions call);

}  // namespace millrace::train
