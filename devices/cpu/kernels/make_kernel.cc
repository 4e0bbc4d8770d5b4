#include "millrace/devices/cpu/kernels/kernel.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "millrace/devices/cpu/kernels/elementwise/quantised.h"
#include "millrace/devices/cpu/kernels/families.h"
#include "millrace/devices/cpu/linalg/lapack.h"

namespace millrace::devices::cpu::definition {
namespace {

using ir::OpKind;

struct Entry {
  OpKind kind;
  Function function;
  bool scratch = false;  // it takes some, and can measure it
};
constexpr bool kScratch = true;

constexpr Entry kEntries[] = {
    {OpKind::kConstant, run_constant},
    {OpKind::kMap, run_map, kScratch},
    {OpKind::kChloConstantLike, run_constant_like},
    {OpKind::kOptimizationBarrier, run_identity},
    // Among one process all of these give what they get.
    {OpKind::kAllGather, run_identity},
    {OpKind::kAllReduce, run_identity},
    {OpKind::kAllToAll, run_identity},
    {OpKind::kCollectiveBroadcast, run_identity},
    {OpKind::kCollectiveReduce, run_identity},
    {OpKind::kCrossReplicaSum, run_identity},
    {OpKind::kReduceScatter, run_identity},
    {OpKind::kCollectivePermute, run_collective_permute},
    {OpKind::kReplicaId, run_zero},
    {OpKind::kPartitionId, run_zero},
    {OpKind::kIota, run_iota},
    {OpKind::kDynamicIota, run_iota},
    {OpKind::kReshape, run_reshape},
    {OpKind::kDynamicReshape, run_reshape},
    {OpKind::kBroadcastInDim, run_broadcast_in_dim},
    {OpKind::kDynamicBroadcastInDim, run_broadcast_in_dim},
    {OpKind::kBroadcast, run_broadcast_in_dim},
    {OpKind::kTranspose, run_transpose},
    {OpKind::kReverse, run_reverse},
    {OpKind::kSlice, run_slice},
    {OpKind::kRealDynamicSlice, run_slice},
    {OpKind::kPad, run_pad},
    {OpKind::kDynamicPad, run_pad},
    {OpKind::kConcatenate, run_concatenate},
    {OpKind::kGetDimensionSize, run_get_dimension_size},
    {OpKind::kSetDimensionSize, run_set_dimension_size},
    {OpKind::kBitcastConvert, run_bitcast},
    {OpKind::kDynamicSlice, run_dynamic_slice},
    {OpKind::kDynamicUpdateSlice, run_dynamic_update_slice},
    {OpKind::kGather, run_gather},
    {OpKind::kDynamicGather, run_gather},
    {OpKind::kScatter, run_scatter, kScratch},
    {OpKind::kTorchIndexSelect, run_index_select},
    {OpKind::kReduce, run_reduce, kScratch},
    {OpKind::kReduceWindow, run_reduce_window, kScratch},
    {OpKind::kSelectAndScatter, run_select_and_scatter, kScratch},
    {OpKind::kSort, run_sort, kScratch},
    {OpKind::kChloTopK, run_top_k, kScratch},
    {OpKind::kDot, run_dot, kScratch},
    {OpKind::kDotGeneral, run_dot, kScratch},
    {OpKind::kConvolution, run_convolution, kScratch},
    {OpKind::kDynamicConv, run_convolution, kScratch},
    {OpKind::kCholesky, run_cholesky, kScratch},
    {OpKind::kTriangularSolve, run_triangular_solve, kScratch},
    {OpKind::kRng, run_rng},
    {OpKind::kRngBitGenerator, run_rng_bit_generator},
    {OpKind::kBatchNormInference, run_batch_norm_inference, kScratch},
    {OpKind::kBatchNormTraining, run_batch_norm_training, kScratch},
    {OpKind::kBatchNormGrad, run_batch_norm_grad, kScratch},
};

Entry entry_of(OpKind kind) {
  const auto* const found = std::ranges::find(kEntries, kind, &Entry::kind);
  return found == std::end(kEntries) ? Entry{kind, nullptr} : *found;
}

class OpKernel final : public ScratchKernel {
 public:
  OpKernel(const ir::Module& module, const ir::Op& op, const Entry& entry, std::vector<Body> bodies,
           bool quantised)
      : module_(module.share()),
        op_(op),
        lists_(op),
        entry_(entry),
        bodies_(std::move(bodies)),
        quantised_(quantised) {
    for (const Body& body : bodies_)
      captures_.insert(captures_.end(), body.captures().begin(), body.captures().end());
  }

  std::size_t scratch_bytes(std::span<const ConstArray> operands,
                            std::span<const MutableArray> results) const override {
    return entry_.scratch || quantised_ ? ScratchKernel::scratch_bytes(operands, results) : 0;
  }
  std::span<const ir::Value* const> captures() const override { return captures_; }

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
    return quantised_ ? run_quantised(c, entry_.function, entry_.scratch) : entry_.function(c);
  }

