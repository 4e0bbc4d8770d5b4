#include "millrace/devices/cpu/compile/several_devices.h"

#include <string>
#include <string_view>
#include <utility>

#include "millrace/devices/cpu/compile/compile.h"
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

// How clients of old mark what GSPMD is to partition.
Status refuse_gspmd(const ir::Function& main) {
  const auto refuse = [](const std::string& what) {
    return fail(ErrorCode::kUnimplemented,
                what +
                    " has an mhlo.sharding: a program for several partitions says by Shardy "
                    "(sdy.sharding) how its arrays lie");
  };
  for (int i = 0; i < static_cast<int>(main.inputs().size()); ++i) {
    if (main.arg_attribute(i, "mhlo.sharding")) return refuse("argument " + std::to_string(i));
  }
  for (int i = 0; i < static_cast<int>(main.results().size()); ++i) {
    if (ir::find(main.result_attributes(i), "mhlo.sharding"))
      return refuse("result " + std::to_string(i));
  }
  return {};
}

}  // namespace

DeviceCounts device_counts(const ir::Module& module) {
  constexpr std::int64_t kMost = 1 << 20;
  const auto count = [&](std::string_view name) -> std::int64_t {
    const auto* const found = ir::find(module.attributes(), name).as<ir::IntegerAttr>();
    return found == nullptr ? 1 : found->value;
  };
  const std::int64_t replicas = count("mhlo.num_replicas");
  const std::int64_t partitions = count("mhlo.num_partitions");
  if (replicas < 1 || partitions < 1 || replicas > kMost || partitions > kMost / replicas)
    return {};
  return {.replicas = static_cast<int>(replicas), .partitions = static_cast<int>(partitions)};
}

Result<OneProgram> for_all_devices(const ir::Module& module, const DeviceCounts& counts) {
  const ir::Function* const main = stablehlo::specialise::entry(module);
  if (main == nullptr)
    return fail(ErrorCode::kInvalidArgument, "the program has no function @main");
  DeviceParts parts;
  MILLRACE_TRY(parts.arguments, stablehlo::specialise::shapes_of(main->inputs(), "argument"));
  MILLRACE_TRY(parts.results, stablehlo::specialise::shapes_of(main->results(), "result"));
  if (stablehlo::specialise::is_needed(module)) {
    return fail(ErrorCode::kUnimplemented,
                "a program whose arguments have dynamic shapes runs on one device, not on " +
                    std::to_string(counts.devices()) +
                    ": compile it for the shapes of its arguments");
  }
  MILLRACE_TRY_STATUS(refuse_gspmd(*main));
  MILLRACE_TRY(stablehlo::spread::Spread one,
               stablehlo::spread::spread(
                   module, {.replicas = counts.replicas, .partitions = counts.partitions}));
  parts.donated = donated_arguments(*main);
  for (const stablehlo::spread::Spread::Part& input : one.inputs)
    parts.inputs.push_back({.device = input.device, .argument = input.argument});
  parts.outputs = std::move(one.outputs);
  return OneProgram{.module = std::move(one.module), .parts = std::move(parts)};
}

Result<OneProgram> read_for_all_devices(const Program& program, std::span<const Shape> shapes) {
  MILLRACE_TRY(ir::Module module, read_to_run(program, shapes));
  const DeviceCounts counts = device_counts(module);
  if (counts.devices() > 1 && !stablehlo::specialise::is_needed(module))
    return for_all_devices(module, counts);
  return OneProgram{.module = std::move(module), .parts = {}};
}

Result<std::shared_ptr<const Compiled>> plan_for_devices(const ir::Module& module,
                                                         const DeviceCounts& counts,
                                                         const PlanOptions& options) {
  MILLRACE_TRY(OneProgram one, for_all_devices(module, counts));
  MILLRACE_TRY(std::unique_ptr<Plan> plan, make_plan(one.module, options));
  return std::make_shared<const SpreadPlan>(std::move(plan), std::move(one.parts));
}

}  // namespace millrace::devices::cpu
