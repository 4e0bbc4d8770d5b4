#include "millrace/devices/cpu/compile/several_devices.h"

#include <utility>

#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/spread/spread.h"

namespace millrace::devices::cpu {
namespace {

// Thread-safety: immutable.
class SpreadPlan final : public Compiled {
 public:
  SpreadPlan(std::unique_ptr<Plan> plan, DeviceParts parts)
      : plan_(std::move(plan)), parts_(std::move(parts)) {}

  std::span<const Shape> inputs() const override { return plan_->inputs(); }
  std::span<const Shape> outputs() const override { return plan_->outputs(); }
  std::span<const int> donated() const override { return plan_->donated(); }
  const DeviceParts* device_parts() const override { return &parts_; }
  std::span<const OutputAlias> aliases() const override { return plan_->aliases(); }
  std::size_t temporary_bytes() const override { return plan_->temporary_bytes(); }
  Result<std::unique_ptr<CompiledRun>> make_run() const override { return plan_->make_run(); }
  std::optional<RunCost> cost() const override { return plan_->cost(); }
  KernelChoices choices() const override { return plan_->choices(); }

 private:
  const std::unique_ptr<Plan> plan_;
  const DeviceParts parts_;
};

}  // namespace

Result<std::shared_ptr<const Compiled>> plan_for_devices(const ir::Module& module,
                                                         const CompileOptions& options,
                                                         const PlanOptions& how) {
  const ir::Function* const main = stablehlo::specialise::entry(module);
  if (main == nullptr)
    return fail(ErrorCode::kInvalidArgument, "the program has no function @main");
  MILLRACE_TRY(stablehlo::spread::Spread one,
               stablehlo::spread::spread(
                   module, {.replicas = options.replicas, .partitions = options.partitions}));
  DeviceParts parts;
  MILLRACE_TRY(parts.arguments, stablehlo::specialise::shapes_of(main->inputs(), "argument"));
  MILLRACE_TRY(parts.results, stablehlo::specialise::shapes_of(main->results(), "result"));
  parts.donated = donated_arguments(*main);
  for (const stablehlo::spread::Spread::Part& input : one.inputs)
    parts.inputs.push_back({.device = input.device, .argument = input.argument});
  parts.outputs = std::move(one.outputs);
  MILLRACE_TRY(std::unique_ptr<Plan> plan, make_plan(one.module, how));
  return std::make_shared<const SpreadPlan>(std::move(plan), std::move(parts));
}

}  // namespace millrace::devices::cpu
