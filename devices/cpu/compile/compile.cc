#include "millrace/devices/cpu/compile/compile.h"

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "millrace/core/base/check.h"
#include "millrace/core/base/mutex.h"
#include "millrace/devices/cpu/choose/make_kernel.h"
#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/cpu/compile/native_ops.h"
#include "millrace/devices/cpu/compile/several_devices.h"
#include "millrace/devices/shape.h"
#include "millrace/devices/stablehlo/read_program.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/verify/verify.h"

namespace millrace::devices::cpu {
namespace {

Result<const ir::Function*> entry(const ir::Module& module) {
  const ir::Function* main = stablehlo::specialise::entry(module);
  if (main != nullptr) return main;
  return fail(ErrorCode::kInvalidArgument, "the program has no function @main");
}

// A program without a plan yet. One of dynamic shapes stays so: it is kept as it was written, and
// refined() specialises it for the shapes of each call (which of these stay is up to execution.h).
// The plan of what it gives is made when it is first needed, by prepare(): by the device's threads,
// not by the call.
class Unplanned final : public Compiled {
 public:
  // module is verified; options are those of the plans.
  static Result<std::shared_ptr<const Compiled>> create(ir::Module module, PlanOptions options) {
    MILLRACE_TRY(const ir::Function* const main, entry(module));
    auto made = std::make_shared<Unplanned>();
    MILLRACE_TRY(made->inputs_, stablehlo::specialise::shapes_of(main->inputs(), "argument"));
    MILLRACE_TRY(made->outputs_, stablehlo::specialise::shapes_of(main->results(), "result"));
    made->donated_ = donated_arguments(*main);
    made->options_ = std::move(options);
    made->module_ = std::make_shared<const ir::Module>(std::move(module));
    return made;
  }

  std::span<const Shape> inputs() const override { return inputs_; }
  std::span<const Shape> outputs() const override { return outputs_; }
  std::span<const int> donated() const override { return donated_; }
  Result<std::shared_ptr<const Compiled>> refined(std::span<const Shape> inputs) const override {
    if (are_complete(inputs_)) return Compiled::refined(inputs);
    MILLRACE_TRY(ir::Module module,
                 stablehlo::specialise::specialise(*module_, inputs, definition::evaluate));
    return create(std::move(module), options_);
  }
  // Nothing for a program of dynamic shapes.
  Status prepare() const override {
    if (ready_.load() != nullptr || !are_complete(inputs_)) return {};
    MutexLock lock(mutex_);
    if (!planned_) {
      planned_.emplace(make_plan(*module_, options_));
      module_ = nullptr;
      if (*planned_) ready_.store(planned_->value().get());
    }
    return *planned_ ? Status() : Status(std::unexpected(planned_->error()));
  }
  std::span<const OutputAlias> aliases() const override { return plan().aliases(); }
  std::size_t temporary_bytes() const override { return plan().temporary_bytes(); }
  Result<std::unique_ptr<CompiledRun>> make_run() const override {
    if (are_complete(inputs_)) return plan().make_run();
    return fail(ErrorCode::kFailedPrecondition,
                "a program of dynamic shapes runs for the shapes of a call only");
  }

 private:
  const Plan& plan() const {
    const Plan* const plan = ready_.load();
    MILLRACE_CHECK(plan != nullptr, "a program is used before prepare(), or without shapes");
    return *plan;
  }

  std::vector<Shape> inputs_, outputs_;
  std::vector<int> donated_;
  PlanOptions options_;
  mutable Mutex mutex_;  // held while the plan is made, and the module given up
  mutable std::shared_ptr<const ir::Module> module_;
  mutable std::optional<Result<std::unique_ptr<Plan>>> planned_ MILLRACE_GUARDED_BY(mutex_);
  mutable std::atomic<const Plan*> ready_{nullptr};
};

}  // namespace

Result<std::vector<Shape>> argument_shapes(const ir::Module& module) {
  MILLRACE_TRY(const ir::Function* const main, entry(module));
  return stablehlo::specialise::shapes_of(main->inputs(), "argument");
}

Result<ir::Module> read_to_run(const Program& program, std::span<const Shape> shapes) {
  MILLRACE_TRY(ir::Module module, stablehlo::read_program(program.code()));
  MILLRACE_TRY_STATUS(stablehlo::verify::verify(module));
  // What was put in place of a custom call has rules of its own.
  if (use_native_ops(module)) MILLRACE_TRY_STATUS(stablehlo::verify::verify(module));
  if (!stablehlo::specialise::is_needed(module)) return module;
  MILLRACE_TRY(const std::vector<Shape> inputs, argument_shapes(module));
  // Static arguments: whatever is dynamic inside follows from them.
  if (are_complete(inputs))
    return stablehlo::specialise::specialise(module, inputs, definition::evaluate);
  if (shapes.empty()) return module;
  return stablehlo::specialise::specialise(module, shapes, definition::evaluate);
}

Result<OneProgram> read_for_all_devices(const Program& program, std::span<const Shape> shapes) {
  MILLRACE_TRY(ir::Module module, read_to_run(program, shapes));
  const DeviceCounts counts = device_counts(module);
  if (counts.devices() > 1 && !stablehlo::specialise::is_needed(module))
    return for_all_devices(module, counts);
  return OneProgram{.module = std::move(module), .parts = {}};
}

Result<std::shared_ptr<const Compiled>> compile(const Program& program,
                                                const CompileOptions& options,
                                                const CompileContext& context) {
  MILLRACE_TRY(ir::Module module, read_to_run(program));
  PlanOptions how{.deterministic = options.deterministic};
  const DeviceCounts counts{.replicas = options.replicas, .partitions = options.partitions};
  const bool is_dynamic = stablehlo::specialise::is_needed(module) && counts.devices() == 1;
  // The stop is that of this call, not of the launches to come, which choose kernels themselves.
  if (is_dynamic) return Unplanned::create(std::move(module), how);
  how.stop = options.stop;
  if (context.chosen != nullptr) how.chosen = *context.chosen;
  if (counts.devices() > 1) {
    return plan_for_devices(module, counts,
                            {.process = context.process, .processes = options.processes},
                            std::move(how));
  }
  return make_plan(module, how);
}

}  // namespace millrace::devices::cpu
