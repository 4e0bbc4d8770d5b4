// Contractions by their definition: dot_general, dot, einsum.
#include <optional>
#include <string>
#include <utility>

#include "millrace/devices/cpu/kernels/contraction/accumulate.h"
#include "millrace/devices/cpu/kernels/definitions.h"
#include "millrace/devices/stablehlo/ir/contraction_dims.h"

namespace millrace::devices::cpu::definition {
namespace {

struct DotNumbers {
  ir::Ints lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};

// Where each element along these dimensions is.
std::span<const std::int64_t> offsets_of(const Axes& axes, Scratch& scratch) {
  const auto offsets = scratch.take<std::int64_t>(axes.size);
  if (scratch.measures()) return {};
  each_index(axes.dims, [&](const DimVector& index, std::int64_t linear) {
    offsets[static_cast<std::size_t>(linear)] = linear_of(index, axes.strides);
  });
  return offsets;
}

// One row of the result at a time; the right side's terms are laid out so that a row is summed side
// by side.
template <class T>
void contract(const Call& c, const DotNumbers& d) {
  const ConstArray &lhs = c.operands[0], &rhs = c.operands[1];
  const MutableArray& to = c.results[0];
  const Axes inner(lhs.shape, d.lhs_contract), lhs_batch(lhs.shape, d.lhs_batch),
      rhs_batch(rhs.shape, d.rhs_batch),
      outer(rhs.shape, other_dims(rhs.shape.rank(), d.rhs_batch, d.rhs_contract));
  const auto rows = offsets_of(
                 {lhs.shape, other_dims(lhs.shape.rank(), d.lhs_batch, d.lhs_contract)}, c.scratch),
             columns = offsets_of(outer, c.scratch), left = offsets_of(inner, c.scratch),
             right = offsets_of({rhs.shape, d.rhs_contract}, c.scratch);
  const std::int64_t width = outer.size;
  const auto a = c.scratch.take<T>(lhs.shape.elements()),
             b = c.scratch.take<T>(rhs.shape.elements()),
             packed = c.scratch.take<T>(inner.size * width), sums = c.scratch.take<T>(width);
  if (c.scratch.measures()) return;
  load_terms(lhs, to.shape.dtype(), a);
  load_terms(rhs, to.shape.dtype(), b);
  std::int64_t out = 0;
  each_index(lhs_batch.dims, [&](const DimVector& batch, std::int64_t) {
    const std::int64_t from_left = linear_of(batch, lhs_batch.strides),
                       from_right = linear_of(batch, rhs_batch.strides);
    auto place = packed.begin();
    for (std::int64_t k : right) {
      for (std::int64_t j : columns) *place++ = b[static_cast<std::size_t>(from_right + k + j)];
    }
    for (std::int64_t i : rows) {
      std::ranges::fill(sums, T{});
      const T* terms = packed.data();
      for (std::int64_t k : left) {
        const T x = a[static_cast<std::size_t>(from_left + i + k)];
        for (T& sum : sums) add_product(sum, x, *terms++);
      }
      store_sums<T>(sums, to, out);
      out += width;
    }
  });
}

}  // namespace

Status run_dot(const Call& c) {
  // The old dot: the last dimension of the left side, the first of the right one.
  const std::int64_t last[] = {c.operands[0].shape.rank() - 1}, first[] = {0};
  DotNumbers numbers{.lhs_batch = {}, .rhs_batch = {}, .lhs_contract = last, .rhs_contract = first};
  if (const auto* d = c.op.attr<ir::DotDimsAttr>("dot_dimension_numbers"))
    numbers = {d->lhs_batching, d->rhs_batching, d->lhs_contracting, d->rhs_contracting};
  with_sum_type(c.results[0].shape.dtype(),
                [&](auto tag) { contract<typename decltype(tag)::type>(c, numbers); });
  return {};
}

namespace {

// Sums over the labels that the result does not have. unary_einsum is the product with one.
// Thread-safety: immutable.
class EinsumKernel final : public ScratchKernel {
 public:
  EinsumKernel(ir::EinsumConfig config, std::string labels)
      : config_(std::move(config)), labels_(std::move(labels)) {}

 private:
  Status call(std::span<const ConstArray> operands, std::span<const MutableArray> results,
              Scratch& scratch) const override {
    with_sum_type(results[0].shape.dtype(), [&](auto tag) {
      sum_in<typename decltype(tag)::type>(operands, results[0], scratch);
    });
    return {};
  }
  template <class T>
  void sum_in(std::span<const ConstArray> operands, const MutableArray& to,
              Scratch& scratch) const {
    const DType type = to.shape.dtype();
    DimVector extents(labels_.size());
    DimVector strides[2] = {DimVector(labels_.size()), DimVector(labels_.size())};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const DimVector dense = dense_strides(operands[i].shape);
      for (std::size_t d = 0; d < dense.size(); ++d) {
        const std::size_t at = labels_.find(config_.operands[i][d]);
        extents[at] = operands[i].shape.dim(static_cast<int>(d));
        strides[i][at] += dense[d];
      }
    }
    const bool two = operands.size() == 2;
    const auto a = scratch.take<T>(operands[0].shape.elements()),
               b = scratch.take<T>(two ? operands[1].shape.elements() : 1);
    if (scratch.measures()) return;
    load_terms(operands[0], type, a);
    if (two)
      load_terms(operands[1], type, b);
    else
      take_scalar(form_of(type) >= Form::kReal ? from_real(1.0) : from_unsigned(1), b[0]);
    const std::span<const std::int64_t> all = extents;
    const std::size_t kept = config_.result.size();
    each_index(all.first(kept), [&](const DimVector& outer, std::int64_t linear) {
      T sum[1] = {};
      each_index(all.subspan(kept), [&](const DimVector& inner, std::int64_t) {
        std::int64_t i = 0, j = 0;
        for (std::size_t d = 0; d < labels_.size(); ++d) {
          const std::int64_t index = d < kept ? outer[d] : inner[d - kept];
          i += index * strides[0][d];
          j += index * strides[1][d];
        }
        add_product(sum[0], a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(j)]);
      });
      store_sums<T>(sum, to, linear);
    });
  }

  const ir::EinsumConfig config_;
  const std::string labels_;  // all of them, those of the result first
};

}  // namespace

Result<std::shared_ptr<const Kernel>> make_einsum_kernel(const ir::Op& op) {
  auto config = ir::parse_einsum(op.string_or("einsum_config", ""), op.operand_count());
  if (!config) return fail(ErrorCode::kInvalidArgument, op.where() + ": no configuration");
  std::string labels = config->result;
  for (const std::string& operand : config->operands) {
    for (char label : operand) {
      if (labels.find(label) == std::string::npos) labels += label;
    }
  }
  if (labels.size() > static_cast<std::size_t>(kMaxRank))
    return fail(ErrorCode::kUnimplemented, op.where() + ": too many dimensions");
  return std::make_shared<const EinsumKernel>(*std::move(config), std::move(labels));
}

}  // namespace millrace::devices::cpu::definition
