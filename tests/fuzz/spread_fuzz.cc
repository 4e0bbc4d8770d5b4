// libFuzzer target: whatever the bytes, a module that reads and verifies is spread over several
// devices, as a local program and as a global one, or refused, and divided among processes; what
// spread and divide give has verified, and is not planned here. A good corpus is
// tests/devices/cpu/sharding/*.mlir.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "millrace/devices/stablehlo/propagate/propagate.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/stablehlo/sharding/read_sharding.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/spread/divide.h"
#include "millrace/devices/stablehlo/spread/spread.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace {

namespace spread = millrace::devices::stablehlo::spread;

// Each process takes its part of it.
void divide_among(int processes, const millrace::Result<spread::Spread>& whole) {
  if (!whole || std::ssize(whole->outputs) % processes != 0) return;
  const int devices = static_cast<int>(whole->outputs.size()) / processes;
  for (int p = 0; p < processes; ++p) (void)spread::divide(*whole, {processes, devices}, p);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace::devices::stablehlo;  // NOLINT: a target has one function
  const auto module = read_program({reinterpret_cast<const char*>(data), size});
  if (!module || !verify::verify(*module)) return 0;
  divide_among(2, spread::spread(*module, {.replicas = 2, .partitions = 2}));
  if (module->find("main") == nullptr || specialise::is_needed(*module)) return 0;
  const auto lie = propagate::shardings_of_main(*module, {.arguments = {true}, .results = {true}});
  const auto meshes = sharding::Meshes::of(*module);
  if (!lie || !meshes) return 0;
  std::int64_t devices = 1;
  for (const auto& [name, mesh] : meshes->all())
    devices = std::max(devices, std::min<std::int64_t>(mesh->devices(), 16));
  divide_among(
      2, spread::spread_global(*module, static_cast<int>(devices), {lie->arguments, lie->results}));
  return 0;
}
