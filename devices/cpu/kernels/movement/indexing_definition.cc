// Operations whose place is computed: dynamic slices, gather and scatter.
#include <algorithm>

#include "millrace/devices/cpu/kernels/definitions.h"

namespace millrace::devices::cpu::definition {
namespace {

// Calls f(place in the operand, place in the window) for the window of a dynamic slice, whose
// starts are operands `first` and following, clamped so that it fits.
template <class F>
void each_in_window(const Call& c, std::size_t first, const Shape& operand, const Shape& window,
                    F f) {
  const DimVector strides = dense_strides(operand);
  std::int64_t base = 0;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const auto i = static_cast<int>(d);
    base += strides[d] *
            std::clamp<std::int64_t>(index_element(c.operands[first + d], 0), 0,
                                     std::max<std::int64_t>(operand.dim(i) - window.dim(i), 0));
  }
  each_index(window.dims(), [&](const DimVector& index, std::int64_t linear) {
    f(base + linear_of(index, strides), linear);
  });
}

struct Numbers {
  ir::Ints window, collapsed, operand_batching, indices_batching, index_map;
  std::int64_t vector_dim = 0;
};

// The index in the operand of an index of the gather's result (or of a scatter's updates), as the
// specification computes it: from the start index, the batching dimensions and the window.
class Places {
 public:
  Places(const Numbers& numbers, const Shape& operand, const ConstArray& indices, int result_rank)
      : n_(numbers), indices_(indices) {
    batch_dims_ = other_dims(result_rank, n_.window, {});
    window_dims_ = other_dims(operand.rank(), n_.collapsed, n_.operand_batching);
    index_strides_ = dense_strides(indices.shape);
    vector_ = n_.vector_dim < indices.shape.rank();
  }

  // start: the window's place, unclamped; offset: the place in the window.
  void find(const DimVector& index, DimVector& start, DimVector& offset) const {
    DimVector at(static_cast<std::size_t>(indices_.shape.rank()));
    std::size_t b = 0;
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (vector_ && static_cast<std::int64_t>(d) == n_.vector_dim) continue;
      at[d] = index[batch_dims_[b++]];
    }
    std::fill(start.begin(), start.end(), 0);
    std::fill(offset.begin(), offset.end(), 0);
    for (std::size_t i = 0; i < n_.index_map.size(); ++i) {
      if (vector_) at[n_.vector_dim] = static_cast<std::int64_t>(i);
      start[n_.index_map[i]] = index_element(indices_, linear_of(at, index_strides_));
    }
    for (std::size_t i = 0; i < n_.operand_batching.size(); ++i)
      start[n_.operand_batching[i]] = at[n_.indices_batching[i]];
    for (std::size_t i = 0; i < window_dims_.size(); ++i)
      offset[window_dims_[i]] = index[n_.window[i]];
  }
  // Its extent per dimension of the operand, in a scatter with these updates.
  DimVector window(const Shape& updates, std::size_t operand_rank) const {
    DimVector extents(operand_rank, 1);
    for (std::size_t i = 0; i < window_dims_.size(); ++i)
      extents[window_dims_[i]] = updates.dim(static_cast<int>(n_.window[i]));
    return extents;
  }

 private:
  const Numbers n_;
  const ConstArray& indices_;
  DimVector batch_dims_, window_dims_;
  DimVector index_strides_;
  bool vector_ = false;
};

// The result's type may be wider.
void copy_array(const ConstArray& from, const MutableArray& to) {
  if (from.shape.dtype() == to.shape.dtype())
    return copy_bytes(to.data, from.data, to.shape.size_bytes());
  for (std::int64_t i = 0; i < to.shape.elements(); ++i) put(to, i, element(from, i));
}

}  // namespace

Status run_dynamic_slice(const Call& c) {
  const ConstArray& from = c.operands[0];
  const MutableArray& to = c.results[0];
  each_in_window(c, 1, from.shape, to.shape, [&](std::int64_t place, std::int64_t linear) {
    copy_element(from.data, place, to.data, linear, width_of(to.shape));
  });
  return {};
}

Status run_dynamic_update_slice(const Call& c) {
  const ConstArray &from = c.operands[0], &update = c.operands[1];
  const MutableArray& to = c.results[0];
  copy_bytes(to.data, from.data, to.shape.size_bytes());
  each_in_window(c, 2, to.shape, update.shape, [&](std::int64_t place, std::int64_t linear) {
    copy_element(update.data, linear, to.data, place, width_of(to.shape));
  });
  return {};
}

