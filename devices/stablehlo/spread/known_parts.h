// KnownParts: whole arrays whose parts are at hand, because they were put together from them. What
// wants the same parts again, a device or the body of a manual computation, gets these: no copies,
// and where the program says that devices have equal parts and they have not, each keeps its own.
#pragma once

#include <unordered_map>
#include <vector>

#include "millrace/devices/stablehlo/ir/op.h"
#include "millrace/devices/stablehlo/sharding/sharding.h"

namespace millrace::devices::stablehlo::spread {

// By values of the program as it was written. Thread-safety: confined.
class KnownParts {
 public:
  // by_device: none is nullptr. The newest counts.
  void add(const ir::Value* whole, const sharding::Sharding& sharding,
           std::vector<ir::Value*> by_device);
  // What the device has of it by this sharding; nullptr: that has to be cut out.
  ir::Value* find(const ir::Value* whole, const sharding::Sharding& sharding, int device) const;

 private:
  struct Known {
    sharding::Sharding sharding;
    std::vector<ir::Value*> by_device;
  };
  std::unordered_map<const ir::Value*, Known> known_;
};

}  // namespace millrace::devices::stablehlo::spread
