// chlo.ragged_dot by its definition. What lies beyond the sum of the group sizes belongs to no
// group and counts as zero.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "millrace/devices/cpu/kernels/contraction/accumulate.h"
#include "millrace/devices/stablehlo/ir/contraction_dims.h"

namespace millrace::devices::cpu::definition {
namespace {

using List = std::vector<std::int64_t>;

// The index along dimension `which` of element i of some dimensions.
std::int64_t index_of(const Axes& axes, std::int64_t i, std::size_t which) {
  for (std::size_t d = axes.dims.size(); --d > which;) i /= axes.dims[d];
  return i % axes.dims[which];
}

// Thread-safety: immutable.
class RaggedDotKernel final : public ScratchKernel {
 public:
  RaggedDotKernel(const ir::RaggedDot& d, const Shape& lhs, const Shape& rhs, const Shape& sizes)
      : mode_(d.mode()),
        sizes_(sizes),
        lhs_batch_(lhs, d.lhs_batch),
        rhs_batch_(rhs, d.rhs_batch),
        rows_(lhs, ir::RaggedDot::others(lhs.rank(), d.lhs_batch, d.lhs_contract)),
        left_(lhs, d.lhs_contract),
        right_(rhs, d.rhs_contract),
        group_stride_(d.rhs_group.empty() ? 0 : dense_strides(rhs)[d.rhs_group[0]]) {
    List taken = d.rhs_batch;
    taken.insert(taken.end(), d.rhs_group.begin(), d.rhs_group.end());
    columns_ = Axes(rhs, ir::RaggedDot::others(rhs.rank(), taken, d.rhs_contract));
    // The ragged dimension's place among those of its kind.
    const List kind = mode_ == ir::RaggedMode::kContract
                          ? d.lhs_contract
                          : ir::RaggedDot::others(lhs.rank(), d.lhs_batch, d.lhs_contract);
    ragged_ = static_cast<std::size_t>(std::ranges::find(kind, d.lhs_ragged[0]) - kind.begin());
  }

 private:
  Status call(std::span<const ConstArray> operands, std::span<const MutableArray> results,
              Scratch& scratch) const override {
    with_sum_type(results[0].shape.dtype(), [&](auto tag) {
      multiply_in<typename decltype(tag)::type>(operands, results[0], scratch);
    });
    return {};
  }

  // The group of element i of the ragged kind (a row or a term) of this batch; -1 for none.
  std::int64_t group_of(const ConstArray& sizes, std::int64_t batch, std::int64_t i) const {
    const Axes& kind = mode_ == ir::RaggedMode::kContract ? left_ : rows_;
    const std::int64_t groups = sizes_.dim(sizes_.rank() - 1);
    // Sizes for all prefixes, or one list of them for each.
    std::int64_t prefix = 0;
    if (sizes_.rank() > 1) {
      prefix = batch;
      for (std::size_t d = 0; d < ragged_; ++d)
        prefix = prefix * kind.dims[d] + index_of(kind, i, d);
    }
    std::int64_t left = index_of(kind, i, ragged_);
    for (std::int64_t g = 0; g < groups; ++g) {
      left -= index_element(sizes, prefix * groups + g);
      if (left < 0) return g;
    }
    return -1;
  }

  template <class T>
  void multiply_in(std::span<const ConstArray> operands, const MutableArray& to,
                   Scratch& scratch) const {
    const DType type = to.shape.dtype();
    const std::int64_t elements = to.shape.elements(), width = columns_.size;
    const bool per_group = mode_ == ir::RaggedMode::kContract;
    const auto a = scratch.take<T>(operands[0].shape.elements()),
               b = scratch.take<T>(operands[1].shape.elements()), sums = scratch.take<T>(elements);
    if (scratch.measures()) return;
    load_terms(operands[0], type, a);
    load_terms(operands[1], type, b);
    std::ranges::fill(sums, T{});
    const std::int64_t block = lhs_batch_.size * rows_.size * width;  // of one group
    for (std::int64_t batch = 0; batch < lhs_batch_.size; ++batch) {
      for (std::int64_t i = 0; i < rows_.size; ++i) {
        const std::int64_t row = lhs_batch_.offset(batch) + rows_.offset(i);
        std::int64_t group = mode_ == ir::RaggedMode::kFree ? group_of(operands[2], batch, i) : 0;
        for (std::int64_t k = 0; k < left_.size; ++k) {
          if (per_group) group = group_of(operands[2], batch, k);
          if (group < 0) continue;
          const T x = a[static_cast<std::size_t>(row + left_.offset(k))];
          const std::int64_t from =
              rhs_batch_.offset(batch) + right_.offset(k) + group * group_stride_;
          const std::int64_t into =
              (per_group ? group * block : 0) + (batch * rows_.size + i) * width;
          for (std::int64_t j = 0; j < width; ++j)
            add_product(sums[static_cast<std::size_t>(into + j)], x,
                        b[static_cast<std::size_t>(from + columns_.offset(j))]);
        }
      }
    }
    store_sums<T>(sums, to, 0);
  }

  const ir::RaggedMode mode_;
  const Shape sizes_;
  const Axes lhs_batch_, rhs_batch_, rows_, left_, right_;
  Axes columns_;
  const std::int64_t group_stride_;
  std::size_t ragged_ = 0;
};

}  // namespace

Result<std::shared_ptr<const Kernel>> make_ragged_dot_kernel(const ir::Op& op) {
  const auto numbers = ir::ragged_dot_of(op);
  std::optional<Shape> shapes[3];
  for (int i = 0; i < 3 && op.operand_count() == 3; ++i)
    shapes[i] = ir::memory_shape(op.operand(i)->type());
  if (!numbers || !shapes[0] || !shapes[1] || !shapes[2] ||
      !numbers->fits(shapes[0]->rank(), shapes[1]->rank()) || shapes[2]->rank() == 0) {
    return fail(ErrorCode::kInvalidArgument, op.where() + ": no dimension numbers that fit");
  }
  return std::make_shared<const RaggedDotKernel>(*numbers, *shapes[0], *shapes[1], *shapes[2]);
}

}  // namespace millrace::devices::cpu::definition
