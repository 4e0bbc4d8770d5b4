// WholeArrays: the arrays of a program that is written for whole arrays, of which each device has a
// part (Shardy). They are cut for the devices, and put together from theirs. Pure. Read next:
// run.cc, devices/stablehlo/sharding/shards.h.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "millrace/devices/buffer.h"
#include "millrace/devices/program.h"
#include "millrace/devices/stablehlo/ir/type.h"
#include "millrace/devices/stablehlo/sharding/sharding.h"

namespace millrace::commands {

// Devices are counted as the program's partitions. Thread-safety: immutable.
class WholeArrays {
 public:
  // nullopt: each device has arrays of its own, as the program has no mesh. It is one that a
  // backend has compiled; errors are those of reading it.
  static Result<std::optional<WholeArrays>> of(const devices::Program& program);

  // As the program has them.
  std::span<const devices::Shape> arguments() const { return arguments_.shapes; }
  // What a device has of an argument: the array itself where that is all of it.
  devices::HostArray part(std::size_t argument, const devices::HostArray& whole,
                          std::size_t device) const;
  // From what each device has. kUnimplemented for a result of which they have summands.
  Result<devices::HostArray> whole(std::size_t result,
                                   std::span<const devices::HostArray> parts) const;

 private:
  struct List {
    std::vector<devices::Shape> shapes;
    std::vector<devices::stablehlo::sharding::Sharding> shardings;
  };
  static List list_of(std::span<const devices::stablehlo::ir::Type> types,
                      std::vector<devices::stablehlo::sharding::Sharding> shardings);

  List arguments_, results_;
};

}  // namespace millrace::commands
