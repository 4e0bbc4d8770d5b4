#include "millrace/devices/cpu/kernels/movement/indexed.h"

#include <algorithm>
#include <cstring>

#include "millrace/core/base/check.h"
#include "millrace/devices/cpu/kernels/base/element.h"
#include "millrace/devices/cpu/kernels/base/split.h"
#include "millrace/devices/cpu/kernels/functions/reduce_loops.h"
#include "millrace/devices/cpu/kernels/functions/tile_op.h"

namespace millrace::devices::cpu {
namespace {

// What an index is read as: a number of 2 or 4 bits has a byte, extended.
DType read_as(DType type) {
  if (type == DType::kI2 || type == DType::kI4) return DType::kI8;
  return type == DType::kU2 || type == DType::kU4 ? DType::kU8 : type;
}

std::int64_t read_index(DType type, const void* data, std::int64_t at) {
  return visit(
      read_as(type),
      [&](auto tag) -> std::int64_t {
        using T = typename decltype(tag)::type;
        if constexpr (kIsInteger<T>) {
          const T v = static_cast<const T*>(data)[at];
          // An unsigned index beyond int64 is out of range wherever it is used.
          if constexpr (std::is_same_v<T, std::uint64_t>) {
            if (v > static_cast<std::uint64_t>(INT64_MAX)) return INT64_MAX;
          }
          return static_cast<std::int64_t>(v);
        } else {
          return 0;
        }
      },
      [] { return std::int64_t{0}; });
}

template <class T>
void add_one(void* to, const void* update) {
  T a, b;
  std::memcpy(&a, to, sizeof(T));
  std::memcpy(&b, update, sizeof(T));
  a += b;
  std::memcpy(to, &a, sizeof(T));
}

}  // namespace

IndexedWalk::IndexedWalk(const Shape& operand, const Shape& indices, const Shape& result,
                         IndexedDims dims, std::span<const std::int64_t> slice_sizes)
    : operand_(operand),
      indices_(indices),
      dims_(std::move(dims)),
      width_(static_cast<int>(byte_width(operand.dtype()))),
      slice_(slice_sizes),
      operand_strides_(dense_strides(operand)) {
  const DimVector result_strides = dense_strides(result);
  const DimVector index_strides = dense_strides(indices);
  if (dims_.index_vector_dim < indices.rank()) {
    index_step_ = index_strides[static_cast<std::size_t>(dims_.index_vector_dim)];
  }
  int index_dim = 0;
  for (int d = 0; d < result.rank(); ++d) {
    if (contains(dims_.offset, d)) continue;
    if (index_dim == dims_.index_vector_dim) ++index_dim;
    batch_dims_.push_back(result.dim(d));
    batch_result_strides_.push_back(result_strides[static_cast<std::size_t>(d)]);
    batch_index_strides_.push_back(index_strides[static_cast<std::size_t>(index_dim)]);
    batches_ *= result.dim(d);
    ++index_dim;
  }
  std::size_t next = 0;
  for (int d = 0; d < operand.rank(); ++d) {
    if (contains(dims_.collapsed, d) || contains(dims_.operand_batching, d)) continue;
    const auto result_dim = static_cast<std::size_t>(dims_.offset[next++]);
    const std::int64_t extent = result.dim(static_cast<int>(result_dim));
    window_dims_.push_back(extent);
    window_operand_strides_.push_back(operand_strides_[static_cast<std::size_t>(d)]);
    window_result_strides_.push_back(result_strides[result_dim]);
    window_operand_dim_.push_back(d);
    window_elements_ *= extent;
    slice_[static_cast<std::size_t>(d)] = extent;
  }
  dense_ = true;
  std::int64_t step = 1;
  for (std::size_t d = window_dims_.size(); d-- > 0;) {
    if (window_dims_[d] == 1) continue;
    dense_ = dense_ && window_operand_strides_[d] == step && window_result_strides_[d] == step;
    step *= window_dims_[d];
    if (dense_) run_ = step;
  }
  batch_operand_strides_ = DimVector(batch_dims_.size());
  for (std::size_t k = 0; k < dims_.operand_batching.size(); ++k)
    batch_operand_strides_[batch_dim(k)] = operand_strides_[dims_.operand_batching[k]];
  flat_ = dims_.operand_batching.empty();
  for (std::size_t d = 0; d + 1 < batch_dims_.size(); ++d) {
    flat_ = flat_ && batch_index_strides_[d] == batch_dims_[d + 1] * batch_index_strides_[d + 1] &&
            batch_result_strides_[d] == batch_dims_[d + 1] * batch_result_strides_[d + 1];
  }
}

void IndexedWalk::start_index(std::int64_t b, const void* indices, std::int64_t* start) const {
  std::int64_t base = 0, index[kMaxRank], rest = b;
  for (std::size_t d = batch_dims_.size(); d-- > 0;) {
    index[d] = rest % batch_dims_[d];
    rest /= batch_dims_[d];
    base += index[d] * batch_index_strides_[d];
  }
  std::fill_n(start, operand_.rank(), 0);
  for (std::size_t k = 0; k < dims_.index_map.size(); ++k) {
    start[dims_.index_map[k]] =
        read_index(indices_.dtype(), indices, base + static_cast<std::int64_t>(k) * index_step_);
  }
  for (std::size_t k = 0; k < dims_.operand_batching.size(); ++k) {
    start[dims_.operand_batching[k]] = index[batch_dim(k)];
  }
}

// The batch dimension of the result that belongs to this dimension of the indices.
std::int64_t IndexedWalk::batch_dim(std::size_t k) const {
  const std::int64_t at = dims_.indices_batching[k];
  return at > dims_.index_vector_dim ? at - 1 : at;
}

IndexedWalk::Dense IndexedWalk::dense() const {
  Dense walk;
  for (std::size_t k = 0; k < dims_.index_map.size(); ++k) {
    const auto d = static_cast<int>(dims_.index_map[k]);
    walk.most[k] = operand_.dim(d) - slice_[d];
    walk.strides[k] = operand_strides_[d];
  }
  if (batch_dims_.empty()) return walk;
  walk.index_stride = batch_index_strides_.back();
  walk.result_stride = batch_result_strides_.back();
  return walk;
}

template <class I>
void IndexedWalk::gather_dense(const std::byte* operand, const I* indices, std::byte* result,
                               std::int64_t begin, std::int64_t end) const {
  if (flat_) return gather_row(operand, indices, result, begin, end);
  const std::int64_t extent = batch_dims_.back();
  const std::size_t outer = batch_dims_.size() - 1;
  const auto dims = std::span<const std::int64_t>(batch_dims_).first(outer);
  const auto place = [&](std::int64_t row, const DimVector& strides) {
    return place_of(row, dims, std::span<const std::int64_t>(strides).first(outer));
  };
  for (std::int64_t b = begin; b < end;) {
    const std::int64_t row = b / extent, first = b % extent;
    const std::int64_t last = std::min(extent, first + end - b);
    gather_row(operand + place(row, batch_operand_strides_) * width_,
               indices + place(row, batch_index_strides_),
               result + place(row, batch_result_strides_) * width_, first, last);
    b += last - first;
  }
}

// Along the last dimension of the batch; where it is flat, along all of them.
template <class I>
void IndexedWalk::gather_row(const std::byte* operand, const I* indices, std::byte* result,
                             std::int64_t begin, std::int64_t end) const {
  Dense walk = dense();
  const std::int64_t operand_step = flat_ ? 0 : batch_operand_strides_.back();
  for (std::int64_t& most : walk.most) most = std::max<std::int64_t>(most, 0);
  const std::size_t mapped = dims_.index_map.size();
  const auto bytes = static_cast<std::size_t>(window_elements_ * width_);
  for (std::int64_t b = begin; b < end; ++b) {
    std::int64_t from = b * operand_step;
    for (std::size_t k = 0; k < mapped; ++k) {
      const auto start = static_cast<std::int64_t>(
          indices[b * walk.index_stride + static_cast<std::int64_t>(k) * index_step_]);
      from += std::clamp<std::int64_t>(start, 0, walk.most[k]) * walk.strides[k];
    }
    std::byte* to = result + b * walk.result_stride * width_;
    const std::byte* source = operand + from * width_;
    // Most windows are one number: a load and a store.
    if (bytes == 4)
      std::memcpy(to, source, 4);
    else if (bytes == 8)
      std::memcpy(to, source, 8);
    else
      std::memcpy(to, source, bytes);
  }
}

void IndexedWalk::gather(const void* operand, const void* indices, void* result,
                         Parallel& parallel) const {
  if (batches_ == 0 || window_elements_ == 0) return;
  const auto* in = static_cast<const std::byte*>(operand);
  auto* out = static_cast<std::byte*>(result);
  const StridedCopy copy(window_dims_, window_operand_strides_, window_result_strides_, width_);
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    if (dense_ && indices_.dtype() == DType::kI32)
      return gather_dense(in, static_cast<const std::int32_t*>(indices), out, begin, end);
    if (dense_ && indices_.dtype() == DType::kU32)
      return gather_dense(in, static_cast<const std::uint32_t*>(indices), out, begin, end);
    if (dense_ && indices_.dtype() == DType::kI64)
      return gather_dense(in, static_cast<const std::int64_t*>(indices), out, begin, end);
    for (std::int64_t b = begin; b < end; ++b) {
      std::int64_t start[kMaxRank], from = 0;
      start_index(b, indices, start);
      for (int d = 0; d < operand_.rank(); ++d) {
        const auto s = static_cast<std::size_t>(d);
        from += std::clamp<std::int64_t>(start[d], 0,
                                         std::max<std::int64_t>(operand_.dim(d) - slice_[s], 0)) *
                operand_strides_[s];
      }
      const std::int64_t to = place_of(b, batch_dims_, batch_result_strides_);
      if (dense_) {
        std::memcpy(out + to * width_, in + from * width_,
                    static_cast<std::size_t>(window_elements_ * width_));
      } else {
        copy.run(in + from * width_, out + to * width_);
      }
    }
  };
  split(batches_, batches_ * (window_elements_ + 16) / (32 << 10), 16, parallel, run);
}

