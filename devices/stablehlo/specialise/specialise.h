// specialise: a program of dynamic shapes, and the shapes of the arguments of one call, make a
// program of static shapes, which goes the usual way (verify, plan, run). Every shape must follow
// from those of the arguments: sizes of dimensions are folded through the arithmetic, calls and
// control flow that lead to the operands that say shapes; operations with such operands get their
// static form; what the program asserts of shapes is checked. Pure. Read next: walk.h.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/specialise/known.h"

namespace millrace::devices::stablehlo::specialise {

// Whether a module must be specialised before it can be planned: types with dimensions that are not
// known, or custom calls about shapes.
bool is_needed(const ir::Module& module);

// The function that a program begins with: @main, or the only one; nullptr if there is none.
const ir::Function* entry(const ir::Module& module);

// The arrays of these types as a caller sees them: members of tuples in a row, tokens not at all;
// kUnknownDimension (shape.h) where the type does not say. kUnimplemented, naming `what`,
// for what has no such form.
Result<std::vector<Shape>> shapes_of(std::span<const ir::Type> types, std::string_view what);

// The program for these shapes of its arguments, in the order of shapes_of(inputs): the entry
// function under its name, and what it calls; verified. module is verified and is not changed;
// several threads may specialise it. kInvalidArgument for shapes that the program does not take,
// with the argument and the dimension, or with line, column and op of what they do not fit;
// kUnimplemented, with the same, if a shape depends on data.
Result<ir::Module> specialise(const ir::Module& module, std::span<const Shape> inputs,
                              Evaluate evaluate);

}  // namespace millrace::devices::stablehlo::specialise
