// batch_norm_*: all dimensions but one are averaged over. Computed in double.
#include <cmath>

#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {
namespace {

struct Features {
  std::int64_t count, inner;
  double per_feature;
  Features(const Call& c, const Shape& shape) {
    const auto d = static_cast<int>(c.op.int_or("feature_index", 0));
    count = shape.dim(d);
    inner = 1;
    for (int i = d + 1; i < shape.rank(); ++i) inner *= shape.dim(i);
    per_feature =
        count == 0 ? 0.0 : static_cast<double>(shape.elements()) / static_cast<double>(count);
  }
  std::size_t of(std::size_t element) const {
    return element / static_cast<std::size_t>(inner) % static_cast<std::size_t>(count);
  }
};

double epsilon_of(const Call& c) {
  const auto* e = c.op.attr<ir::FloatAttr>("epsilon");
  return e != nullptr ? e->value() : 0.0;
}

using Reals = std::vector<double>;

Reals reals(const ConstArray& array) {
  Reals list;
  for (const Scalar& s : load_all(array)) list.push_back(s.re);
  return list;
}
void store_reals(const Reals& values, const MutableArray& array) {
  std::vector<Scalar> list;
  list.reserve(values.size());
  for (double v : values) list.push_back(from_real(v));
  store_all(list, array);
}

Reals mean_of(const Reals& x, const Features& f) {
  Reals sums(static_cast<std::size_t>(f.count));
  for (std::size_t i = 0; i < x.size(); ++i) sums[f.of(i)] += x[i];
  for (double& s : sums) s /= f.per_feature;
  return sums;
}

Reals normalised(const Reals& x, const Features& f, const Reals& scale, const Reals& offset,
                 const Reals& mean, const Reals& variance, double epsilon) {
  Reals y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t k = f.of(i);
    y[i] = (x[i] - mean[k]) / std::sqrt(variance[k] + epsilon) * scale[k] + offset[k];
  }
  return y;
}

}  // namespace

// operand, scale, offset, mean, variance -> operand, normalised.
Status run_batch_norm_inference(const Call& c) {
  const Features f(c, c.operands[0].shape);
  store_reals(normalised(reals(c.operands[0]), f, reals(c.operands[1]), reals(c.operands[2]),
                         reals(c.operands[3]), reals(c.operands[4]), epsilon_of(c)),
              c.results[0]);
  return {};
}

// operand, scale, offset -> normalised, mean, variance.
Status run_batch_norm_training(const Call& c) {
  const Features f(c, c.operands[0].shape);
  const Reals x = reals(c.operands[0]), mean = mean_of(x, f);
  Reals squares(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double d = x[i] - mean[f.of(i)];
    squares[i] = d * d;
  }
  const Reals variance = mean_of(squares, f);
  store_reals(
      normalised(x, f, reals(c.operands[1]), reals(c.operands[2]), mean, variance, epsilon_of(c)),
      c.results[0]);
  store_reals(mean, c.results[1]);
  store_reals(variance, c.results[2]);
  return {};
}

// operand, scale, mean, variance, grad_output -> grad_operand, grad_scale, grad_offset.
Status run_batch_norm_grad(const Call& c) {
  const Features f(c, c.operands[0].shape);
  const Reals x = reals(c.operands[0]), scale = reals(c.operands[1]), mean = reals(c.operands[2]),
              variance = reals(c.operands[3]), g = reals(c.operands[4]);
  const double epsilon = epsilon_of(c);
  Reals sum_g(static_cast<std::size_t>(f.count)), sum_gx(static_cast<std::size_t>(f.count));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t k = f.of(i);
    sum_g[k] += g[i];
    sum_gx[k] += g[i] * (x[i] - mean[k]);
  }
  Reals grad(x.size()), grad_scale(sum_g.size());
  for (std::size_t k = 0; k < grad_scale.size(); ++k)
    grad_scale[k] = sum_gx[k] / std::sqrt(variance[k] + epsilon);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t k = f.of(i);
    const double spread = variance[k] + epsilon, n = f.per_feature;
    grad[i] = scale[k] / (n * std::sqrt(spread)) *
              (n * g[i] - sum_g[k] - (x[i] - mean[k]) * sum_gx[k] / spread);
  }
  store_reals(grad, c.results[0]);
  store_reals(grad_scale, c.results[1]);
  store_reals(sum_g, c.results[2]);
  return {};
}

}  // namespace millrace::devices::cpu::reference
