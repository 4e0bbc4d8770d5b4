// The weights of a Model: found by name in a file, and put on devices. Internal to model.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "millrace/core/async/coroutine.h"
#include "millrace/devices/device.h"
#include "millrace/tools/api/model_manifest.h"
#include "millrace/transfer/batch_model.h"
#include "millrace/transfer/formats/safetensors.h"

namespace millrace {

// Bytes of weights that are on their way to devices at once, unless one array has more.
inline constexpr std::size_t kWeightsInFlight = std::size_t{64} << 20;

// An input of a program that is a weight, and where it lies in the file.
struct WeightPlace {
  std::size_t position = 0;  // among the program's inputs
  devices::Shape shape = {};
  std::uint64_t offset = 0;
};

// The file behind a path: a file, a checkpoint (checked against its manifest), or the newest
// checkpoint of a folder. Blocking.
Result<transfer::SafetensorsFile> open_weights(const std::string& path);
// Finds each weight among the arrays by the name of its checkpoint ("param/fc1.bias"), or its plain
// one. Pure. kInvalidArgument: none of the name, or of another shape.
Result<std::vector<WeightPlace>> find_weights(const ProgramSpec& program,
                                              const transfer::SafetensorsHeader& header,
                                              const std::string& file);
// The arrays on one device, complete there.
Task<std::vector<transfer::BatchConstant>> put_weights(devices::Device device,
                                                       transfer::SafetensorsFile file,
                                                       std::vector<WeightPlace> places);
// "step-00000468" of a training's checkpoints; empty: the folder has none. Blocking.
Result<std::string> newest_checkpoint(const std::string& folder);

}  // namespace millrace
