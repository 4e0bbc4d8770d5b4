// collective_program: a collective as a program of one StableHLO operation per array, which every
// rank's device runs: so the devices of a plugin do it among themselves. Pure. Read next:
// device_collectives.h, which compiles and runs it.
#pragma once

#include <optional>

#include "millrace/collectives/collective_call.h"
#include "millrace/devices/program.h"

namespace millrace::collectives {

// For `ranks` replicas, which take the arrays of the call and give its results. Sums and means of
// f16 and bf16 are made in f32, as reduce() makes them. nullopt for a call that no operation does:
// one with a root, about numbers, or without arrays.
std::optional<devices::Program> collective_program(const CollectiveCall& call, int ranks);

}  // namespace millrace::collectives
