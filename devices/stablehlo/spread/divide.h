// divide: what one process runs of a program that stands for the devices of several (spread.h).
// What it needs of another process comes by calls of its own, kGive there and kTake here, of one
// edge. Pure; every process divides the same program alike, and so numbers the edges alike. Read
// next: homes.h, which says what is where; devices/collective_backend.h, what carries it. Tokens
// stay in their process: they order what it does alone.
//
//   DV-1  A process gives a value as soon as it has it, and takes one where it first uses it, both
//         in the order of the program. So the process that is least far never waits for one that
//         waits for it.
//   DV-2  Who gives something in a round of a loop, or in the program, is given something by the
//         taker in the same round, at its end if nothing else. So no process gets more than a round
//         ahead, and what waits for a taker is bounded.
#pragma once

#include <string_view>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/spread/homes.h"
#include "millrace/devices/stablehlo/spread/one_program.h"

namespace millrace::devices::stablehlo::spread {

// Custom calls with these targets: of one operand, or of one result. No program may have them
// before it is divided.
inline constexpr std::string_view kGive = "millrace.give";
inline constexpr std::string_view kTake = "millrace.take";
// Their integer attributes: the edge, from 0; the process that takes, or gives.
inline constexpr std::string_view kEdge = "millrace.edge";
inline constexpr std::string_view kProcess = "millrace.process";

// The part of this process: its devices are counted from 0. whole has counts.processes *
// counts.devices devices, CHECKed. kInvalidArgument for a program with such calls;
// kUnimplemented, with the place, for tuples that would have to go to another process, and beyond
// kMostProcesses.
Result<Spread> divide(const Spread& whole, const ProcessCounts& counts, int process);

}  // namespace millrace::devices::stablehlo::spread