template <class I, class F>
void IndexedWalk::scatter_dense(std::byte* result, const I* indices, const std::byte* updates,
                                F put) const {
  const Dense walk = dense();
  // Copies, which the bytes that are written cannot be.
  const std::int64_t batches = batches_, index_step = index_step_, width = width_;
  const auto each = [&](const std::size_t count) {
    for (std::int64_t b = 0; b < batches; ++b) {
      std::int64_t to = 0;
      bool inside = true;
      for (std::size_t k = 0; k < count; ++k) {
        // An unsigned index beyond int64 is negative here, and so outside of it too.
        const auto start = static_cast<std::int64_t>(
            indices[b * walk.index_stride + static_cast<std::int64_t>(k) * index_step]);
        inside = inside && start >= 0 && start <= walk.most[k];
        to += inside ? start * walk.strides[k] : 0;
      }
      if (inside) put(result + to * width, updates + b * walk.result_stride * width);
    }
  };
  if (dims_.index_map.size() == 1)
    each(1);
  else
    each(dims_.index_map.size());
}

std::optional<std::int64_t> IndexedWalk::target_of(std::int64_t b, const void* indices) const {
  std::int64_t start[kMaxRank], target = 0;
  start_index(b, indices, start);
  for (int d = 0; d < operand_.rank(); ++d) {
    const auto s = static_cast<std::size_t>(d);
    if (start[d] < 0 || start[d] > operand_.dim(d) - slice_[s]) return std::nullopt;
    target += start[d] * operand_strides_[s];
  }
  return target;
}

