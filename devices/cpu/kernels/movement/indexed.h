// Data movement whose place is computed at run time: gather, scatter, dynamic_slice,
// dynamic_update_slice. Windows that leave the operand are clamped (gather, dynamic slices) or
// skipped as a whole (scatter: as XLA does, kernels/movement/indexing_definition.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "millrace/core/async/parallel_for.h"
#include "millrace/devices/cpu/kernels/base/dim_vector.h"
#include "millrace/devices/cpu/kernels/movement/strided.h"
#include "millrace/devices/cpu/kernels/region.h"
#include "millrace/devices/shape.h"

namespace millrace::devices::cpu {

// StableHLO's gather dimension numbers and those of scatter under the same names: offset = update
// window dimensions, collapsed = inserted window dimensions.
struct IndexedDims {
  std::vector<std::int64_t> offset, collapsed, operand_batching, indices_batching, index_map;
  std::int64_t index_vector_dim = 0;
};

// Precomputed walk of a gather or scatter. Thread-safety: immutable.
class IndexedWalk {
 public:
  // slice_sizes: of the operand's dimensions. result: the gather's result or the scatter's updates.
  IndexedWalk(const Shape& operand, const Shape& indices, const Shape& result, IndexedDims dims,
              std::span<const std::int64_t> slice_sizes);

  void gather(const void* operand, const void* indices, void* result, Parallel& parallel) const;
  // results[k] holds the operand already. The region takes (current values..., updates...).
  void scatter(const Region& region, std::span<const DType> types, std::span<void* const> results,
               const void* indices, std::span<const void* const> updates) const;

 private:
  // The operand index at which the window of batch element b starts, per dimension; unclamped.
  void start_index(std::int64_t b, const void* indices, std::int64_t* start) const;
  // Where the window of a scatter's batch element begins; nullopt: not all of it is inside.
  std::optional<std::int64_t> target_of(std::int64_t b, const void* indices) const;
  // A dense walk: strides of the batch, and per component of the index vector how far a window
  // may begin and how far apart its places are.
  struct Dense {
    std::int64_t index_stride = 0, result_stride = 0;
    std::int64_t most[kMaxRank] = {}, strides[kMaxRank] = {};
  };
  Dense dense() const;
  // Batch elements [begin, end), where windows are dense in operand and result.
  template <class I>
  void gather_dense(const std::byte* operand, const I* indices, std::byte* result,
                    std::int64_t begin, std::int64_t end) const;
  template <class I>
  void gather_row(const std::byte* operand, const I* indices, std::byte* result, std::int64_t begin,
                  std::int64_t end) const;
  std::int64_t batch_dim(std::size_t k) const;
  // One batch element of a scatter: by runs of bytes, or any.
  template <class F>
  void scatter_runs(std::int64_t b, std::byte* result, const void* indices,
                    const std::byte* updates, F put) const;
  void scatter_at(std::int64_t b, RegionFrame& frame, std::span<const DType> types,
                  std::span<void* const> results, const void* indices,
                  std::span<const void* const> updates) const;
  // All of a scatter, where flat_ and windows are dense: put(window of the result, update).
  template <class I, class F>
  void scatter_dense(std::byte* result, const I* indices, const std::byte* updates, F put) const;

  Shape operand_, indices_;
  IndexedDims dims_;
  int width_;
  DimVector slice_;  // window extent per operand dimension
  DimVector operand_strides_;
  DimVector batch_dims_, batch_result_strides_, batch_index_strides_, batch_operand_strides_;
  std::int64_t index_step_ = 1;  // stride of the index vector's components
  DimVector window_dims_, window_operand_strides_, window_result_strides_, window_operand_dim_;
  std::int64_t batches_ = 1, window_elements_ = 1;
  std::int64_t run_ = 1;  // elements of a window that are neighbours in the operand and the result
  // Batch elements follow each other at one distance, in the indices and in the result, and there
  // are no batching dimensions.
  bool flat_ = false;
  bool dense_ = false;  // each window is contiguous in the operand and in the result
};

// A window of an operand, at starts that are clamped so that it fits: dynamic_slice and
// dynamic_update_slice. starts: one scalar per dimension. Thread-safety: immutable.
class DynamicWindow {
 public:
  DynamicWindow(const Shape& operand, const Shape& window, DType index_type);
  // window = operand[start : start + sizes].
  void slice(const std::byte* operand, std::span<const void* const> starts, void* window,
             Parallel& parallel) const {
    out_.run(operand + offset(starts), window, parallel);
  }
  void update(std::byte* operand, std::span<const void* const> starts, const void* window,
              Parallel& parallel) const {
    in_.run(window, operand + offset(starts), parallel);
  }

 private:
  std::int64_t offset(std::span<const void* const> starts) const;

  DType index_type_;
  DimVector strides_, last_;  // in bytes; the last start
  StridedCopy out_, in_;
};

}  // namespace millrace::devices::cpu
