#include "tests/support/spread_programs.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "millrace/devices/stablehlo/sharding/read_sharding.h"
#include "millrace/devices/stablehlo/spread/spread.h"
#include "millrace/devices/stablehlo/text/read_text.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::testing {

namespace ir = devices::stablehlo::ir;
namespace sharding = devices::stablehlo::sharding;
namespace spread = devices::stablehlo::spread;

using devices::HostArray;
using devices::Shape;

namespace {

HostArray reshaped(const HostArray& array, std::span<const std::int64_t> dims) {
  HostArray made = HostArray::make(Shape(array.shape().dtype(), dims));
  std::ranges::copy(array.bytes(), made.mutable_bytes().begin());
  return made;
}

}  // namespace

Result<spread::Spread> spread_of(const RandomProgram& program) {
  MILLRACE_TRY(const ir::Module module,
               devices::stablehlo::text::read_text(program.is_manual ? program.to_manual_text()
                                                                     : program.to_text()));
  MILLRACE_TRY_STATUS(devices::stablehlo::verify::verify(module));
  if (!program.is_manual)
    return spread::spread(module, {.replicas = program.devices, .divides = true});
  MILLRACE_TRY(const auto meshes, sharding::Meshes::of(module));
  const ir::Function& main = *module.find("main");
  std::vector<sharding::Sharding> in, out;
  for (int i = 0; i < static_cast<int>(main.inputs().size()); ++i) {
    MILLRACE_TRY(in.emplace_back(),
                 sharding::read_sharding(main.arg_attribute(i, "sdy.sharding"), meshes));
  }
  for (int i = 0; i < static_cast<int>(main.results().size()); ++i) {
    MILLRACE_TRY(
        out.emplace_back(),
        sharding::read_sharding(ir::find(main.result_attributes(i), "sdy.sharding"), meshes));
  }
  return spread::spread_global(module, program.devices, {in, out}, true);
}

std::vector<std::vector<HostArray>> inputs_of_devices(const RandomProgram& program) {
  std::vector<std::vector<HostArray>> inputs;
  for (int d = 0; d < program.devices; ++d) {
    auto& arrays = inputs.emplace_back();
    for (const HostArray& array : random_inputs(program, d)) {
      std::vector<std::int64_t> dims(array.shape().dims().begin(), array.shape().dims().end());
      if (program.is_manual) dims.insert(dims.begin(), 1);
      arrays.push_back(reshaped(array, dims));
    }
  }
  return inputs;
}

}  // namespace millrace::testing
