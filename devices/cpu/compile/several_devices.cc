#include "millrace/devices/cpu/compile/several_devices.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "millrace/devices/cpu/compile/make_plan.h"
#include "millrace/devices/stablehlo/propagate/propagate.h"
#include "millrace/devices/stablehlo/sharding/op_sharding.h"
#include "millrace/devices/stablehlo/sharding/shards.h"
#include "millrace/devices/stablehlo/specialise/specialise.h"
#include "millrace/devices/stablehlo/spread/contents.h"
#include "millrace/devices/stablehlo/spread/divide.h"
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

// Whether @main is written for whole arrays: the program says by Shardy how they lie, or it is the
// same on all partitions.
bool is_global(const ir::Module& module) {
  if (has_mesh(module)) return true;
  using namespace stablehlo::spread;
  Contents contents(module);
  return std::ranges::none_of(module.functions(), [&](const ir::Function& function) {
    return (contents.of(function) & (kCollectives | kIds)) != 0;
  });
}

// Arguments that the program donates. One that is to be donated for whatever result it fits
// (jax.buffer_donor) is not where none does; then it stays with its owner, as under XLA.
std::vector<int> donated_parts(const ir::Function& main, const DeviceParts& parts) {
  std::vector<int> donated;
  std::vector<char> taken(parts.results.size(), 0);
  const std::vector<int> wanted = donated_arguments(main);
  int next = 0;  // among the arrays
  for (int i = 0; i < static_cast<int>(main.inputs().size()); ++i) {
    if (!main.inputs()[static_cast<std::size_t>(i)].shape()) continue;
    const int argument = next++;
    if (std::ranges::find(wanted, argument) == wanted.end()) continue;
    const Shape& shape = parts.arguments[static_cast<std::size_t>(argument)];
    bool fits = static_cast<bool>(main.arg_attribute(i, "tf.aliasing_output"));
    for (std::size_t r = 0; !fits && r < parts.results.size(); ++r) {
      fits = taken[r] == 0 && parts.results[r].size_bytes() == shape.size_bytes();
      if (fits) taken[r] = 1;
    }
    if (fits) donated.push_back(argument);
  }
  return donated;
}

// What each device has of arrays of these types; and the messages that say so.
void take_parts(std::span<const ir::Type> types,
                std::span<const stablehlo::sharding::Sharding> shardings,
                std::vector<Shape>& shapes, std::vector<std::string>& messages) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    messages.push_back(stablehlo::sharding::to_op_sharding(shardings[i]));
    if (!types[i].shape()) continue;  // a token, which no device has
    Shape& shape = shapes[next++];
    shape = Shape(shape.dtype(), stablehlo::sharding::local_shape(shardings[i], shape.dims()));
  }
}

Result<stablehlo::spread::Spread> spread_global(const ir::Module& module, const ir::Function& main,
                                                const DeviceCounts& counts, bool divides,
                                                DeviceParts& parts) {
  if (counts.replicas > 1) {
    return fail(ErrorCode::kUnimplemented,
                "a program that says by Shardy how its arrays lie has one "
                "replica, not " +
                    std::to_string(counts.replicas));
  }
  const auto dims_fit = [&](std::span<const ir::Type> types, std::size_t shapes) {
    return static_cast<std::size_t>(std::ranges::count_if(
               types, [](const ir::Type type) { return type.shape().has_value(); })) == shapes;
  };
  if (!dims_fit(main.inputs(), parts.arguments.size()) ||
      !dims_fit(main.results(), parts.results.size())) {
    return fail(ErrorCode::kUnimplemented,
                "a program that says by Shardy how its arrays lie has no tuples");
  }
  // What the program leaves open lies as its operations suggest.
  MILLRACE_TRY(
      const stablehlo::propagate::MainShardings lie,
      stablehlo::propagate::shardings_of_main(module, {.arguments = {true}, .results = {true}}));
  take_parts(main.inputs(), lie.arguments, parts.arguments, parts.argument_shardings);
  take_parts(main.results(), lie.results, parts.results, parts.result_shardings);
  parts.donated = donated_parts(main, parts);
  return stablehlo::spread::spread_global(
      module, counts.partitions, {.arguments = lie.arguments, .results = lie.results}, divides);
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

bool has_mesh(const ir::Module& module) {
  return std::ranges::any_of(module.top_level(),
                             [](const ir::Op& op) { return op.name() == "sdy.mesh"; });
}

Result<OneProgram> for_all_devices(const ir::Module& module, const DeviceCounts& counts,
                                   const ProcessPart& part) {
  const ir::Function* const main = stablehlo::specialise::entry(module);
  if (main == nullptr)
    return fail(ErrorCode::kInvalidArgument, "the program has no function @main");
  if (stablehlo::specialise::is_needed(module)) {
    return fail(ErrorCode::kUnimplemented,
                "a program whose arguments have dynamic shapes runs on one "
                "device, not on " +
                    std::to_string(counts.devices()) +
                    ": compile it for the shapes of its arguments");
  }
  DeviceParts parts{.donated = donated_arguments(*main)};
  MILLRACE_TRY(parts.arguments, stablehlo::specialise::shapes_of(main->inputs(), "argument"));
  MILLRACE_TRY(parts.results, stablehlo::specialise::shapes_of(main->results(), "result"));
  const bool divides = part.processes > 1;
  MILLRACE_TRY(stablehlo::spread::Spread one,
               counts.partitions > 1 && is_global(module)
                   ? spread_global(module, *main, counts, divides, parts)
                   : stablehlo::spread::spread(module, {.replicas = counts.replicas,
                                                        .partitions = counts.partitions,
                                                        .divides = divides}));
  if (divides) {
    MILLRACE_TRY(
        one, stablehlo::spread::divide(
                 one, {.processes = part.processes, .devices = counts.devices() / part.processes},
                 part.process));
  }
  for (const stablehlo::spread::Spread::Part& input : one.inputs)
    parts.inputs.push_back({.device = input.device, .argument = input.argument});
  parts.outputs = std::move(one.outputs);
  return OneProgram{.module = std::move(one.module), .parts = std::move(parts)};
}

Result<std::shared_ptr<const Compiled>> plan_for_devices(const ir::Module& module,
                                                         const DeviceCounts& counts,
                                                         const ProcessPart& part,
                                                         PlanOptions options) {
  MILLRACE_TRY(OneProgram one, for_all_devices(module, counts, part));
  options.is_divided = part.processes > 1;
  // What all processes compute, they compute alike: a loop goes as many rounds in each.
  options.deterministic = options.deterministic || options.is_divided;
  MILLRACE_TRY(std::unique_ptr<Plan> plan, make_plan(one.module, options));
  return std::make_shared<const SpreadPlan>(std::move(plan), std::move(one.parts));
}

}  // namespace millrace::devices::cpu
