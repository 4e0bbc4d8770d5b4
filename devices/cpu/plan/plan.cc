#include "millrace/devices/cpu/plan/plan.h"

#include <string_view>
#include <utility>

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
std::vector<int> donors(const ir::Function& function) {
  std::vector<int> list;
  for (std::size_t i = 0; i < function.inputs().size(); ++i) {
    const int at = static_cast<int>(i);
    int donor = -2;
    if (const auto* output =
            function.arg_attribute(at, "tf.aliasing_output").as<ir::IntegerAttr>()) {
      const bool known = output->value >= 0 &&
                         output->value < static_cast<std::int64_t>(function.results().size());
      donor = known ? static_cast<int>(output->value) : -1;
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
    plan::simplify(graph);
    std::unique_ptr<Plan> p(new Plan());
    for (plan::ValueId v : graph.root.parameters) p->inputs_.push_back(graph.shape(v));
    for (plan::ValueId v : graph.root.results) p->outputs_.push_back(graph.shape(v));
    MILLRACE_TRY(plan::Emitted emitted, plan::Emitter(graph, options, donors(function)).run());
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
