// Contents: what operations hold, with all that they call: what a pass must know before it decides
// how to clone them.
#pragma once

#include <unordered_map>
#include <vector>

#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::stablehlo::spread {

// Sets, to be combined with |.
enum Holds : unsigned {
  kCollectives = 1,  // also what divides whole arrays among devices
  kIds = 2,          // the number of a device
  kEffects = 4,      // more than results: each device does it for itself
  kLoops = 8,
};

// What the operations of one module hold; each is looked at once. Thread-safety: confined.
class Contents {
 public:
  explicit Contents(const ir::Module& module) : module_(module) {}

  unsigned of(const ir::Op& op);
  unsigned of(const ir::Function& function);
  // Values of the surroundings that op's regions use, each once.
  const std::vector<ir::Value*>& captures(const ir::Op& op);

 private:
  unsigned of(const ir::Region& region);

  const ir::Module& module_;
  std::unordered_map<const ir::Op*, unsigned> ops_;  // that have regions
  std::unordered_map<const ir::Function*, unsigned> functions_;
  std::unordered_map<const ir::Op*, std::vector<ir::Value*>> captures_;
};

// Whether devices give each other arrays by this operation itself.
bool is_collective(const ir::Op& op);

// The function that a call or composite stands for; nullptr if op is neither, or there is none.
const ir::Function* called(const ir::Module& module, const ir::Op& op);

}  // namespace millrace::devices::stablehlo::spread