template <class F>
void IndexedWalk::scatter_runs(std::int64_t b, std::byte* result, const void* indices,
                               const std::byte* updates, F put) const {
  const std::optional<std::int64_t> target = target_of(b, indices);
  if (!target) return;
  const std::int64_t base = place_of(b, batch_dims_, batch_result_strides_);
  for (std::int64_t w = 0; w < window_elements_; w += run_) {
    put(result + (*target + place_of(w, window_dims_, window_operand_strides_)) * width_,
        updates + (base + place_of(w, window_dims_, window_result_strides_)) * width_);
  }
}

void IndexedWalk::scatter_at(std::int64_t b, RegionFrame& frame, std::span<const DType> types,
                             std::span<void* const> results, const void* indices,
                             std::span<const void* const> updates) const {
  const std::optional<std::int64_t> target = target_of(b, indices);
  if (!target) return;
  const std::int64_t base = place_of(b, batch_dims_, batch_result_strides_);
  for (std::int64_t w = 0; w < window_elements_; ++w) {
    const std::int64_t to = *target + place_of(w, window_dims_, window_operand_strides_),
                       from = base + place_of(w, window_dims_, window_result_strides_);
    void* accumulators[kMaxOperands];
    const void* elements[kMaxOperands];
    for (std::size_t i = 0; i < types.size(); ++i) {
      const auto width = static_cast<std::int64_t>(byte_width(types[i]));
      accumulators[i] = static_cast<std::byte*>(results[i]) + to * width;
      elements[i] = static_cast<const std::byte*>(updates[i]) + from * width;
    }
    frame.fold(types, accumulators, elements);
  }
}

