#include "millrace/devices/cpu/kernels/elementwise/quantised.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "millrace/devices/cpu/kernels/definitions.h"

namespace millrace::devices::cpu::definition {
namespace {

// The place along the quantisation axis of each element, 0 where one scale serves all.
class Channels {
 public:
  Channels(const ir::QuantParameters& q, const Shape& shape) {
    if (q.axis < 0 || q.axis >= shape.rank()) return;
    extent_ = shape.dim(q.axis);
    for (int d = q.axis + 1; d < shape.rank(); ++d) inner_ *= shape.dim(d);
  }
  std::size_t of(std::int64_t element) const {
    return static_cast<std::size_t>(element / inner_ % extent_);
  }

 private:
  std::int64_t inner_ = 1, extent_ = 1;
};

constexpr std::int64_t kBlock = 256;

// Calls f(scalar, element) for all elements of `from`, and stores what it has made of them.
template <class F>
void each_block(const ConstArray& from, const MutableArray& to, F f) {
  const DType in = from.shape.dtype(), out = to.shape.dtype();
  const std::int64_t elements = from.shape.elements();
  Scalar block[kBlock];
  for (std::int64_t start = 0; start < elements; start += kBlock) {
    const std::int64_t n = std::min(kBlock, elements - start);
    const auto first = static_cast<std::size_t>(start);
    load(in, from.data + first * byte_width(in), n, block);
    for (std::int64_t i = 0; i < n; ++i) f(block[i], start + i);
    store(out, block, n, to.data + first * byte_width(out));
  }
}

void dequantise(const ir::QuantParameters& q, const ConstArray& from, const MutableArray& to) {
  const Channels channels(q, from.shape);
  each_block(from, to,
             [&](Scalar& value, std::int64_t i) { value = dequantised(q, channels.of(i), value); });
}

void quantise(const ir::QuantParameters& q, const ConstArray& from, const MutableArray& to) {
  const Channels channels(q, from.shape);
  each_block(from, to,
             [&](Scalar& value, std::int64_t i) { value = quantised(q, channels.of(i), value); });
}

Shape expressed(const ir::QuantParameters& q, const Shape& shape) {
  return {q.expressed, shape.dims()};
}

bool only_moves(ir::OpKind kind) {
  using K = ir::OpKind;
  return kind == K::kConstant || kind == K::kReshape || kind == K::kTranspose ||
         kind == K::kReverse || kind == K::kBroadcastInDim || kind == K::kSlice ||
         kind == K::kConcatenate || kind == K::kPad || kind == K::kGather ||
         kind == K::kDynamicSlice || kind == K::kDynamicUpdateSlice || kind == K::kBitcastConvert ||
         kind == K::kOptimizationBarrier || kind == K::kDynamicReshape ||
         kind == K::kDynamicBroadcastInDim || kind == K::kBroadcast;
}

}  // namespace

bool runs_on_stored(const ir::Op& op) {
  return op.kind() == ir::OpKind::kSelect || !op.regions().empty();
}

Status run_quantised(const Call& call, Function function, bool takes_scratch) {
  const auto quant_of = [](const ir::Value& v) { return v.type().element().quant(); };
  Scratch& scratch = call.scratch;
  // All of one quantisation: what moves elements need not look into them.
  bool same = only_moves(call.op.kind());
  for (const ir::Value& r : call.op.results()) {
    for (const ir::Value* o : call.op.operands())
      same = same && (quant_of(*o) == nullptr || o->type().element() == r.type().element());
  }
  // A bitcast takes the stored bits, whatever they stand for.
  same = same || call.op.kind() == ir::OpKind::kBitcastConvert;
  if (same) return scratch.measures() && !takes_scratch ? Status() : function(call);

  // To measure, the lists of arrays are needed too.
  std::vector<ConstArray> planned_operands(scratch.measures() ? call.operands.size() : 0);
  std::vector<MutableArray> planned_results(scratch.measures() ? call.results.size() : 0);
  std::span<ConstArray> operands = scratch.take<ConstArray>(std::ssize(call.operands));
  std::span<MutableArray> results = scratch.take<MutableArray>(std::ssize(call.results));
  if (scratch.measures()) {
    operands = planned_operands;
    results = planned_results;
  }
  const auto room = [&](const Shape& shape) {
    return scratch.take<std::byte>(static_cast<std::int64_t>(shape.size_bytes())).data();
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    operands[i] = call.operands[i];
    const ir::QuantParameters* q = quant_of(*call.op.operand(static_cast<int>(i)));
    if (q == nullptr) continue;
    const MutableArray plain{expressed(*q, call.operands[i].shape),
                             room(expressed(*q, call.operands[i].shape))};
    operands[i] = {plain.shape, plain.data};
    if (!scratch.measures()) dequantise(*q, call.operands[i], plain);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i] = call.results[i];
    const ir::QuantParameters* q = quant_of(*call.op.result(static_cast<int>(i)));
    if (q == nullptr) continue;
    const Shape shape = expressed(*q, call.results[i].shape);
    results[i] = {shape, room(shape)};
  }
  const bool converts = call.op.kind() == ir::OpKind::kUniformQuantize ||
                        call.op.kind() == ir::OpKind::kUniformDequantize;
  if (scratch.measures() && (converts || !takes_scratch)) return {};
  const Call inner{.op = call.op,
                   .lists = call.lists,
                   .bodies = call.bodies,
                   .operands = operands,
                   .captured = call.captured,
                   .results = results,
                   .scratch = scratch};
  MILLRACE_TRY_STATUS(converts ? run_identity(inner) : function(inner));
  if (scratch.measures()) return {};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ir::QuantParameters* q = quant_of(*call.op.result(static_cast<int>(i)));
    if (q != nullptr) quantise(*q, {results[i].shape, results[i].data}, call.results[i]);
  }
  return {};
}

}  // namespace millrace::devices::cpu::definition
