#include "millrace/devices/stablehlo/specialise/specialise.h"

#include <algorithm>
#include <string>
#include <utility>

#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/ir/message.h"
#include "millrace/devices/stablehlo/specialise/static_form.h"
#include "millrace/devices/stablehlo/specialise/walk.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::stablehlo::specialise {
namespace {

bool has_members(ir::Type type) {
  return type.kind() == ir::TypeKind::kTuple || type.kind() == ir::TypeKind::kFuture;
}

bool is_open(ir::Type type) {
  if (has_members(type)) return std::ranges::any_of(type.members(), is_open);
  return type.kind() == ir::TypeKind::kUnranked || (type.is_tensor() && !type.has_static_shape());
}

bool is_open(const ir::Block& block) {
  const auto open = [](const ir::Value& v) { return is_open(v.type()); };
  if (std::ranges::any_of(block.arguments(), open)) return true;
  for (const ir::Op& op : block) {
    if (std::ranges::any_of(op.results(), open) || is_shape_call(op)) return true;
    for (const ir::Region& region : op.regions()) {
      for (const ir::Block* inner : region.blocks()) {
        if (is_open(*inner)) return true;
      }
    }
  }
  return false;
}

Status add_shapes(ir::Type type, const std::string& what, std::vector<Shape>& shapes) {
  if (type.kind() == ir::TypeKind::kToken) return {};
  if (has_members(type)) {
    for (const ir::Type member : type.members())
      MILLRACE_TRY_STATUS(add_shapes(member, what, shapes));
    return {};
  }
  const ir::QuantParameters* quant = type.is_tensor() ? type.element().quant() : nullptr;
  const DType dtype = quant != nullptr ? quant->storage : type.dtype();
  if (type.is_tensor() && type.rank() > kMaxRank) {
    return fail(ErrorCode::kUnimplemented,
                ir::message(what, ": the type ", type, " has ", type.rank(),
                            " dimensions; the CPU device has arrays of at most ", kMaxRank));
  }
  if (!type.is_tensor() || bit_width(dtype) == 0) {
    return fail(ErrorCode::kUnimplemented,
                ir::message(what, ": the type ", type, " is not supported by the CPU device"));
  }
  std::vector<std::int64_t> dims(type.dims().begin(), type.dims().end());
  std::ranges::replace(dims, ir::kDynamic, kUnknownDimension);
  shapes.emplace_back(dtype, dims);
  return {};
}

// The type of an argument with the next of the shapes that a call has, or as many as it has
// members.
Result<ir::Type> argument_type(ir::TypeTable& types, ir::Type type, std::span<const Shape> shapes,
                               std::size_t& next) {
  if (has_members(type)) {
    std::vector<ir::Type> members;
    for (const ir::Type member : type.members()) {
      MILLRACE_TRY(members.emplace_back(), argument_type(types, member, shapes, next));
    }
    return type.kind() == ir::TypeKind::kTuple ? types.tuple(members) : types.future(members);
  }
  if (!type.is_tensor()) return type;
  const Shape& shape = shapes[next++];
  for (std::size_t d = 0; d < type.bounds().size(); ++d) {
    const std::int64_t size = shape.dim(static_cast<int>(d));
    if (type.bounds()[d] == ir::kDynamic || size <= type.bounds()[d]) continue;
    return fail(
        ErrorCode::kInvalidArgument,
        ir::message("argument ", next - 1, ", a ", shape, ", should be ", type, ": dimension ", d,
                    " is ", size, ", more than its bound of ", type.bounds()[d]));
  }
  return with_dims(types, type, shape.dims());
}

Status check_arguments(std::span<const Shape> patterns, std::span<const Shape> shapes) {
  if (patterns.size() != shapes.size()) {
    return fail(ErrorCode::kInvalidArgument,
                ir::message("found ", shapes.size(), " arguments, expected ", patterns.size()));
  }
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (admits(patterns[i], shapes[i]) && is_complete(shapes[i])) continue;
    return fail(ErrorCode::kInvalidArgument, ir::message("argument ", i, ", a ", shapes[i], ", ",
                                                         misfit(patterns[i], shapes[i])));
  }
  return {};
}

}  // namespace

bool is_needed(const ir::Module& module) {
  return std::ranges::any_of(module.functions(), [](const ir::Function& f) {
    return std::ranges::any_of(f.body().blocks(), [](const ir::Block* b) { return is_open(*b); });
  });
}

const ir::Function* entry(const ir::Module& module) {
  if (const ir::Function* main = module.find("main")) return main;
  return module.functions().size() == 1 ? &module.functions().front() : nullptr;
}

Result<std::vector<Shape>> shapes_of(std::span<const ir::Type> types, std::string_view what) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < types.size(); ++i) {
    MILLRACE_TRY_STATUS(add_shapes(types[i], std::string(what) + " " + std::to_string(i), shapes));
  }
  return shapes;
}

Result<ir::Module> specialise(const ir::Module& module, std::span<const Shape> inputs,
                              Evaluate evaluate) {
  const ir::Function* main = entry(module);
  if (main == nullptr || main->is_declaration()) {
    return fail(ErrorCode::kInvalidArgument, "the program has no function @main with a body");
  }
  MILLRACE_TRY(const std::vector<Shape> patterns, shapes_of(main->inputs(), "argument"));
  MILLRACE_TRY_STATUS(check_arguments(patterns, inputs));
  ir::Module made = ir::Module::over(module);
  made.set_name(module.name());
  made.set_attributes(module.attributes());
  std::size_t next = 0;
  std::vector<ir::Type> types;
  for (const ir::Type type : main->inputs()) {
    MILLRACE_TRY(types.emplace_back(), argument_type(made.types(), type, inputs, next));
  }
  MILLRACE_TRY_STATUS(Walk(module, made, evaluate).entry(*main, types));
  MILLRACE_TRY_STATUS(verify::verify(made));
  return made;
}

}  // namespace millrace::devices::stablehlo::specialise