Status run_gather(const Call& c) {
  const auto* d = c.op.attr<ir::GatherDimsAttr>("dimension_numbers");
  if (d == nullptr)
    return fail(ErrorCode::kInvalidArgument, c.op.where() + ": no dimension numbers");
  const Numbers numbers{.window = d->offset_dims,
                        .collapsed = d->collapsed_slice_dims,
                        .operand_batching = d->operand_batching_dims,
                        .indices_batching = d->start_indices_batching_dims,
                        .index_map = d->start_index_map,
                        .vector_dim = d->index_vector_dim};
  const ConstArray& from = c.operands[0];
  const MutableArray& to = c.results[0];
  const auto rank = static_cast<std::size_t>(from.shape.rank());
  const Integers sizes = c.op.kind() == ir::OpKind::kDynamicGather
                             ? index_vector(c.operands[2])
                             : ints_or(c, "slice_sizes", rank, 1);
  for (std::size_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0 || sizes[i] > from.shape.dim(static_cast<int>(i))) {
      return fail(ErrorCode::kOutOfRange, c.op.where() + ": a slice of " +
                                              std::to_string(sizes[i]) +
                                              " elements is larger than the operand");
    }
  }
  if (c.op.kind() == ir::OpKind::kDynamicGather) {
    std::size_t window = 0;
    for (std::int64_t i :
         other_dims(from.shape.rank(), numbers.collapsed, numbers.operand_batching)) {
      if (to.shape.dim(static_cast<int>(numbers.window[window++])) != sizes[i]) {
        return fail(ErrorCode::kInvalidArgument,
                    c.op.where() + ": the slice sizes are not those of the result");
      }
    }
  }
  clear_bytes(to.data, to.shape.size_bytes());
  if (from.shape.elements() == 0) return {};
  const Places places(numbers, from.shape, c.operands[1], to.shape.rank());
  const DimVector strides = dense_strides(from.shape);
  DimVector start(rank), offset(rank);
  each_index(to.shape.dims(), [&](const DimVector& index, std::int64_t linear) {
    places.find(index, start, offset);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      // A dimension that is left out has one element even where the slice says none.
      const std::int64_t most =
          from.shape.dim(static_cast<int>(i)) - std::max<std::int64_t>(sizes[i], 1);
      at += (std::clamp<std::int64_t>(start[i], 0, std::max<std::int64_t>(most, 0)) + offset[i]) *
            strides[i];
    }
    copy_element(from.data, at, to.data, linear, width_of(to.shape));
  });
  return {};
}

// Updates in row-major order. A window that leaves the operand is skipped as a whole: the
// specification would keep those of its elements that are inside, but XLA does so, and programs
// that frontends write of a fill or drop mode mean it.
Status run_scatter(const Call& c) {
  const auto* d = c.op.attr<ir::ScatterDimsAttr>("scatter_dimension_numbers");
  if (d == nullptr)
    return fail(ErrorCode::kInvalidArgument, c.op.where() + ": no dimension numbers");
  const Numbers numbers{.window = d->update_window_dims,
                        .collapsed = d->inserted_window_dims,
                        .operand_batching = d->input_batching_dims,
                        .indices_batching = d->scatter_indices_batching_dims,
                        .index_map = d->scatter_dims_to_operand_dims,
                        .vector_dim = d->index_vector_dim};
  const std::size_t count = c.results.size();
  const Shape& shape = c.results[0].shape;
  const auto rank = static_cast<std::size_t>(shape.rank());
  Body::Frame frame = c.frame(0);
  if (c.scratch.measures()) return {};
  for (std::size_t k = 0; k < count; ++k) copy_array(c.operands[k], c.results[k]);
  const ConstArray& first_update = c.operands[count + 1];
  const Places places(numbers, shape, c.operands[count], first_update.shape.rank());
  const DimVector strides = dense_strides(shape);
  const DimVector window = places.window(first_update.shape, rank);
  DimVector start(rank), offset(rank);
  each_index(first_update.shape.dims(), [&](const DimVector& index, std::int64_t linear) {
    places.find(index, start, offset);
    std::int64_t at = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      if (start[i] < 0 || start[i] > shape.dim(static_cast<int>(i)) - window[i]) return;
      at += (start[i] + offset[i]) * strides[i];
    }
    for (std::size_t k = 0; k < count; ++k) {
      frame.argument(static_cast<int>(k)) = element(c.results[k], at);
      frame.argument(static_cast<int>(count + k)) = element(c.operands[count + 1 + k], linear);
    }
    frame.run();
    for (std::size_t k = 0; k < count; ++k)
      put(c.results[k], at, frame.result(static_cast<int>(k)));
  });
  return frame.status();
}

// torch_index_select: operand[..., index[batch..., i], ...], index clamped as a gather's is.
Status run_index_select(const Call& c) {
  const ConstArray &from = c.operands[0], &indices = c.operands[1];
  const MutableArray& to = c.results[0];
  const auto dim = static_cast<std::size_t>(c.op.int_or("dim", 0));
  const auto batch = static_cast<std::size_t>(c.op.int_or("batch_dims", 0));
  const DimVector strides = dense_strides(from.shape), index_strides = dense_strides(indices.shape);
  const auto index_rank = static_cast<std::size_t>(indices.shape.rank());
  DimVector at(strides.size()), place(index_rank);
  each_index(to.shape.dims(), [&](const DimVector& index, std::int64_t linear) {
    for (std::size_t d = 0; d < batch; ++d) place[d] = index[d];
    for (std::size_t d = batch; d < index_rank; ++d) place[d] = index[dim + d - batch];
    const std::int64_t chosen = index_element(indices, linear_of(place, index_strides));
    for (std::size_t d = 0; d < at.size(); ++d) {
      at[d] = d < dim ? index[d] : d > dim ? index[d + index_rank - batch - 1] : 0;
    }
    at[dim] = std::clamp<std::int64_t>(
        chosen, 0, std::max<std::int64_t>(from.shape.dim(static_cast<int>(dim)) - 1, 0));
    copy_element(from.data, linear_of(at, strides), to.data, linear, width_of(to.shape));
  });
  return {};
}

}  // namespace millrace::devices::cpu::definition
