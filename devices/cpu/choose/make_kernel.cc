#include "millrace/devices/cpu/choose/make_kernel.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "millrace/devices/cpu/kernels/definitions.h"
#include "millrace/devices/cpu/kernels/elementwise/quantised.h"
#include "millrace/devices/cpu/linalg/csr_product.h"
#include "millrace/devices/cpu/linalg/lapack.h"

namespace millrace::devices::cpu::definition {
namespace {

// The last column of a row of ops.inc but the bytecode's.
struct Definition {
  Function run = nullptr;
  bool scratch = false;  // it takes some, and can measure it
  Result<std::shared_ptr<const Kernel>> (*make)(const ir::Op&) = nullptr;
};

constexpr Definition kDefinitions[] = {
    Definition(),  // kOther
#define MILLRACE_KERNEL_none Definition()
#define MILLRACE_KERNEL_runs(function) {.run = (function)}
#define MILLRACE_KERNEL_measures(function) {.run = (function), .scratch = true}
#define MILLRACE_KERNEL_makes(function) {.make = (function)}
#define MILLRACE_OP_KERNEL(kind, kernel) MILLRACE_KERNEL_##kernel,
#include "millrace/devices/stablehlo/ir/ops.inc"
};
static_assert(std::size(kDefinitions) == ir::kOpKinds);

class OpKernel final : public ScratchKernel {
 public:
  OpKernel(const ir::Module& module, const ir::Op& op, const Definition& definition,
           std::vector<Body> bodies, bool quantised)
      : module_(module.share()),
        op_(op),
        lists_(op),
        definition_(definition),
        bodies_(std::move(bodies)),
        quantised_(quantised) {
    for (const Body& body : bodies_)
      captures_.insert(captures_.end(), body.captures().begin(), body.captures().end());
  }

  std::size_t scratch_bytes(std::span<const ConstArray> operands,
                            std::span<const MutableArray> results) const override {
    return definition_.scratch || quantised_ ? ScratchKernel::scratch_bytes(operands, results) : 0;
  }
  std::span<const ir::Value* const> captures() const override { return captures_; }
  int independent_dims(std::span<const ConstArray> operands,
                       std::span<const MutableArray> results) const override {
    if (quantised_) return 0;  // a scale may belong to a place along a dimension
    if (definition_.run == run_top_k) return operands[0].shape.rank() - 1;
    if (definition_.run != run_elementwise) return 0;
    const Shape& to = results[0].shape;
    const bool alike = std::ranges::all_of(operands, [&](const ConstArray& a) {
      return std::ranges::equal(a.shape.dims(), to.dims());
    });
    return alike ? to.rank() : 0;
  }

 private:
  Status call(std::span<const ConstArray> operands, std::span<const MutableArray> results,
              Scratch& scratch) const override {
    const Call c{.op = op_,
                 .lists = lists_,
                 .bodies = bodies_,
                 .operands = operands.first(operands.size() - captures_.size()),
                 .captured = operands.last(captures_.size()),
                 .results = results,
                 .scratch = scratch};
    return quantised_ ? run_quantised(c, definition_.run, definition_.scratch) : definition_.run(c);
  }

  const std::shared_ptr<const void> module_;
  const ir::Op& op_;
  const IntLists lists_;
  const Definition definition_;
  const std::vector<Body> bodies_;
  std::vector<const ir::Value*> captures_;  // of all bodies
  const bool quantised_;
};

class CustomKernel final : public Kernel {
 public:
  CustomKernel(const ir::Op& op, std::shared_ptr<const CustomCallHandler> handler)
      : target_(op.callee()),
        config_(op.string_or("backend_config", "")),
        attributes_(call_attributes(op)),
        where_(op.where()),
        effect_(op.bool_or("has_side_effect", false)),
        handler_(std::move(handler)) {}

  Status run(std::span<const ConstArray> operands, std::span<const MutableArray> results,
             std::span<std::byte> /*scratch*/) const override {
    const Status done = (*handler_)({.target = target_,
                                     .backend_config = config_,
                                     .operands = operands,
                                     .results = results,
                                     .attributes = attributes_});
    if (done) return {};
    return fail(done.error().code(), where_ + " @" + target_ + ": " + done.error().message());
  }
  bool has_effect() const override { return effect_; }

