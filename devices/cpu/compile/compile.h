// compile: from a program to what the CPU client runs: read, verify, plan.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "millrace/devices/cpu/compile/compiled.h"
#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/compile/several_devices.h"
#include "millrace/devices/program.h"
#include "millrace/devices/stablehlo/ir/module.h"

namespace millrace::devices::cpu {

namespace ir = stablehlo::ir;

// Text or bytecode, verified, with the CPU device's own operations where it has them
// (native_ops.h): what make_plan() takes. A program whose arguments have dynamic shapes is refined
// for arguments of these shapes, or stays as it was written if there are none. Errors carry
// line:column or byte.
Result<ir::Module> read_to_run(const Program& program, std::span<const Shape> shapes = {});

// The shapes of @main's arguments, with kUnknownDimension (shape.h) where a call decides.
// Errors as above.
Result<std::vector<Shape>> argument_shapes(const ir::Module& module);

// read_to_run(), then the same for a program that says that it is for several devices. Of one for
// one device, or whose shapes a call decides, the parts are empty.
Result<OneProgram> read_for_all_devices(const Program& program, std::span<const Shape> shapes = {});

// Errors carry line:column: kInvalidArgument for a program that is wrong, kUnimplemented for one
// that the CPU device cannot run; kDataLoss where context.chosen does not fit the program.
Result<std::shared_ptr<const Compiled>> compile(const Program& program,
                                                const CompileOptions& options,
                                                const CompileContext& context = {});

}  // namespace millrace::devices::cpu
