// Contractions by their definition: dot_general, dot, einsum.
#include <optional>
#include <string>
#include <utility>

#include "millrace/devices/cpu/ir/einsum.h"
#include "millrace/devices/cpu/reference/accumulate.h"
#include "millrace/devices/cpu/reference/families.h"

namespace millrace::devices::cpu::reference {
namespace {

struct DotNumbers {
  ir::Ints lhs_batch, rhs_batch, lhs_contract, rhs_contract;
};

// The extents and strides of some dimensions of an array.
struct Axes {
  DimVector dims, strides;
  std::int64_t elements() const { return product(dims); }
};
Axes axes_of(const Shape& shape, ir::Ints dims) {
  const DimVector strides = dense_strides(shape);
  Axes axes;
  for (std::int64_t d : dims) {
    axes.dims.push_back(shape.dim(static_cast<int>(d)));
    axes.strides.push_back(strides[static_cast<std::size_t>(d)]);
  }
  return axes;
}
Axes other_axes(const Shape& shape, ir::Ints batch, ir::Ints contract) {
  DimVector dims;
  for (int d = 0; d < shape.rank(); ++d) {
    if (!contains(batch, d) && !contains(contract, d)) dims.push_back(d);
  }
  return axes_of(shape, dims);
}

// Where each element along these dimensions is.
std::span<const std::int64_t> offsets_of(const Axes& axes, Scratch& scratch) {
  const auto offsets = scratch.take<std::int64_t>(axes.elements());
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
  const Axes inner = axes_of(lhs.shape, d.lhs_contract);
  const auto rows = offsets_of(other_axes(lhs.shape, d.lhs_batch, d.lhs_contract), c.scratch),
             columns = offsets_of(other_axes(rhs.shape, d.rhs_batch, d.rhs_contract), c.scratch),
             left = offsets_of(inner, c.scratch),
             right = offsets_of(axes_of(rhs.shape, d.rhs_contract), c.scratch);
  const std::int64_t width = other_axes(rhs.shape, d.rhs_batch, d.rhs_contract).elements();
  const auto a = c.scratch.take<T>(lhs.shape.elements()),
             b = c.scratch.take<T>(rhs.shape.elements()),
             packed = c.scratch.take<T>(inner.elements() * width), sums = c.scratch.take<T>(width);
  if (c.scratch.measures()) return;
  load_terms(lhs, to.shape.dtype(), a);
  load_terms(rhs, to.shape.dtype(), b);
  const Axes lhs_batch = axes_of(lhs.shape, d.lhs_batch),
             rhs_batch = axes_of(rhs.shape, d.rhs_batch);
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
class EinsumKernel final : public Kernel {
 public:
  EinsumKernel(ir::EinsumConfig config, std::string labels)
      : config_(std::move(config)), labels_(std::move(labels)) {}

  std::size_t scratch_bytes(std::span<const ConstArray> operands,
                            std::span<const MutableArray> results) const override {
    Scratch scratch;
    sum(operands, results[0], scratch);
    return scratch.taken_bytes();
  }
  Status run(std::span<const ConstArray> operands, std::span<const MutableArray> results,
             std::span<std::byte> memory) const override {
    Scratch scratch(memory);
    sum(operands, results[0], scratch);
    return {};
  }

 private:
  void sum(std::span<const ConstArray> operands, const MutableArray& to, Scratch& scratch) const {
    with_sum_type(to.shape.dtype(),
                  [&](auto tag) { sum_in<typename decltype(tag)::type>(operands, to, scratch); });
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

}  // namespace millrace::devices::cpu::reference
