// batch_norm_*: all dimensions but one are averaged over. Computed in double.
#include <algorithm>
#include <cmath>
#include <span>

#include "millrace/devices/cpu/kernels/contraction/accumulate.h"
#include "millrace/devices/cpu/kernels/definitions.h"

namespace millrace::devices::cpu::definition {
namespace {

struct Features {
  std::int64_t outer, count, inner;
  Features(const Call& c, const Shape& shape) {
    const auto d = static_cast<int>(c.op.int_or("feature_index", 0));
    count = shape.dim(d);
    inner = 1;
    for (int i = d + 1; i < shape.rank(); ++i) inner *= shape.dim(i);
    outer = count * inner == 0 ? 0 : shape.elements() / (count * inner);
  }
  double per_feature() const { return static_cast<double>(outer * inner); }
  // Calls f(element, feature) for all elements.
  template <class F>
  void each(F f) const {
    std::size_t element = 0;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
        for (std::int64_t i = 0; i < inner; ++i) f(element++, k);
      }
    }
  }
};

double epsilon_of(const Call& c) {
  const auto* e = c.op.attr<ir::FloatAttr>("epsilon");
  return e != nullptr ? e->value() : 0.0;
}

using Reals = std::span<double>;
using ConstReals = std::span<const double>;

Reals take_like(const ConstArray& array, Scratch& scratch) {
  return scratch.take<double>(array.shape.elements());
}
void load_reals(const ConstArray& array, Reals to) { load_terms(array, DType::kF64, to); }
void store_reals(ConstReals from, const MutableArray& to) { store_sums(from, to, 0); }

void divide_all(Reals sums, double by) {
  for (double& s : sums) s /= by;
}

// x becomes (x - mean) / sqrt(variance + epsilon) * scale + offset; variance becomes that root.
void normalise(Reals x, const Features& f, ConstReals scale, ConstReals offset, ConstReals mean,
               Reals variance, double epsilon) {
  for (double& v : variance) v = std::sqrt(v + epsilon);
  f.each([&](std::size_t i, std::size_t k) {
    x[i] = (x[i] - mean[k]) / variance[k] * scale[k] + offset[k];
  });
}

}  // namespace

// operand, scale, offset, mean, variance -> operand, normalised.
Status run_batch_norm_inference(const Call& c) {
  const Features f(c, c.operands[0].shape);
  Reals values[5];
  for (std::size_t i = 0; i < 5; ++i) values[i] = take_like(c.operands[i], c.scratch);
  if (c.scratch.measures()) return {};
  for (std::size_t i = 0; i < 5; ++i) load_reals(c.operands[i], values[i]);
  normalise(values[0], f, values[1], values[2], values[3], values[4], epsilon_of(c));
  store_reals(values[0], c.results[0]);
  return {};
}

// operand, scale, offset -> normalised, mean, variance.
Status run_batch_norm_training(const Call& c) {
  const Features f(c, c.operands[0].shape);
  const Reals x = take_like(c.operands[0], c.scratch), scale = take_like(c.operands[1], c.scratch),
              offset = take_like(c.operands[2], c.scratch),
              mean = take_like(c.operands[1], c.scratch),
              variance = take_like(c.operands[1], c.scratch);
  if (c.scratch.measures()) return {};
  load_reals(c.operands[0], x);
  load_reals(c.operands[1], scale);
  load_reals(c.operands[2], offset);
  std::ranges::fill(mean, 0.0);
  std::ranges::fill(variance, 0.0);
  f.each([&](std::size_t i, std::size_t k) { mean[k] += x[i]; });
  divide_all(mean, f.per_feature());
  f.each([&](std::size_t i, std::size_t k) {
    const double d = x[i] - mean[k];
    variance[k] += d * d;
  });
  divide_all(variance, f.per_feature());
  store_reals(mean, c.results[1]);
  store_reals(variance, c.results[2]);
  normalise(x, f, scale, offset, mean, variance, epsilon_of(c));
  store_reals(x, c.results[0]);
  return {};
}

// operand, scale, mean, variance, grad_output -> grad_operand, grad_scale, grad_offset.
Status run_batch_norm_grad(const Call& c) {
  const Features f(c, c.operands[0].shape);
  Reals values[5];
  for (std::size_t i = 0; i < 5; ++i) values[i] = take_like(c.operands[i], c.scratch);
  const Reals sum_g = take_like(c.operands[1], c.scratch),
              sum_gx = take_like(c.operands[1], c.scratch);
  if (c.scratch.measures()) return {};
  for (std::size_t i = 0; i < 5; ++i) load_reals(c.operands[i], values[i]);
  const Reals x = values[0], scale = values[1], mean = values[2], variance = values[3],
              g = values[4];
  std::ranges::fill(sum_g, 0.0);
  std::ranges::fill(sum_gx, 0.0);
  f.each([&](std::size_t i, std::size_t k) {
    sum_g[k] += g[i];
    sum_gx[k] += g[i] * (x[i] - mean[k]);
  });
  for (double& v : variance) v += epsilon_of(c);
  const double n = f.per_feature();
  // The gradient of the operand takes the place of the gradient that came in.
  f.each([&](std::size_t i, std::size_t k) {
    g[i] = scale[k] / (n * std::sqrt(variance[k])) *
           (n * g[i] - sum_g[k] - (x[i] - mean[k]) * sum_gx[k] / variance[k]);
  });
  store_reals(g, c.results[0]);
  for (std::size_t k = 0; k < sum_gx.size(); ++k) sum_gx[k] /= std::sqrt(variance[k]);
  store_reals(sum_gx, c.results[1]);
  store_reals(sum_g, c.results[2]);
  return {};
}

}  // namespace millrace::devices::cpu::definition
