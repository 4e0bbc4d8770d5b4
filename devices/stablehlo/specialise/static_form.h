// The static form of an operation whose shape comes from operands: the operands that hold it become
// attributes, the others stay. Read next: walk.h, which calls it for every operation.
#pragma once

#include <vector>

#include "millrace/core/base/error.h"
#include "millrace/devices/stablehlo/ir/module.h"
#include "millrace/devices/stablehlo/specialise/known.h"

namespace millrace::devices::stablehlo::specialise {

// What stands for an operation in the refined module.
struct StaticForm {
  ir::OpKind kind = ir::OpKind::kOther;
  std::vector<ir::Value*> operands;
  std::vector<ir::NamedAttribute> attributes;
  std::vector<Dims> dims;  // of the results, where the operands hold them; ir::kDynamic: unknown
  // Not empty: these are the results, and no operation is needed.
  std::vector<ir::Value*> instead;
  // Its body is that of this function (custom calls that stand for operations with a body).
  const ir::Function* body = nullptr;
};

// The operation `op` of the module `from` with refined operands. Operations that it needs besides
// go to the end of `to`, a block of `into`. kUnimplemented with line, column and op if a shape
// depends on data; kInvalidArgument if what is known makes no shape.
Result<StaticForm> static_form(const ir::Module& from, const ir::Op& op,
                               std::vector<ir::Value*> operands, ir::Module& into, ir::Block& to,
                               KnownValues& known);

// A constant with this value, at the end of `to`.
ir::Value* constant(ir::Module& into, ir::Block& to, ir::Location location, const KnownRef& value,
                    KnownValues& known);

// Custom calls that only static_form and the walk understand: assertions about shapes, operations
// that StableHLO spells so while their shapes are unknown.
bool is_shape_call(const ir::Op& op);

}  // namespace millrace::devices::stablehlo::specialise
