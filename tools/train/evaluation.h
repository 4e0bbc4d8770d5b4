// evaluate(): runs a model's eval program over a data set on all devices. Every item counts exactly
// once: the last batch is filled up with others, which the program is told not to count.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "millrace/core/async/coroutine.h"
#include "millrace/core/async/environment.h"
#include "millrace/devices/device.h"
#include "millrace/tools/train/model.h"
#include "millrace/transfer/item_source.h"

namespace millrace::train {

struct Evaluation {
  Environment environment;
  std::vector<devices::Device> devices;
  const ProgramSpec* program = nullptr;
  devices::Executable executable;
  std::shared_ptr<transfer::ItemSource> data;
  std::vector<devices::Buffers> params;  // per device
  std::vector<devices::Buffers> state;   // per device
  CallOptions call;
};

struct EvaluationResult {
  std::uint64_t items = 0;
  std::uint64_t correct = 0;
  double loss_sum = 0;
};

// Errors are those of the loader and the devices; its loader is closed when it completes.
Task<EvaluationResult> evaluate(Evaluation evaluation);

}  // namespace millrace::train
