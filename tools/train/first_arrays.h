// What a run begins with on its first device, which broadcasts it to the others: parameters,
// momenta and state, in the order of init's outputs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/core/call_options.h"
#include "millrace/core/coroutine.h"
#include "millrace/devices/device.h"
#include "millrace/tools/train/checkpoint.h"
#include "millrace/tools/train/model.h"

namespace millrace::train {

// As init makes them from the seed.
Task<devices::Buffers> new_arrays(devices::Device device, devices::Executable init,
                                  std::uint64_t seed, CallOptions call);
// As they were committed, which has all of them.
Task<devices::Buffers> committed_arrays(devices::Device device, std::vector<TensorSpec> arrays,
                                        std::shared_ptr<const Committed> committed,
                                        CallOptions call);

}  // namespace millrace::train