namespace {

// Calls body(put), where put(to, update) does what the region says to `elements` neighbours. False
// for a region that is not one operation, or none, on one array.
template <class F>
bool with_put(const Region& region, std::span<const DType> types, std::int64_t elements, F body) {
  if (types.size() != 1 || elements > INT32_MAX) return false;
  const DType type = types[0];
  const auto n = static_cast<int>(elements);
  if (region.program.instructions() == 0 &&
      region.program.outputs()[0] == region.program.inputs()[1]) {
    body([bytes = static_cast<std::size_t>(elements) * byte_width(type)](
             void* to, const void* update) { std::memcpy(to, update, bytes); });
    return true;
  }
  if (!region.kind) return false;
  // Sums of single numbers, as histograms and gradients have them, need no call for each.
  if (n == 1 && region.kind == TileOp::kAdd && type == DType::kF32) {
    body([](void* to, const void* update) { add_one<float>(to, update); });
    return true;
  }
  if (n == 1 && region.kind == TileOp::kAdd && type == DType::kI32) {
    body([](void* to, const void* update) { add_one<std::uint32_t>(to, update); });
    return true;
  }
  const ReduceLoops loops = find_reduce_loops(*region.kind, type);
  if (loops && static_cast<std::size_t>(loops.lane_bytes) == byte_width(type)) {
    body([combine = loops.column, n](void* to, const void* update) { combine(to, update, n); });
    return true;
  }
  const TileLoop loop = find_tile_loop(*region.kind, type, type);
  if (loop == nullptr) return false;
  body([loop, n, width = byte_width(type)](void* to, const void* update) {
    for (int at = 0; at < n; at += kTileElements) {
      auto* const some = static_cast<std::byte*>(to) + static_cast<std::size_t>(at) * width;
      const void* const in[2] = {
          some, static_cast<const std::byte*>(update) + static_cast<std::size_t>(at) * width};
      loop(some, in, std::min(kTileElements, n - at), 0);
    }
  });
  return true;
}

}  // namespace

void IndexedWalk::scatter(const Region& region, std::span<const DType> types,
                          std::span<void* const> results, const void* indices,
                          std::span<const void* const> updates) const {
  if (operand_.elements() == 0) return;
  // Many elements at a time where the update replaces what is there, or is combined with it by one
  // operation.
  auto* const result = static_cast<std::byte*>(results[0]);
  const auto* const update = static_cast<const std::byte*>(updates[0]);
  if (flat_ && dense_) {
    const auto whole = [&](auto put) {
      visit(
          read_as(indices_.dtype()),
          [&](auto tag) {
            using T = typename decltype(tag)::type;
            if constexpr (kIsInteger<T>)
              scatter_dense(result, static_cast<const T*>(indices), update, put);
          },
          [] {});
    };
    if (with_put(region, types, window_elements_, whole)) return;
  } else {
    const auto runs = [&](auto put) {
      for (std::int64_t b = 0; b < batches_; ++b) scatter_runs(b, result, indices, update, put);
    };
    if (with_put(region, types, run_, runs)) return;
  }
  RegionFrame frame(region);
  for (std::int64_t b = 0; b < batches_; ++b)
    scatter_at(b, frame, types, results, indices, updates);
}

DynamicWindow::DynamicWindow(const Shape& operand, const Shape& window, DType index_type)
    : index_type_(index_type),
      out_(window.dims(), dense_strides(operand), dense_strides(window),
           static_cast<int>(byte_width(operand.dtype()))),
      in_(window.dims(), dense_strides(window), dense_strides(operand),
          static_cast<int>(byte_width(operand.dtype()))) {
  for (const std::int64_t stride : dense_strides(operand))
    strides_.push_back(stride * static_cast<std::int64_t>(byte_width(operand.dtype())));
  for (int d = 0; d < operand.rank(); ++d) last_.push_back(operand.dim(d) - window.dim(d));
}

std::int64_t DynamicWindow::offset(std::span<const void* const> starts) const {
  std::int64_t offset = 0;
  for (std::size_t d = 0; d < strides_.size(); ++d) {
    const std::int64_t start = read_index(index_type_, starts[d], 0);
    offset += std::clamp<std::int64_t>(start, 0, last_[d]) * strides_[d];
  }
  return offset;
}

}  // namespace millrace::devices::cpu
