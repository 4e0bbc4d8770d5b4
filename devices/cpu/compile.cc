#include "millrace/devices/cpu/compile.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/plan/native_ops.h"
#include "millrace/devices/cpu/plan/plan.h"
#include "millrace/devices/cpu/read/read_program.h"
#include "millrace/devices/cpu/run/run.h"
#include "millrace/devices/cpu/verify/verify.h"

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

// JAX marks a donated argument with the output that it may become, or as free for any of them.
std::vector<int> donated_arguments(const ir::Module& module) {
  std::vector<int> donated;
  const ir::Function* main = module.find("main");
  if (main == nullptr && module.functions().size() == 1) main = &module.functions().front();
  if (main == nullptr) return donated;
  for (int i = 0; i < static_cast<int>(main->inputs().size()); ++i) {
    if (main->arg_attribute(i, "tf.aliasing_output") ||
        main->arg_attribute(i, "jax.buffer_donor")) {
      donated.push_back(i);
    }
  }
  return donated;
}

Result<std::shared_ptr<const Compiled>> compile_for(const Program& program,
                                                    const PlanOptions& options) {
  MILLRACE_TRY(const ir::Module module, read_to_run(program));
  MILLRACE_TRY(std::unique_ptr<Plan> plan, Plan::create(module, options));
  return std::make_shared<const PlannedProgram>(std::move(plan), donated_arguments(module));
}

}  // namespace

Result<ir::Module> read_to_run(const Program& program) {
  MILLRACE_TRY(ir::Module module, read::read_program(program.code()));
  use_native_ops(module);
  MILLRACE_TRY_STATUS(verify::verify(module));
  return module;
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
