#include "millrace/devices/cpu/compile/make_plan.h"

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/compile/graph.h"
#include "millrace/devices/cpu/compile/lower.h"
#include "millrace/devices/cpu/compile/placement.h"
#include "millrace/devices/cpu/compile/steps.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"
#include "millrace/devices/memory_pool.h"

namespace millrace::devices::cpu {
namespace {

const ir::Function* entry(const ir::Module& module, std::string_view name) {
  if (const ir::Function* f = module.find(name)) return f;
  return module.functions().size() == 1 ? &module.functions().front() : nullptr;
}

// The place among the plan's outputs of a result of the function.
int output_of(const ir::Function& function, std::size_t result) {
  int output = 0;
  for (std::size_t i = 0; i < result; ++i) output += function.results()[i].arrays();
  return output;
}

// Per input: the output that it is donated to, -1 for any, -2 for not donated.
Result<std::vector<int>> donors(const ir::Function& function) {
  std::vector<int> list;
  std::vector<std::optional<std::size_t>> taken(function.results().size());  // by which input
  const auto bad = [&](std::size_t input, std::int64_t output, const std::string& why) {
    const ir::Location at = function.location();
    return fail(ErrorCode::kInvalidArgument,
                std::to_string(at.line) + ":" + std::to_string(at.column) + ": @" +
                    std::string(function.name()) + ": tf.aliasing_output = " +
                    std::to_string(output) + " of argument " + std::to_string(input) + ": " + why);
  };
  for (std::size_t i = 0; i < function.inputs().size(); ++i) {
    const int at = static_cast<int>(i);
    int donor = -2;
    if (const auto* output =
            function.arg_attribute(at, "tf.aliasing_output").as<ir::IntegerAttr>()) {
      if (output->value < 0 || output->value >= static_cast<std::int64_t>(taken.size()))
        return bad(i, output->value, "there are " + std::to_string(taken.size()) + " results");
      std::optional<std::size_t>& before = taken[static_cast<std::size_t>(output->value)];
      if (before) {
        return bad(i, output->value, "argument " + std::to_string(*before) + " is in its place");
      }
      before = i;
      donor = output_of(function, static_cast<std::size_t>(output->value));
    } else if (const ir::Attribute donated = function.arg_attribute(at, "jax.buffer_donor")) {
      const auto* flag = donated.as<ir::BoolAttr>();
      donor = flag == nullptr || flag->value ? -1 : -2;
    }
    list.insert(list.end(), static_cast<std::size_t>(function.inputs()[i].arrays()), donor);
  }
  return list;
}

// The bytes of the constants; a splat is expanded. oneDNN and the loops want aligned memory.
Status add_constants(const compiler::Graph& graph, const std::vector<compiler::ValueId>& values,
                     PlanParts& parts) {
  for (const compiler::ValueId v : values) {
    const compiler::Node& n = *graph.producer(v);
    const Shape& shape = graph.shape(v);
    const std::size_t size = shape.size_bytes();
    MILLRACE_TRY(SystemMemory bytes, allocate_memory(size, "a constant of a program"));
    if (n.splat && shape.elements() > 1)
      fill_splat(bytes.get(), n.data.get(), byte_width(shape.dtype()), shape.elements());
    else
      std::memcpy(bytes.get(), n.data.get(), size);
    parts.constants.emplace_back(std::move(bytes));
    parts.constant_bytes += size;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Plan>> make_plan(const ir::Module& module, const PlanOptions& options) {
  const ir::Function* function = entry(module, options.function);
  if (function == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "the program has no function @" + options.function);
  }
  MILLRACE_TRY(compiler::Graph graph, compiler::lower(module, *function));
  for (const compiler::Node& n : graph.nodes) {
    if (!n.exchange || options.is_divided) continue;
    return fail(ErrorCode::kInvalidArgument,
                ir::to_string(n.location) +
                    ": the custom calls millrace.give and millrace.take stand for what the runtime "
                    "does by itself in a program that spans processes");
  }
  MILLRACE_TRY(const std::vector<int> wanted, donors(*function));
  compiler::simplify(graph);
  PlanParts parts{.donated = donated_arguments(*function)};
  for (const compiler::ValueId v : graph.root.parameters) parts.inputs.push_back(graph.shape(v));
  for (const compiler::ValueId v : graph.root.results) parts.outputs.push_back(graph.shape(v));
  const compiler::Owners owners(graph);
  const compiler::Units units = compiler::make_units(graph, owners);
  MILLRACE_TRY(std::vector<compiler::UnitKernel> kernels,
               compiler::choose_kernels(graph, owners, units, options, parts.choices));
  compiler::Placement places = compiler::place(graph, owners, units, kernels, wanted);
  MILLRACE_TRY_STATUS(add_constants(graph, places.constants, parts));
  parts.steps = compiler::make_steps(std::move(kernels), places.units, parts.kernels);
  parts.aliases = std::move(places.aliases);
  parts.buffers = std::move(places.buffers);
  parts.arena_bytes = places.arena_bytes;
  if (options.chosen && parts.choices != *options.chosen) {
    return fail(ErrorCode::kDataLoss,
                "the kernels that were chosen before are not those of this program");
  }
  return std::make_unique<Plan>(std::move(parts));
}

std::vector<int> donated_arguments(const ir::Function& function) {
  std::vector<int> donated;
  int input = 0;  // of the plan
  for (int i = 0; i < static_cast<int>(function.inputs().size()); ++i) {
    const bool is_donated = function.arg_attribute(i, "tf.aliasing_output") ||
                            function.arg_attribute(i, "jax.buffer_donor");
    for (const int end = input + function.inputs()[static_cast<std::size_t>(i)].arrays();
         input < end; ++input) {
      if (is_donated) donated.push_back(input);
    }
  }
  return donated;
}

std::optional<RunCost> Plan::cost() const {
  RunCost cost;
  for (const Step& step : parts_.steps) {
    cost.operations += step.info.operations;
    cost.bytes += static_cast<double>(step.info.bytes);
  }
  return cost;
}

std::size_t Plan::peak_bytes() const {
  std::size_t total = parts_.arena_bytes + parts_.constant_bytes;
  for (const Shape& s : parts_.inputs) total += s.size_bytes();
  for (const Shape& s : parts_.outputs) total += s.size_bytes();
  return total;
}

}  // namespace millrace::devices::cpu
