#include "millrace/devices/cpu/planned_program.h"

#include <algorithm>
#include <utility>

#include "millrace/devices/cpu/refine/refine.h"
#include "millrace/devices/cpu/run/run.h"

namespace millrace::devices::cpu {
namespace {

class PlannedRun final : public CompiledRun {
 public:
  PlannedRun(const Plan& plan, std::unique_ptr<RunContext> context)
      : plan_(plan), context_(std::move(context)) {}

  Status run(const RunCall& call) override {
    // Spans of pointers to bytes, seen as spans of pointers to anything.
    inputs_.assign(call.inputs.begin(), call.inputs.end());
    outputs_.assign(call.outputs.begin(), call.outputs.end());
    return cpu::run(plan_, *context_, inputs_, outputs_, call.parallel, call.output_written,
                    call.stop);
  }

 private:
  const Plan& plan_;
  const std::unique_ptr<RunContext> context_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

class PlannedProgram final : public Compiled {
 public:
  PlannedProgram(std::unique_ptr<Plan> plan, std::vector<int> donated)
      : plan_(std::move(plan)), donated_(std::move(donated)) {
    for (const PlanAlias& alias : plan_->aliases()) {
      if (std::ranges::find(donated_, alias.input) != donated_.end()) {
        aliases_.push_back({.output = alias.output, .input = alias.input});
      }
    }
  }

  std::span<const Shape> inputs() const override { return plan_->inputs(); }
  std::span<const Shape> outputs() const override { return plan_->outputs(); }
  std::span<const int> donated() const override { return donated_; }
  std::span<const OutputAlias> aliases() const override { return aliases_; }
  std::size_t temporary_bytes() const override { return plan_->arena_bytes(); }
  Result<std::unique_ptr<CompiledRun>> make_run() const override {
    MILLRACE_TRY(std::unique_ptr<RunContext> context, RunContext::create(*plan_));
    return std::make_unique<PlannedRun>(*plan_, std::move(context));
  }
  KernelChoices choices() const override { return plan_->choices(); }

 private:
  const std::unique_ptr<Plan> plan_;
  const std::vector<int> donated_;
  std::vector<OutputAlias> aliases_;
};

}  // namespace

std::vector<int> donated_arguments(const ir::Module& module) {
  std::vector<int> donated;
  const ir::Function* main = refine::entry(module);
  if (main == nullptr) return donated;
  for (int i = 0; i < static_cast<int>(main->inputs().size()); ++i) {
    if (main->arg_attribute(i, "tf.aliasing_output") ||
        main->arg_attribute(i, "jax.buffer_donor")) {
      donated.push_back(i);
    }
  }
  return donated;
}

Result<std::shared_ptr<const Compiled>> plan_program(const ir::Module& module,
                                                     const PlanOptions& options) {
  MILLRACE_TRY(std::unique_ptr<Plan> plan, Plan::create(module, options));
  return std::make_shared<const PlannedProgram>(std::move(plan), donated_arguments(module));
}

}  // namespace millrace::devices::cpu