  const std::shared_ptr<const void> module_;
  const ir::Op& op_;
  const IntLists lists_;
  const Entry entry_;
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

Result<std::shared_ptr<const Kernel>> make_custom_kernel(const ir::Op& op) {
  auto handler = find_custom_call(op.callee());
  if (handler == nullptr) {
    if (auto known = linalg::make_lapack_kernel(op)) return known;
    return fail(ErrorCode::kUnimplemented,
                op.where() + ": no function is registered for the custom call @" +
                    std::string(op.callee()) + " (devices/cpu/custom_call.h)");
  }
  return std::make_shared<const CustomKernel>(op, std::move(handler));
}

}  // namespace

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
  return op.kind() == OpKind::kSelect || op.kind() == OpKind::kUniformQuantize ||
         op.kind() == OpKind::kUniformDequantize ||
         real_function(ir::without_broadcast(op.kind()), false) != nullptr ||
         op.kind() == OpKind::kConvert;
}

// Whether an array that a body combines has other quantised elements than the result, whose type
// the body has.
bool mixes_quantised(const ir::Op& op) {
  const int n = op.result_count();
  if (op.kind() == OpKind::kSort || op.kind() == OpKind::kMap || n == 0) return false;
  for (int i = 0; i < op.operand_count(); ++i) {
    const bool scatter = op.kind() == OpKind::kScatter;
    if (scatter && i == n) continue;  // the indices
    const ir::Type from = op.operand(i)->type().element(),
                   to = op.result((scatter && i > n ? i - 1 : i) % n)->type().element();
    if ((from.quant() != nullptr || to.quant() != nullptr) && from != to) return true;
  }
  return false;
}

}  // namespace

Result<std::shared_ptr<const Kernel>> make_kernel(const ir::Module& module, const ir::Op& op) {
  switch (op.kind()) {
    case OpKind::kCustomCall:
      return make_custom_kernel(op);
    case OpKind::kFft:
      return make_fft_kernel(op);
    case OpKind::kChloRaggedDot:
      return make_ragged_dot_kernel(op);
    // PJRT, by which programs come, has no queues for them either.
    case OpKind::kInfeed:
    case OpKind::kOutfeed:
    case OpKind::kSend:
    case OpKind::kRecv:
      return fail(ErrorCode::kUnimplemented,
                  op.where() +
                      ": transfers in the middle of a program are not supported by the CPU device; "
                      "make the array an argument or a result of the main function, or register a "
                      "custom call (devices/cpu/custom_call.h)");
    case OpKind::kEinsum:
    case OpKind::kUnaryEinsum:
      return make_einsum_kernel(op);
    default:
      break;
  }
  const bool quantised = is_quantised(op);
  Entry entry = entry_of(op.kind());
  if (entry.function == nullptr && is_elementwise(op, quantised)) entry.function = run_elementwise;
  if (entry.function == nullptr) {
    return fail(
        ErrorCode::kUnimplemented,
        op.where() + ": not supported by the CPU device" +
            (op.operand_count() > 0 ? " for " + op.operand(0)->type().to_string() : std::string()));
  }
  // A collective of one process combines nothing, so its body is not needed.
  if (entry.function == run_identity || entry.function == run_collective_permute) {
    for (int i = 0; i < op.result_count(); ++i) {
      if (i >= op.operand_count() ||
          ir::memory_shape(op.operand(i)->type()) != ir::memory_shape(op.result(i)->type()))
        return fail(ErrorCode::kUnimplemented,
                    op.where() + ": more than one process is not supported by the CPU device");
    }
    return std::make_shared<const OpKernel>(module, op, entry, std::vector<Body>{}, quantised);
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
    MILLRACE_TRY(Body body, Body::make(module, op, region.block()));
    bodies.push_back(std::move(body));
  }
  return std::make_shared<const OpKernel>(module, op, entry, std::move(bodies),
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

IntLists::IntLists(const ir::Op& op) {
  constexpr std::int64_t kMost = 64;  // more is no list of dimensions but a constant's value
  for (const ir::NamedAttribute& a : op.attributes()) {
    const auto* dense = a.value.as<ir::DenseAttr>();
    if (dense != nullptr && dense->type.elements() > kMost) continue;
    if (auto list = ir::to_ints(a.value)) lists_.emplace_back(a.name, *std::move(list));
  }
}

std::span<const std::int64_t> IntLists::find(std::string_view name) const {
  const auto found = std::ranges::find(lists_, name, [](const auto& list) { return list.first; });
  return found == lists_.end() ? std::span<const std::int64_t>() : found->second;
}

}  // namespace millrace::devices::cpu::definition
