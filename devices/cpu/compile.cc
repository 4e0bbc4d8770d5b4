#include "millrace/devices/cpu/compile.h"

#include <utility>
#include <vector>

#include "millrace/devices/cpu/dynamic_program.h"
#include "millrace/devices/cpu/plan/native_ops.h"
#include "millrace/devices/cpu/planned_program.h"
#include "millrace/devices/cpu/read/read_program.h"
#include "millrace/devices/cpu/refine/refine.h"
#include "millrace/devices/cpu/verify/verify.h"
#include "millrace/devices/shape_pattern.h"

namespace millrace::devices::cpu {
namespace {

Result<std::shared_ptr<const Compiled>> compile_for(const Program& program, PlanOptions options) {
  MILLRACE_TRY(ir::Module module, read_to_run(program));
  if (!refine::is_needed(module)) return plan_program(module, options);
  options.stop = {};  // that of this call, not of the launches to come
  return make_dynamic_program(std::move(module), options);
}

}  // namespace

Result<std::vector<Shape>> argument_shapes(const ir::Module& module) {
  const ir::Function* main = refine::entry(module);
  if (main == nullptr)
    return fail(ErrorCode::kInvalidArgument, "the program has no function @main");
  return refine::shapes_of(main->inputs(), "argument");
}

Result<ir::Module> read_to_run(const Program& program, std::span<const Shape> shapes) {
  MILLRACE_TRY(ir::Module module, read::read_program(program.code()));
  MILLRACE_TRY_STATUS(verify::verify(module));
  // What was put in place of a custom call has rules of its own.
  if (use_native_ops(module)) MILLRACE_TRY_STATUS(verify::verify(module));
  if (!refine::is_needed(module)) return module;
  MILLRACE_TRY(const std::vector<Shape> inputs, argument_shapes(module));
  // Static arguments: whatever is dynamic inside follows from them.
  if (are_complete(inputs)) return refine::refine(module, inputs);
  if (shapes.empty()) return module;
  return refine::refine(module, shapes);
}

Result<std::shared_ptr<const Compiled>> compile(const Program& program,
                                                const CompileOptions& options) {
  return compile_for(program, {.deterministic = options.deterministic, .stop = options.stop});
}

Result<std::shared_ptr<const Compiled>> compile_again(const Program& program,
                                                      const CompileOptions& options,
                                                      const KernelChoices& choices) {
  return compile_for(
      program, {.deterministic = options.deterministic, .stop = options.stop, .chosen = choices});
}

}  // namespace millrace::devices::cpu
