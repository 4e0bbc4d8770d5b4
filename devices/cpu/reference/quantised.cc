#include "millrace/devices/cpu/reference/quantised.h"

#include <algorithm>
#include <cmath>

#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {
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

double scale_of(const ir::QuantParameters& q, std::size_t channel) {
  return q.scales[std::min(channel, q.scales.size() - 1)];
}
double zero_of(const ir::QuantParameters& q, std::size_t channel) {
  if (q.zero_points.empty()) return 0;
  return static_cast<double>(q.zero_points[std::min(channel, q.zero_points.size() - 1)]);
}

void dequantise(const ir::QuantParameters& q, const ConstArray& from, const MutableArray& to) {
  std::vector<Scalar> values = load_all(from);
  const Channels channels(q, from.shape);
  const bool is_signed = is_signed_integer(q.storage);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = channels.of(static_cast<std::int64_t>(i));
    const double stored =
        is_signed ? static_cast<double>(values[i].i) : static_cast<double>(values[i].u);
    values[i] = from_real((stored - zero_of(q, channel)) * scale_of(q, channel));
  }
  store_all(values, to);
}

void quantise(const ir::QuantParameters& q, const ConstArray& from, const MutableArray& to) {
  std::vector<Scalar> values = load_all(from);
  const Channels channels(q, from.shape);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t channel = channels.of(static_cast<std::int64_t>(i));
    const double scaled = rounded(q.expressed, from_real(values[i].re / scale_of(q, channel))).re;
    const double stored = std::nearbyint(scaled) + zero_of(q, channel);
    const double bounded = std::isnan(stored)
                               ? zero_of(q, channel)
                               : std::clamp(stored, static_cast<double>(q.storage_min),
                                            static_cast<double>(q.storage_max));
    values[i] = from_signed(static_cast<std::int64_t>(bounded));
  }
  store_all(values, to);
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

Status run_quantised(const Call& call, Function function) {
  const auto quant_of = [](const ir::Value& v) { return v.type().element().quant(); };
  // All of one quantisation: what moves elements need not look into them.
  bool same = only_moves(call.op.kind());
  for (const ir::Value& r : call.op.results()) {
    for (const ir::Value* o : call.op.operands())
      same = same && (quant_of(*o) == nullptr || o->type().element() == r.type().element());
  }
  if (same) return function(call);

  std::vector<std::vector<std::byte>> memory;
  std::vector<ConstArray> operands(call.operands.begin(), call.operands.end());
  std::vector<MutableArray> results(call.results.begin(), call.results.end());
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ir::QuantParameters* q = quant_of(*call.op.operand(static_cast<int>(i)));
    if (q == nullptr) continue;
    const Shape shape = expressed(*q, operands[i].shape);
    memory.emplace_back(shape.size_bytes());
    dequantise(*q, operands[i], {shape, memory.back().data()});
    operands[i] = {shape, memory.back().data()};
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ir::QuantParameters* q = quant_of(*call.op.result(static_cast<int>(i)));
    if (q == nullptr) continue;
    const Shape shape = expressed(*q, results[i].shape);
    memory.emplace_back(shape.size_bytes());
    results[i] = {shape, memory.back().data()};
  }
  const bool converts = call.op.kind() == ir::OpKind::kUniformQuantize ||
                        call.op.kind() == ir::OpKind::kUniformDequantize;
  const Call inner{.op = call.op, .bodies = call.bodies, .operands = operands, .results = results};
  MILLRACE_TRY_STATUS(converts ? run_identity(inner) : function(inner));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const ir::QuantParameters* q = quant_of(*call.op.result(static_cast<int>(i)));
    if (q != nullptr) quantise(*q, {results[i].shape, results[i].data}, call.results[i]);
  }
  return {};
}

}  // namespace millrace::devices::cpu::reference