 private:
  const std::string target_, config_;
  const CallAttributes attributes_;
  const std::string where_;
  const bool effect_;
  const std::shared_ptr<const CustomCallHandler> handler_;
};

}  // namespace

Result<std::shared_ptr<const Kernel>> make_custom_kernel(const ir::Op& op) {
  auto handler = find_custom_call(op.callee());
  if (handler == nullptr) {
    if (auto known = linalg::make_lapack_kernel(op)) return known;
    if (auto known = linalg::make_csr_kernel(op)) return known;
    return fail(ErrorCode::kUnimplemented,
                op.where() + ": no function is registered for the custom call @" +
                    std::string(op.callee()) + " (devices/cpu/kernels/custom_call.h)");
  }
  return std::make_shared<const CustomKernel>(op, std::move(handler));
}

// PJRT, by which programs come, has no queues for them either.
Result<std::shared_ptr<const Kernel>> refuse_transfer(const ir::Op& op) {
  return fail(ErrorCode::kUnimplemented,
              op.where() +
                  ": transfers in the middle of a program are not supported by the CPU device; "
                  "make the array an argument or a result of the main function, or register a "
                  "custom call (devices/cpu/kernels/custom_call.h)");
}

bool is_quantised(const ir::Op& op) {
  const auto quantised = [](ir::Type type) {
    return type.is_tensor() && type.element().quant() != nullptr;
  };
  return std::ranges::any_of(op.operands(), quantised, &ir::Value::type) ||
         std::ranges::any_of(op.results(), quantised, &ir::Value::type);
}

namespace {

// Whether a scalar function does this op, by the types that it computes in.
bool is_elementwise(const ir::Op& op, bool quantised) {
  if (!quantised) return find_scalar_op(op).has_value();
  return op.kind() == ir::OpKind::kSelect || op.kind() == ir::OpKind::kUniformQuantize ||
         op.kind() == ir::OpKind::kUniformDequantize ||
         real_function(ir::without_broadcast(op.kind()), false) != nullptr ||
         op.kind() == ir::OpKind::kConvert;
}

// Whether an array that a body combines has other quantised elements than the result, whose type
// the body has.
bool mixes_quantised(const ir::Op& op) {
  const int n = op.result_count();
  if (op.kind() == ir::OpKind::kSort || op.kind() == ir::OpKind::kMap || n == 0) return false;
  for (int i = 0; i < op.operand_count(); ++i) {
    const bool scatter = op.kind() == ir::OpKind::kScatter;
    if (scatter && i == n) continue;  // the indices
    const ir::Type from = op.operand(i)->type().element(),
                   to = op.result((scatter && i > n ? i - 1 : i) % n)->type().element();
    if ((from.quant() != nullptr || to.quant() != nullptr) && from != to) return true;
  }
  return false;
}

}  // namespace

Result<std::shared_ptr<const Kernel>> make_kernel(const ir::Module& module, const ir::Op& op) {
  Definition definition = kDefinitions[static_cast<std::size_t>(op.kind())];
  if (definition.make != nullptr) return definition.make(op);
  const bool quantised = is_quantised(op);
  if (definition.run == nullptr && is_elementwise(op, quantised)) definition.run = run_elementwise;
  if (definition.run == nullptr) {
    return fail(
        ErrorCode::kUnimplemented,
        op.where() + ": not supported by the CPU device" +
            (op.operand_count() > 0 ? " for " + op.operand(0)->type().to_string() : std::string()));
  }
  // A collective of one process combines nothing, so its body is not needed.
  if (definition.run == run_identity || definition.run == run_collective_permute) {
    for (int i = 0; i < op.result_count(); ++i) {
      if (i >= op.operand_count() ||
          ir::memory_shape(op.operand(i)->type()) != ir::memory_shape(op.result(i)->type()))
        return fail(ErrorCode::kUnimplemented,
                    op.where() + ": more than one process is not supported by the CPU device");
    }
    return std::make_shared<const OpKernel>(module, op, definition, std::vector<Body>{}, quantised);
  }
  if (!op.regions().empty() && mixes_quantised(op)) {
    return fail(ErrorCode::kUnimplemented,
                op.where() +
                    ": a body on other quantised elements than those of the arrays is not "
                    "supported by the CPU device (what would help: stablehlo.uniform_quantize of "
                    "the arrays to the body's type before it)");
  }
  std::vector<Body> bodies;
  for (const ir::Region& region : op.regions()) {
    MILLRACE_TRY(Body body, make_body(module, op, region.block()));
    bodies.push_back(std::move(body));
  }
  return std::make_shared<const OpKernel>(module, op, definition, std::move(bodies),
                                          quantised && !runs_on_stored(op));
}

bool evaluate(const ir::Module& module, const ir::Op& op,
              std::span<const stablehlo::specialise::KnownRef> operands,
              stablehlo::specialise::Known& result) {
  const auto kernel = make_kernel(module, op);
  if (!kernel || !(*kernel)->captures().empty()) return false;
  std::vector<ConstArray> in;
  for (const auto& operand : operands) in.push_back({operand->shape, operand->bytes.data()});
  const MutableArray out[] = {{result.shape, result.bytes.data()}};
  std::vector<std::byte> scratch((*kernel)->scratch_bytes(in, out));
  return (*kernel)->run(in, out, scratch).has_value();
}

}  // namespace millrace::devices::cpu::definition
