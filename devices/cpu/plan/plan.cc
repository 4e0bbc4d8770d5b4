#include "millrace/devices/cpu/plan/plan.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/plan/emit.h"
#include "millrace/devices/cpu/plan/lower.h"
#include "millrace/devices/cpu/plan/simplify.h"

namespace millrace::devices::cpu {
namespace {

const ir::Function* entry(const ir::Module& module, std::string_view name) {
  if (const ir::Function* f = module.find(name)) return f;
  return module.functions().size() == 1 ? &module.functions().front() : nullptr;
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
      donor = static_cast<int>(output->value);
      std::optional<std::size_t>& before = taken[static_cast<std::size_t>(donor)];
      if (before) return bad(i, donor, "argument " + std::to_string(*before) + " is in its place");
      before = i;
    } else if (const ir::Attribute donated = function.arg_attribute(at, "jax.buffer_donor")) {
      const auto* flag = donated.as<ir::BoolAttr>();
      donor = flag == nullptr || flag->value ? -1 : -2;
    }
    list.push_back(donor);
  }
  return list;
}

}  // namespace

class PlanBuilder {
 public:
  static Result<std::unique_ptr<Plan>> build(const ir::Function& function, plan::Graph graph,
                                             const PlanOptions& options) {
    MILLRACE_TRY(std::vector<int> donated, donors(function));
    plan::simplify(graph);
    std::unique_ptr<Plan> p(new Plan());
    for (plan::ValueId v : graph.root.parameters) p->inputs_.push_back(graph.shape(v));
    for (plan::ValueId v : graph.root.results) p->outputs_.push_back(graph.shape(v));
    MILLRACE_TRY(plan::Emitted emitted, plan::Emitter(graph, options, std::move(donated)).run());
    p->arena_bytes_ = emitted.buffers.assign_arena();
    p->buffers_ = std::move(emitted.buffers);
    p->constants_ = std::move(emitted.constants);
    p->constant_bytes_ = emitted.constant_bytes;
    p->kernels_ = std::move(emitted.kernels);
    p->steps_ = std::move(emitted.steps);
    p->aliases_ = std::move(emitted.aliases);
    p->choices_ = std::move(emitted.choices);
    if (options.chosen && p->choices_ != *options.chosen) {
      return fail(ErrorCode::kDataLoss,
                  "the kernels that were chosen before are not those of this program");
    }
    return p;
  }
};

Result<std::unique_ptr<Plan>> Plan::create(const ir::Module& module, const PlanOptions& options) {
  const ir::Function* function = entry(module, options.function);
  if (function == nullptr) {
    return fail(ErrorCode::kInvalidArgument, "the program has no function @" + options.function);
  }
  MILLRACE_TRY(plan::Graph graph, plan::lower(module, *function));
  return PlanBuilder::build(*function, std::move(graph), options);
}

Plan::~Plan() = default;

std::size_t Plan::peak_bytes() const {
  std::size_t total = arena_bytes_ + constant_bytes_;
  for (const Shape& s : inputs_) total += s.size_bytes();
  for (const Shape& s : outputs_) total += s.size_bytes();
  return total;
}

}  // namespace millrace::devices::cpu
